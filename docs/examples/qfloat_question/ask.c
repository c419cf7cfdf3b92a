/* Asks question_skel.c, on the rig or on a phone. */
#include <remote.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    int32_t answer[3] = {0};
    remote_arg arg = {.buf = {answer, sizeof(answer)}};
    remote_handle64 h;
    int rc = remote_handle64_open("file:///libquestion_skel.so?question_skel_handle_invoke&_modver=1.0&_dom=cdsp", &h);

    if (rc == 0)
        rc = remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(2, 0, 1), &arg);
    if (rc) {
        fprintf(stderr, "ask: 0x%x\n", (unsigned)rc);
        return 1;
    }
    printf("12582912 + 4 = %d, less 12582912: %d; other integers than they were: %d of 4096\n", answer[0], answer[1], answer[2]);
    puts("by the model: 12582917, 5 and 1024");
    return remote_handle64_close(h) != 0;
}
