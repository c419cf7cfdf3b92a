/* Preloaded into a rig and its client: waits at a stage (rpc/wire/hx_stage.h) until the test has done to a process what it wants
 * to see there.  The file is mapped at the start, because the DSP's sandbox allows no files later. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

static struct hxt_stage *state; /* NULL: there is no file */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(HXT_STAGE_STATE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *p;

    if (fd < 0)
        return;
    p = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        state = p;
}

static void *exit_regularly(void *unused)
{
    exit(0);
    return unused;
}

/* A client exits as a program does of which one thread is here: its other threads and the library's destructor run. */
static void leave(void)
{
    pthread_t t;

    if (strncmp(state->name, "client.", 7) != 0)
        _exit(0);
    pthread_create(&t, NULL, exit_regularly, NULL);
    for (;;)
        pause();
}

__attribute__((visibility("default"))) void hx_stage(const char *name);

void hx_stage(const char *name)
{
    if (!state || !state->armed || strcmp(name, state->name) != 0 || ++state->passed != state->nth)
        return;
    state->pid = getpid();
    state->reached = 1;
    syscall(SYS_futex, &state->reached, FUTEX_WAKE, 1, NULL, NULL, 0);
    while (state->go == HXT_STAGE_WAIT)
        syscall(SYS_futex, &state->go, FUTEX_WAIT, HXT_STAGE_WAIT, NULL, NULL, 0);
    if (state->go == HXT_STAGE_EXIT)
        leave();
}
