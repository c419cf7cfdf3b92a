/* One case of the fault matrix, see fault_case.h. */
#include "fault_case.h"

#include "AEEStdErr.h"
#include "fault_rig.h"

/* What a client may be told when a process has died: docs/reliability.md. */
static const struct {
    int code[4];
    double seconds; /* within which, for a machine that has other work, too */
} told[] = {
    [CLIENT] = {{0}, 5},
    [DRIVER] = {{AEE_ECONNRESET, AEE_ECONNREFUSED}, 5},
    [ROOT] = {{AEE_ECONNRESET}, 7},
    [PD] = {{(int)AEE_DSP(AEE_ECPUEXCEPTION), AEE_ENOSUCH}, 5},
    [HELPER] = {{0}, 5},
};

static struct fault_rig rig;

/* --- the client under test */

struct client {
    pid_t pid;
    int status; /* as waitpid() has it; -1: it runs */
};

int fault_case_client(void)
{
    struct hxt_stage *s = fault_stage_join();

    if (!s)
        return 2;
    fault_client_run(s);
    return 0;
}

static void start_client(struct client *c)
{
    c->status = -1;
    fflush(NULL);
    c->pid = fork();
    assert_true(c->pid >= 0);
    if (c->pid)
        return;
    fault_stage_preload(1);
    if (!freopen("/dev/null", "w", stderr)) /* where the library says that a rig dies */
        _exit(127);
    execl("/proc/self/exe", "fault_client", "client", NULL);
    _exit(127);
}

static int has_ended(void *client)
{
    struct client *c = client;

    if (c->status == -1 && waitpid(c->pid, &c->status, WNOHANG) != c->pid)
        c->status = -1;
    return c->status != -1;
}

/* --- one case */

/* By parents and names, at the last moment: a number that was a process of ours may be somebody else's by now.  0: it has ended. */
static pid_t find_victim(enum fault_victim v, struct client *c)
{
    switch (v) {
    case CLIENT: return has_ended(c) ? 0 : c->pid;
    case DRIVER: return rig.driver;
    case ROOT: return fault_child(rig.driver, "hexrig-dsp", 0);
    case HELPER: return fault_child(rig.driver, "fusermount3", 0);
    default: return fault_child(rig.root, "hexrig-", rig.polite_pd);
    }
}

static int is_among(int rc, const int *code)
{
    for (int i = 0; i < 4 && code[i]; i++)
        if (rc == code[i])
            return 1;
    return 0;
}

static int root_is_another(void *unused)
{
    (void)unused;
    return fault_child(rig.driver, "hexrig-dsp", 0) != rig.root;
}

/* Whether what the client has come to is what is promised.  NULL: it is. */
static const char *judge(const struct fault_place *s, const struct fault_column *col, const struct client *c)
{
    int is_death = col->action != STOP && col->victim != HELPER;

    if (fault_stage->wrong)
        return "0 with wrong bytes";
    if (col->victim == CLIENT && is_death) /* at a stage of its own it exits by itself, and its library with it */
        return col->action == EXIT && strncmp(s->name, "client.", 7) == 0 && c->status ? "the client's exit fails" : NULL;
    if (c->status)
        return WIFSIGNALED(c->status) ? strsignal(WTERMSIG(c->status)) : "the client exits";
    if (!fault_stage->rc) /* a root PD that hangs is missed by those who open and close */
        return is_death && col->action != HANG && !(s->flags & (DONE | NO_PD)) && !(s->flags & LATE && col->victim == ROOT)
                   ? "the client is told nothing" : NULL;
    if (!is_death) /* who is stopped for a second may be taken for dead on a slow machine */
        return col->victim == ROOT && fault_stage->rc == AEE_ECONNRESET && root_is_another(NULL) ? NULL : "the client is told of a death";
    return is_among(fault_stage->rc, told[col->victim].code) ? NULL : "another code than documented";
}

static const char *run_next_client(void)
{
    struct client c;

    fault_stage_arm(NULL, 0);
    start_client(&c);
    if (!hxt_until(has_ended, &c, 10)) {
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
        return "the next client hangs";
    }
    return c.status || fault_stage->rc || fault_stage->wrong ? "the next client fails" : NULL;
}

/* While the driver lives: others have gone on, or know; the rig is as it was. */
static const char *look_after(const struct fault_column *col)
{
    int is_restart = col->victim == ROOT && (col->action != STOP || root_is_another(NULL));
    const char *wrong = NULL;

    if (is_restart) {
        if (!hxt_until(root_is_another, NULL, told[ROOT].seconds) || polite_call(&rig.polite) != AEE_ECONNRESET)
            return "another client is not told of the restart";
        if (!fault_rig_follow_restart(&rig))
            return "no restart";
    } else if (polite_call(&rig.polite)) {
        return "another client's call fails";
    }
    if (col->action != STOP)
        wrong = run_next_client();
    return wrong ? wrong : fault_rig_as_before(&rig);
}

static const char *meanwhile(const struct fault_column *col)
{
    int rc = col->action == STOP && col->victim != DRIVER ? polite_call(&rig.polite) : 0;

    return !rc || (rc == AEE_ECONNRESET && root_is_another(NULL)) ? NULL : "meanwhile another client's call fails";
}

static const char *end_rig(const struct fault_column *col)
{
    int is_dead = col->victim == DRIVER && col->action != STOP;

    if (is_dead && polite_call(&rig.polite) == 0)
        return "another client is not told of the driver's death";
    return fault_rig_end(&rig, is_dead);
}

static const char *run_client(const struct fault_place *s, const struct fault_column *col, struct client *c)
{
    const char *wrong;
    pid_t victim;

    fault_stage_arm(s->name, s->nth);
    start_client(c);
    if (!fault_stage_reach(has_ended, c))
        return "the stage is not reached";
    victim = find_victim(col->victim, c);
    if (!victim)
        return "there is no victim";
    fault_strike(col, victim);
    wrong = meanwhile(col);
    if (col->action == STOP && find_victim(col->victim, c) == victim)
        kill(victim, SIGCONT);
    if (col->action == HANG && !hxt_until(root_is_another, NULL, told[ROOT].seconds))
        return "a root PD that hangs is not given up";
    if (!hxt_until(has_ended, c, told[col->victim].seconds))
        return wrong ? wrong : "the client hangs";
    return wrong ? wrong : judge(s, col, c);
}

const char *fault_case_run(const struct fault_place *s, const struct fault_column *col)
{
    const char *wrong;
    struct client c = {.status = -1};
    int is_dead = col->victim == DRIVER && col->action != STOP;

    if (!rig.driver && fault_rig_start(&rig))
        return "no rig";
    wrong = run_client(s, col, &c);
    fault_stage_release();
    if (c.pid && !has_ended(&c)) {
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
    }
    if (!wrong && !is_dead)
        wrong = look_after(col);
    if (wrong || is_dead || col->victim == HELPER || rig.root_deaths > 2) {
        const char *left = end_rig(col);

        wrong = wrong ? wrong : left;
    }
    return wrong;
}

const char *fault_case_end(void)
{
    return rig.driver ? fault_rig_end(&rig, 0) : NULL;
}
