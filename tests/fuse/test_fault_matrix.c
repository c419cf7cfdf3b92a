/* Protects: whichever process of a rig is killed, stopped or exits, at whichever stage of a call (rpc/wire/hx_stage.h): the client is told
 * so in time or goes on rightly and never takes wrong bytes for right ones, others go on, the next client works and nothing is
 * left.  A sample, or the whole matrix with HXT_FAULTS_ALL=1; HXT_FAULTS=STAGE or STAGE/VICTIM runs a part of it. */
#include "fault_case.h"
#include "fault_client.h"
#include "fault_count.h"
#include "own_rig.h"

static const struct fault_column columns[] = {
    {CLIENT, KILL, "client/kill"}, {CLIENT, STOP, "client/stop"}, {CLIENT, EXIT, "client/exit"},
    {DRIVER, KILL, "driver/kill"}, {DRIVER, STOP, "driver/stop"}, {DRIVER, EXIT, "driver/exit"},
    {ROOT, KILL, "root/kill"},     {ROOT, STOP, "root/stop"},     {ROOT, EXIT, "root/exit"},     {ROOT, HANG, "root/hang"},
    {PD, KILL, "pd/kill"},         {PD, STOP, "pd/stop"},         {PD, EXIT, "pd/exit"},
    {HELPER, KILL, "helper/kill"}, {HELPER, STOP, "helper/stop"},
};

/* In the order in which the client gets there.  nth: of the times that it does. */
static const struct fault_place stages[] = {
    {"driver.open.session", 1, NO_PD},
    {"client.open.node", 1, NO_PD},
    {"driver.create.taken", 1, NO_PD},
    {"driver.create.sent", 1, NO_PD},
    {"root.create.taken", 1, NO_PD},
    {"root.create.forked", 1, 0},
    {"pd.started", 1, 0},
    {"pd.sandboxed", 1, 0},
    {"root.replied", 1, NO_CLIENT | NO_PD},
    {"driver.create.reply", 1, 0},
    {"client.open.created", 1, 0},
    {"client.invoke.send", 1, 0},
    {"driver.invoke.taken", 1, 0},
    {"pd.taken", 1, 0},
    {"pd.replied", 1, NO_CLIENT | NO_PD},
    {"client.invoke.reply", 1, 0},
    {"client.map.send", 1, 0},
    {"driver.map.taken", 1, 0},
    {"driver.map.sent", 1, 0},
    {"pd.map.taken", 1, 0},
    {"pd.map.bound", 1, 0},
    {"driver.map.reply", 1, 0},
    {"client.map.reply", 1, 0},
    {"client.invoke.send", 2, 0},
    {"client.socket.sent", 4, SOCKET_ONLY},
    {"driver.invoke.taken", 2, 0},
    {"driver.invoke.sent", 2, 0},
    {"pd.taken", 3, 0},
    {"pd.method.call", 1, 0},
    {"pd.method.returned", 1, 0},
    {"pd.replied", 3, NO_CLIENT | NO_PD},
    {"driver.invoke.reply", 2, 0},
    {"driver.invoke.written", 2, 0},
    {"client.invoke.reply", 2, 0},
    {"pd.vtcm.granted", 1, 0},
    {"client.queue.mapped", 1, 0},
    {"pd.queue.create", 2, 0},
    {"client.queue.created", 1, 0},
    {"client.queue.write", 1, 0},
    {"client.queue.written", 1, 0},
    {"pd.queue.read", 1, 0},
    {"pd.queue.write", 2, 0},
    {"pd.queue.written", 2, 0},
    {"client.queue.read", 3, 0},
    {"client.queue.close", 1, LATE},
    {"pd.queue.destroy", 1, LATE},
    {"client.unmap.send", 1, LATE},
    {"driver.unmap.taken", 1, LATE},
    {"client.unmap.reply", 1, LATE},
    {"client.close.node", 1, DONE},
    {"driver.close.taken", 1, DONE | NO_CLIENT},
    {"driver.close.sent", 1, DONE | NO_CLIENT | NO_PD},
    {"root.release.taken", 1, DONE | NO_CLIENT},
    {"root.release.killed", 1, DONE | NO_CLIENT | NO_PD},
    {"root.replied", 2, DONE | NO_CLIENT | NO_PD},
    {"driver.close.reply", 1, DONE | NO_CLIENT | NO_PD},
};

