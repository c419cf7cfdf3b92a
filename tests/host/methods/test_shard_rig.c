/* Protects: --crt-shard with the cache `ntt` on DSPs.  Two processes have two rigs, each with the keys of one prime; perplexity and
 * tokens have the bits of one process, each DSP has about half the work, and when a rig or a process dies both end. */
#include "e2e.h"
#include "golden.h"

#define PPL "ppl -f " HOLDOUT " -m " MODEL_F16 " --ctx 48 --chunks 2 --kv ntt --offload kv --json"
#define RUN "run -p PROMPT -n 60 --ctx 80 -m " MODEL_F16 " --kv ntt --offload kv --json"
/* attention that wants rows of K: each layer's rows() is of two processes, too */
#define ROWS "run -p PROMPT -n 6 -m " MODEL_F16 " --kv ntt --attn ref --offload kv --json"
/* would take minutes */
#define LONG "ppl -f " HOLDOUT " -m " MODEL_F16 " --chunks 400 --kv ntt --offload kv --crt-shard"

static void test_perplexity_is_the_same_to_the_last_digit(void **state)
{
    json_t *one = e2e_json(PPL), *two = e2e_json(PPL " --crt-shard");

    (void)state;
    assert_true(e2e_number(one, "ppl") == e2e_number(two, "ppl"));
    assert_true(e2e_number(one, "ppl") > 1);
    assert_string_equal(e2e_text(json_object_get(two, "poly"), "kernel"), "hvx");
    assert_true(2 * e2e_number(two, "poly.block_bytes") == e2e_number(one, "poly.block_bytes"));
    /* windows, layers, heads, products of 48 tokens; and which rig */
    assert_true(e2e_number(two, "shard.words") == 2 * 6 * 2 * (48 * 49 / 2) + 2);
    json_decref(one);
    json_decref(two);
    e2e_clean();
}

static void test_tokens_are_the_same_for_half_the_work(void **state)
{
    static const char *const words[][2] = {{RUN, RUN " --crt-shard"}, {ROWS, ROWS " --crt-shard"}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        json_t *one = e2e_json(words[i][0]), *two = e2e_json(words[i][1]);
        const double ops = e2e_number(two, "dispatch.hvx_ops_per_token") /
                           e2e_number(one, "dispatch.hvx_ops_per_token");

        assert_true(json_equal(json_object_get(one, "tokens"), json_object_get(two, "tokens")));
        assert_true(json_array_size(json_object_get(one, "tokens")) > 4);
        assert_true(e2e_number(one, "dispatch.calls_per_token") ==
                    e2e_number(two, "dispatch.calls_per_token"));
        if (ops < 0.45 || ops > 0.65)
            fail_msg("%s: %g of the HVX operations", words[i][1], ops);
        assert_true(e2e_number(two, "dispatch.model_us_per_token.exec") <
                    0.9 * e2e_number(one, "dispatch.model_us_per_token.exec"));
        json_decref(one);
        json_decref(two);
    }
    e2e_clean();
}

static void test_a_named_rig_is_not_for_both(void **state)
{
    struct e2e_run r;
    struct hxt_result got;

    (void)state;
    e2e_command(&r, PPL " --crt-shard");
    r.envs[1] = "HEXRIG_DEVICE=/none/there"; /* not for two, so that nobody looks */
    assert_int_equal(hxt_run(&got, &r.cmd), 0);
    if (got.exit_code)
        fail_msg("exit %d: %s", got.exit_code, got.err);
    hxt_result_free(&got);
    e2e_clean();
}

/* --- what dies */

/* The child of `pid` whose name starts so, `skip` of them passed over; 0: none. */
static pid_t child_of(pid_t pid, const char *name, int skip)
{
    char *all = hxt_read_file(hxt_path("/proc/%d/task/%d/children", pid, pid), NULL), *save = NULL;
    char *word = all ? strtok_r(all, " ", &save) : NULL;
    pid_t found = 0;

    for (; word && !found; word = strtok_r(NULL, " ", &save)) {
        char *comm = hxt_read_file(hxt_path("/proc/%s/comm", word), NULL);

        if (comm && strncmp(comm, name, strlen(name)) == 0 && skip-- == 0)
            found = (pid_t)atoi(word);
        free(comm);
    }
    free(all);
    return found;
}

enum { SECOND, DRIVER, DSP, PD, WHO };

/* Both rigs are children of the command, which adopts what process 1 starts. */
struct processes {
    pid_t command;
    pid_t of[2][WHO];
};

/* Both have sessions: work goes on. */
static int at_work(void *arg)
{
    struct processes *p = arg;

    for (int i = 0; i < 2; i++) {
        pid_t *of = p->of[i];

        of[SECOND] = child_of(p->command, "hexrig\n", 0);
        of[DRIVER] = child_of(p->command, "hexrig-fuse", i);
        of[DSP] = of[DRIVER] ? child_of(of[DRIVER], "hexrig-dsp", 0) : 0;
        of[PD] = of[DSP] ? child_of(of[DSP], "hexrig-pd", 0) : 0;
        if (of[SECOND] < 2 || of[PD] < 2)
            return 0;
    }
    return 1;
}

static void test_what_dies_ends_both(void **state)
{
    static const struct {
        int rig, who;
        const char *reason;
    } cases[] = {
        {0, SECOND, "modulo q2 has gone (signal 9)"},
        {0, DRIVER, "kv ntt: "}, {1, DRIVER, "kv ntt: "}, {0, DSP, "kv ntt: "},
        {1, DSP, "kv ntt: "},    {0, PD, "kv ntt: "},     {1, PD, "kv ntt: "},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct processes p = {0};
        struct hxt_child child;
        struct hxt_result got;
        struct e2e_run r;
        int ready;

        e2e_command(&r, LONG);
        assert_int_equal(hxt_start(&child, &r.cmd), 0);
        p.command = child.pid;
        ready = hxt_until(at_work, &p, 30);
        if (ready)
            kill(p.of[cases[i].rig][cases[i].who], SIGKILL);
        else
            hxt_signal(&child, SIGTERM);
        assert_int_equal(hxt_wait(&child, &got), 0);
        if (!ready || got.exit_code != 1 || !strstr(got.err, cases[i].reason) || got.out_len)
            fail_msg("case %zu: ready %d, exit %d, signal %d: %s%s", i, ready, got.exit_code,
                     got.signal, got.out, got.err);
        if (getenv("HXT_VERBOSE"))
            print_message("%zu: %s", i, got.err);
        hxt_result_free(&got);
        e2e_clean();
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perplexity_is_the_same_to_the_last_digit),
        cmocka_unit_test(test_tokens_are_the_same_for_half_the_work),
        cmocka_unit_test(test_a_named_rig_is_not_for_both),
        cmocka_unit_test(test_what_dies_ends_both),
    };

    unsetenv("OMPI_COMM_WORLD_SIZE"); /* of an mpirun around this */
    unsetenv("PMI_SIZE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
