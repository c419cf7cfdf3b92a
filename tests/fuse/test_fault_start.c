/* Protects: whoever is killed, stopped or exits while a rig starts, `hexrig up` ends in time with a rig that serves or with a line that
 * says why not; then `hexrig down` leaves no process, mount or file.  With HXT_FAULTS_ALL=1 those that stay stopped, too. */
#include "fault_case.h"
#include "fault_client.h"
#include "fault_count.h"
#include "fault_rig.h"

enum { UP_S = 25, GONE_S = 8 };

static const struct fault_column columns[] = {
    {CLIENT, KILL, "up/kill"},     {CLIENT, STOP, "up/stop"},     {CLIENT, EXIT, "up/exit"},
    {DRIVER, KILL, "driver/kill"}, {DRIVER, STOP, "driver/stop"}, {DRIVER, EXIT, "driver/exit"},
    {ROOT, KILL, "root/kill"},     {ROOT, STOP, "root/stop"},     {ROOT, EXIT, "root/exit"},     {ROOT, HANG, "root/hang"},
    {HELPER, KILL, "helper/kill"}, {HELPER, STOP, "helper/stop"}, {HELPER, EXIT, "helper/exit"}, {HELPER, HANG, "helper/hang"},
};

/* The driver's last child is whom the stage is about. */
static const struct {
    const char *name;
    enum fault_victim child;
} places[] = {{"driver.dsp.forked", ROOT}, {"driver.mount.asked", HELPER}, {"driver.mount.got", HELPER}};

static const char *front_end;

static int has_ended(void *child)
{
    struct hxt_child *c = child;
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static int is_gone(void *pid)
{
    int s = fault_state(*(pid_t *)pid);

    return s == 0 || s == 'Z';
}

static int rig_command(struct hxt_child *c, const char *command, const char *front)
{
    const char *argv[] = {HXT_BUILD "/bin/hexrig", command, "--mount", own_rig_path(""), front ? "--front-end" : NULL, front, NULL};
    const char *env[] = {"DSP_LIBRARY_PATH=" HXT_BUILD "/tests", NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env, .timeout_s = UP_S};

    return hxt_start(c, &cmd);
}

/* In a process of its own. */
static int client(const char *unused)
{
    (void)unused;
    setenv("HEXRIG_DEVICE", own_rig_path("fastrpc-cdsp"), 1);
    alarm(120);
    fault_stage_arm(NULL, 0);
    fault_client_run(fault_stage);
    return fault_stage->rc || fault_stage->wrong;
}

/* The first client may be the one who is told that the DSP has died. */
static int works(const struct fault_column *col)
{
    return own_rig_run(client, NULL) == 0 || (col->victim == ROOT && own_rig_run(client, NULL) == 0);
}

static const char *judge_up(const struct fault_column *col, struct hxt_child *up)
{
    struct hxt_result r;
    const char *wrong = NULL;
    int is_killed = col->victim == CLIENT && col->action != STOP;

    if (hxt_wait(up, &r))
        return "no result";
    fault_stage_release();
    if (r.timed_out)
        wrong = "up hangs";
    else if (!is_killed && r.exit_code > 0 && !strchr(r.err, '\n'))
        wrong = "up does not say why it fails";
    else if (!is_killed && col->action == STOP && r.exit_code)
        wrong = "up fails, and all that it started could go on";
    else if (r.exit_code == 0 && col->victim != DRIVER && !works(col)) /* a driver may have died since */
        wrong = "up says that a rig serves, and none does";
    if (wrong)
        print_error("up: exit %d signal %d: %s\n", r.exit_code, r.signal, r.err);
    hxt_result_free(&r);
    return wrong;
}

static const char *clear(pid_t driver, pid_t child)
{
    const struct fault_rig rig = {.root = child};
    struct hxt_child down;
    struct hxt_result r;
    const char *wrong;

    if (rig_command(&down, "down", NULL) || hxt_wait(&down, &r))
        return "no down";
    wrong = r.timed_out ? "down hangs" : NULL;
    hxt_result_free(&r);
    if (!hxt_until(is_gone, &driver, GONE_S))
        return "the driver is left";
    return wrong ? wrong : fault_rig_left(&rig);
}

static const char *run_case(size_t p, const struct fault_column *col)
{
    struct hxt_child up;
    pid_t driver, child, victim;
    const char *wrong, *left;
    int rc;

    fault_stage_arm(places[p].name, 1);
    fault_stage_preload(1);
    rc = rig_command(&up, "up", front_end);
    fault_stage_preload(0);
    if (rc)
        return "no up";
    if (!fault_stage_reach(has_ended, &up))
        return "the stage is not reached";
    driver = fault_stage->pid;
    child = fault_child(driver, "", 0);
    victim = col->victim == CLIENT ? up.pid : col->victim == DRIVER ? driver : child;
    fault_strike(col, victim);
    if (col->action == STOP)
        kill(victim, SIGCONT);
    wrong = judge_up(col, &up);
    left = clear(driver, child);
    return wrong ? wrong : left;
}

static int is_possible(size_t p, const struct fault_column *col)
{
    if (col->victim != CLIENT && col->victim != DRIVER && col->victim != places[p].child)
        return 0;
    return col->action != HANG || getenv("HXT_FAULTS_ALL");
}

static void test_a_start_that_is_hit_leaves_a_rig_or_nothing(void **unused)
{
    (void)unused;
    for (size_t p = 0; p < HXT_LEN(places); p++)
        for (size_t i = 0; i < HXT_LEN(columns); i++) {
            const char *wrong;

            if (!is_possible(p, &columns[i]) || (places[p].child == HELPER && strcmp(front_end, "fuse") != 0))
                continue;
            wrong = run_case(p, &columns[i]);
            fault_count->survived += !wrong;
            fault_count->lost += wrong != NULL;
            printf("%-8s %-20s %-12s %s\n", front_end, places[p].name, columns[i].name, wrong ? wrong : "survived");
            fflush(stdout);
        }
    assert_int_equal(fault_count->lost, 0);
}

static int run(const char *front)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_that_is_hit_leaves_a_rig_or_nothing),
    };

    front_end = front;
    fault_stage_make();
    return HXT_RUN(tests);
}

int main(void)
{
    return fault_count_run(run);
}
