/* Protects: any number of shells that start and end a rig in one folder, at once and without end.  There is never more than one rig,
 * every command ends with 0 or with one line about the other's doing, and nothing is left.  HXT_RACE_S seconds per front end (2). */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "e2e.h"

enum { SHELLS = 3 };

/* What a shell may be told: that another one has been faster. */
static const struct {
    const char *command, *told;
    int worked; /* 1: it did what it was asked to */
} tellings[] = {
    {"up", "a rig runs there already, pid ", 0},
    {"up", "the rig came up as process ", 1},
    {"down", "no rig runs there", 0},
    {"status", "no rig runs there", 0},
    {"filter", "no rig runs there", 0},
    {"filter", "the rig has ended, and another one runs there now", 0},
};

/* Of all shells. */
static struct tally {
    _Atomic unsigned commands, ups, downs, told, bad;
} *tally;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 1: the command worked, 0: another one has been faster, -1: it said something else. */
static int outcome(const char *command, const struct hxt_result *r)
{
    if (r->exit_code == 0 && !*r->err)
        return 1;
    if (r->exit_code != 1 || !e2e_one_line(r->err))
        return -1;
    for (size_t i = 0; i < HXT_LEN(tellings); i++)
        if (strcmp(tellings[i].command, command) == 0 && strstr(r->err, tellings[i].told))
            return tellings[i].worked;
    return -1;
}

static void run_one(const char *command, const char *options)
{
    char words[600];
    struct hxt_result r;
    struct e2e_run run;
    int rc;

    snprintf(words, sizeof(words), "%s --mount %s/race %s", command, hxt_tmpdir(), options);
    e2e_command(&run, words);
    if (hxt_run(&r, &run.cmd)) {
        tally->bad++;
        return;
    }
    rc = outcome(command, &r);
    if (rc < 0) {
        tally->bad++;
        print_error("%s: exit %d, signal %d after %.1f s: '%s'\n", words, r.exit_code, r.signal, r.seconds, r.err);
    }
    tally->commands++;
    tally->ups += rc > 0 && strcmp(command, "up") == 0;
    tally->downs += rc > 0 && strcmp(command, "down") == 0;
    tally->told += rc == 0;
    hxt_result_free(&r);
}

/* A child.  Each has an order of its own. */
static void shell(unsigned which, const char *front_end, double seconds)
{
    char option[32];
    const char *commands[][2] = {
        {"up", option}, {"down", ""}, {"up", option}, {"down", ""}, {"status", ""}, {"filter", "list"}, {"filter", "+delay:us=1"},
    };
    double start = now_s();
    struct hxt_rng rng;

    snprintf(option, sizeof(option), "--front-end %s", front_end);
    hxt_rng_init(&rng, which);
    while (now_s() - start < seconds && !tally->bad) {
        size_t i = hxt_below(&rng, HXT_LEN(commands));

        run_one(commands[i][0], commands[i][1]);
    }
    _exit(0);
}

/* Ends the one that runs: what was started and not ended, and nothing else. */
static void expect_balance(const char *front_end)
{
    struct hxt_result r;
    int ran;

    e2e_run(&r, hxt_path("down --mount %s/race", hxt_tmpdir()));
    ran = r.exit_code == 0;
    hxt_result_free(&r);
    if (tally->ups - tally->downs != (unsigned)ran)
        fail_msg("%s: %u rigs were started and %u ended, and %d ran", front_end, tally->ups, tally->downs, ran);
}

static void race(const char *front_end)
{
    double seconds = getenv("HXT_RACE_S") ? atof(getenv("HXT_RACE_S")) : 2;
    pid_t pid[SHELLS];

    memset(tally, 0, sizeof(*tally));
    for (unsigned i = 0; i < SHELLS; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            shell(i, front_end, seconds);
        assert_true(pid[i] > 1);
    }
    for (unsigned i = 0; i < SHELLS; i++)
        assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
    expect_balance(front_end);
    assert_int_equal(tally->bad, 0);
    e2e_clean();
    assert_int_equal(access(hxt_path("%s/race", hxt_tmpdir()), F_OK), -1);
    assert_int_equal(access(hxt_path("%s/race.socket", hxt_tmpdir()), F_OK), -1);
    assert_int_equal(access(hxt_path("%s/race.lock", hxt_tmpdir()), F_OK), -1);
    assert_true(tally->told > 0 && tally->ups > 0); /* they met */
    print_message("%s: %u commands of %d shells, %u rigs: faults %u survived, 0 lost\n", front_end, tally->commands, SHELLS,
                  tally->ups, tally->told);
}

static void test_shells_race_for_a_socket_rig(void **state)
{
    (void)state;
    race("socket");
}

static void test_shells_race_for_a_fuse_rig(void **state)
{
    (void)state;
    if (!e2e_have_fuse())
        hxt_skip_test("no /dev/fuse");
    race("fuse");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shells_race_for_a_socket_rig),
        cmocka_unit_test(test_shells_race_for_a_fuse_rig),
    };

    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    hxt_tmpdir(); /* one for all */
    e2e_dir();
    return HXT_RUN(tests);
}
