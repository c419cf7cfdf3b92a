/* Prints what each kernel of plain_skel.c takes: "name pcycles", a line for each, then what the rig says of uncosted code.  Exit 1: a
 * call failed, or a softmax that is none. */
#include <hx_rig.h>
#include <math.h>
#include <remote.h>
#include <rpcmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

static int one(remote_handle64 h, uint32_t kernel, const char *name, float *x, float *y)
{
    remote_arg args[3] = {{.buf = {&kernel, sizeof(kernel)}}, {.buf = {x, BYTES}}, {.buf = {y, BYTES}}};
    struct hx_session_stats before, after;
    double sum = 0;

    if (hx_rig_session_stats(&before) || remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(2, 2, 1), args) || hx_rig_session_stats(&after))
        return 1;
    for (int i = 0; i < BYTES / 4; i++)
        sum += y[i];
    printf("%s %.0f\n", name, (double)(after.exec_ns - before.exec_ns) * 1.25);
    return kernel >= 3 && fabs(sum - 1) > 1e-2;
}

int main(void)
{
    static const char *const names[] = {"hvx_copy", "scalar_copy", "memcpy", "scalar_softmax", "hvx_softmax"};
    float *x = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES);
    float *y = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES);
    remote_handle64 h;
    char *text = NULL;
    int rc = remote_handle64_open("file:///libplain_skel.so?plain_skel_handle_invoke&_modver=1.0&_dom=cdsp", &h);

    for (int i = 0; i < BYTES / 4; i++)
        x[i] = (float)(i * 7919 % 1000) / 100;
    for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]) && !rc; k++)
        rc = one(h, k, names[k], x, y);
    if (rc || hx_rig_read(NULL, "uncosted", &text))
        return 1;
    fputs(text, stdout);
    free(text);
    return remote_handle64_close(h) != 0;
}