/* --- the matrix */

static int is_possible(const struct fault_place *s, const struct fault_column *col)
{
    int is_fuse = strcmp(own_rig_front_end, "fuse") == 0;

    return !(col->victim == PD && s->flags & NO_PD) && !(col->victim == CLIENT && s->flags & NO_CLIENT) &&
           !(col->victim == HELPER && !is_fuse) && !(s->flags & SOCKET_ONLY && is_fuse);
}

/* One of each two stages with one of its columns, another on each front end. */
static int is_in_sample(size_t s, size_t col)
{
    size_t front = strcmp(own_rig_front_end, "fuse") == 0;

    return (s + front) % 2 == 0 && col == (s * 7 + front * 4) % HXT_LEN(columns);
}

static int is_wanted(size_t s, size_t col)
{
    const char *only = getenv("HXT_FAULTS"), *slash = only ? strchr(only, '/') : NULL;

    if (only)
        return strncmp(only, stages[s].name, slash ? (size_t)(slash - only) : strlen(only)) == 0 &&
               (!slash || strncmp(slash + 1, columns[col].name, strlen(slash + 1)) == 0);
    return getenv("HXT_FAULTS_ALL") || is_in_sample(s, col);
}

/* The end of the rigs' log. */
static void print_log(void)
{
    size_t n = 0;
    char *text = hxt_read_file(own_rig_log, &n);

    if (text)
        print_error("%s\n", n > 1500 ? text + n - 1500 : text);
    free(text);
}

static char run_one(size_t s, size_t col)
{
    const char *wrong;

    if (!is_possible(&stages[s], &columns[col]) || !is_wanted(s, col))
        return '.';
    wrong = fault_case_run(&stages[s], &columns[col]);
    if (!wrong) {
        fault_count->survived++;
        return '+';
    }
    fault_count->lost++;
    print_error("%s: %s number %u, %s: %s (client: %s, 0x%x)\n", own_rig_front_end, stages[s].name, stages[s].nth, columns[col].name,
                wrong, client_step_names[fault_stage->step], (unsigned)fault_stage->rc);
    print_log();
    return '!';
}

static void test_faults_are_survived(void **unused)
{
    const char *left;

    (void)unused;
    printf("%-8s %-24s %s\n", "", "k kill, s stop, x exit", "client driver root PD  helper");
    printf("%-8s %-24s %s\n", own_rig_front_end, "h stop for good", "ksx    ksx    ksxh ksx ks");
    for (size_t s = 0; s < HXT_LEN(stages); s++) {
        char row[40] = "", label[40];
        int n = 0;

        snprintf(label, sizeof(label), "%s %u", stages[s].name, stages[s].nth);
        for (size_t col = 0; col < HXT_LEN(columns); col++) {
            static const int gap[] = {[DRIVER] = 4, [ROOT] = 4, [PD] = 1, [HELPER] = 1};

            if (col && columns[col].victim != columns[col - 1].victim)
                n += snprintf(row + n, sizeof(row) - (size_t)n, "%*s", gap[columns[col].victim], "");
            row[n++] = run_one(s, col);
        }
        if (strspn(row, ". ") < (size_t)n)
            printf("%-8s %-24s %s\n", "", label, row);
        fflush(stdout);
    }
    left = fault_case_end();
    if (left)
        fail_msg("after the last case: %s", left);
    assert_int_equal(fault_count->lost, 0);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_survived),
    };
    static char log_path[512];

    own_rig_front_end = front_end;
    own_rig_seconds = 3600;
    snprintf(log_path, sizeof(log_path), "%s/rig.log", hxt_tmpdir());
    own_rig_log = log_path;
    fault_stage_make();
    return HXT_RUN(tests);
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "client") == 0 ? fault_case_client() : fault_count_run(run);
}
