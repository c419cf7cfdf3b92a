/* Stages as a test sees them, see fault_stage.h. */
#include "fault_stage.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"

struct hxt_stage *fault_stage;
static char path[512];

struct hxt_stage *fault_stage_join(void)
{
    const char *file = getenv(HXT_STAGE_STATE);
    int fd = open(file ? file : path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *p = fd < 0 || ftruncate(fd, sizeof(struct hxt_stage))
                  ? MAP_FAILED
                  : mmap(NULL, sizeof(struct hxt_stage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    return p == MAP_FAILED ? NULL : p;
}

void fault_stage_make(void)
{
    snprintf(path, sizeof(path), "%s/stage.state", hxt_tmpdir());
    fault_stage = fault_stage_join();
    if (!fault_stage)
        hxt_skip_all("%s: cannot be mapped", path);
}

void fault_stage_preload(int on)
{
    if (on) {
        setenv("LD_PRELOAD", HXT_BUILD "/tests/libhxt_stage.so", 1);
        setenv(HXT_STAGE_STATE, path, 1);
    } else {
        unsetenv("LD_PRELOAD");
        unsetenv(HXT_STAGE_STATE);
    }
}

void fault_stage_arm(const char *name, uint32_t nth)
{
    memset(fault_stage, 0, sizeof(*fault_stage));
    if (!name)
        return;
    snprintf(fault_stage->name, sizeof(fault_stage->name), "%s", name);
    fault_stage->nth = nth;
    fault_stage->armed = 1;
}

int fault_stage_reach(int (*has_ended)(void *arg), void *arg)
{
    const struct timespec slice = {.tv_nsec = 100000000};

    for (int i = 0; i < 600 && !fault_stage->reached; i++) {
        syscall(SYS_futex, &fault_stage->reached, FUTEX_WAIT, 0, &slice, NULL, 0);
        if (has_ended(arg) && i % 100 == 99) /* the stage may lie behind that end */
            break;
    }
    return fault_stage->reached;
}

/* Once only: what was said first counts. */
static void go(enum hxt_stage_go how)
{
    uint32_t wait = HXT_STAGE_WAIT;

    atomic_compare_exchange_strong(&fault_stage->go, &wait, how);
    syscall(SYS_futex, &fault_stage->go, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void fault_stage_release(void)
{
    fault_stage->armed = 0;
    go(HXT_STAGE_GO_ON);
}

int fault_state(pid_t pid)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/stat", pid), NULL), *end = text ? strrchr(text, ')') : NULL;
    int state = end ? end[2] : 0;

    free(text);
    return state;
}

static int is_stopped_or_dead(void *pid)
{
    return hxt_is_stopped(*(pid_t *)pid);
}

void fault_strike(const struct fault_column *col, pid_t victim)
{
    static const int signals[] = {[KILL] = SIGKILL, [STOP] = SIGSTOP, [EXIT] = SIGTERM, [HANG] = SIGSTOP};
    int is_at_stage = victim == fault_stage->pid;

    if (col->action == EXIT && is_at_stage) {
        go(HXT_STAGE_EXIT);
        return;
    }
    kill(victim, signals[col->action]);
    /* A client inside an ioctl on FUSE stops or dies once the driver has answered; who was asked to exit takes its time.  Not a root PD: it
     * asks nobody, and whoever goes on before it has read the signal may need it no more. */
    if (col->action == EXIT ? col->victim == ROOT : is_at_stage || col->victim != CLIENT)
        hxt_until(is_stopped_or_dead, &victim, 5);
    go(HXT_STAGE_GO_ON);
}
