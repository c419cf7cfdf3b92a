/* Protects: whatever call of a command fails, once or for a while, it says in one line what, with exit code 1, or prints and writes
 * exactly what it would have without the failure; it neither crashes nor hangs, and leaves no file, process, mount or session.
 * tests/fail makes calls fail.  A sample, or all with HXT_FAIL_ALL=1. */
#include "e2e.h"
#include "gen_model.h"
#include "nth_failure.h"
#include "nth_server.h"
#include "own_rig.h"

enum { TOLD, GOT_OVER }; /* columns of the table */
enum { TOOL_S = 30, FILES_MAX = 4 };

/* $M: a model, $S: build/share/hexrig, $T: tests/.  Commands run in a folder that is empty but for what `before` made. */
struct tool {
    const char *name, *words;
    int is_slow;                 /* a sample with HXT_FAIL_ALL=1, else not at all */
    int serves;                  /* until it is ended; what it answers is its output */
    int on_rig;                  /* the test's; else none, or a private one */
    int wraps;                   /* another command, which says a line of its own; its file is there also when it failed */
    const char *file[FILES_MAX]; /* that it writes */
    const char *before, *after;  /* commands that work; after: also when the command failed */
};

static const struct tool tools[] = {
    {.name = "status", .words = "hexrig status --mount $R", .on_rig = 1},
    {.name = "methods", .words = "hexrig methods"},
    {.name = "hexidl", .words = "hexidl $T/skel/hxt_deep.idl -o .", .file = {"hxt_deep.h", "hxt_deep_stub.c", "hxt_deep_skel.c"}},
    {.name = "model inspect", .words = "hexrig model inspect --tensors $M"},
    {.name = "model convert", .words = "hexrig model convert $M o.gguf --type f16 --threads 2", .file = {"o.gguf"}},
    {.name = "run", .words = "hexrig run -m $M -p the -n 2 --kv f32 --threads 2"},
    {.name = "run on rig", .words = "hexrig run -p the -n 1 --threads 2", .on_rig = 1},
    {.name = "run private", .words = "hexrig run -p the -n 1 --threads 1"},
    {.name = "ppl", .words = "hexrig ppl -m $M -f $S/books-holdout.txt --ctx 2 --chunks 1 --kv f32 --threads 2"},
    {.name = "density", .words = "hexrig density --geometry smollm2-135m --density batched --pos 1", .on_rig = 1},
    {.name = "report", .words = "hexrig report timing --calls 3"},
    {.name = "trace", .words = "hexrig trace -o t.json -- run -p the -n 1 --threads 1", .wraps = 1, .file = {"t.json"}},
    {.name = "run-with", .words = "hexrig run-with -- true"},
    {.name = "block golden", .words = "hexrig block golden"},
    {.name = "theorems", .words = "hexrig theorems", .is_slow = 1},
    {.name = "bench engine", .words = "hexrig bench engine -m $M --prefill 2 --decode 1 --runs 1 --threads 2"},
    {.name = "bench prefetch", .words = "hexrig bench prefetch -m $M --passes 1 --tokens 1"},
    {.name = "demo", .words = "hexrig demo -p the -n 1", .wraps = 1, .is_slow = 1},
    {.name = "serve", .words = "hexrig serve --chat chatml --port 0 --kv f32 --threads 1", .serves = 1},
    {.name = "serve private", .words = "hexrig serve --chat chatml --port 0 --threads 1", .serves = 1},
    {.name = "up", .words = "hexrig up", .after = "hexrig down"},
    {.name = "down", .words = "hexrig down", .before = "hexrig up", .after = "hexrig down"},
};

static char *expected, *expected_file[FILES_MAX]; /* of the tool now */
static char model_path[512];

static const char *scratch(void)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/scratch", hxt_tmpdir());
    return path;
}

static const char *expand(const char *word)
{
    static const struct {
        const char *name, *value;
    } folders[] = {{"$S", HXT_BUILD "/share/hexrig"}, {"$T", HXT_SRC "/tests"}, {"$M", model_path}};

    for (size_t i = 0; i < HXT_LEN(folders); i++)
        if (strncmp(word, folders[i].name, 2) == 0)
            return hxt_path("%s%s", folders[i].value, word + 2);
    return strcmp(word, "$R") == 0 ? own_rig_path("") : strncmp(word, "hex", 3) == 0 ? hxt_path(HXT_BUILD "/bin/%s", word) : word;
}

/* With libhxt_fail.so only where it `may_fail`. */
static int run_tool(struct hxt_result *res, const char *words, const struct tool *t, int may_fail)
{
    const char *argv[E2E_MAX_ARGS] = {NULL}, *env[8] = {NULL};
    char copy[512], kept[E2E_MAX_ARGS][512], vars[5][600], *save = NULL;
    size_t n = 0, n_env = 0;
    const char *fail_env[3];
    struct hxt_cmd cmd;

    snprintf(copy, sizeof(copy), "%s", words);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save), n++) {
        snprintf(kept[n], sizeof(kept[n]), "%s", n == 0 || *w == '$' ? expand(w) : w);
        argv[n] = kept[n];
    }
    snprintf(vars[n_env], sizeof(vars[0]), "XDG_RUNTIME_DIR=%s", e2e_dir());
    n_env++;
    snprintf(vars[n_env], sizeof(vars[0]), "TMPDIR=%s", scratch());
    n_env++;
    nth_env(fail_env, strncmp(words, "hexidl", 6) == 0 ? "hexidl" : "hexrig");
    for (size_t i = 0; may_fail && i < 3; i++)
        snprintf(vars[n_env++], sizeof(vars[0]), "%s", fail_env[i]);
    for (size_t i = 0; i < n_env; i++)
        env[i] = vars[i];
    if (!t->on_rig)
        env[n_env] = "HEXRIG_DEVICE";
    cmd = (struct hxt_cmd){.argv = argv, .env = env, .cwd = scratch(), .timeout_s = TOOL_S};
    return t->serves && may_fail ? nth_server_run(res, &cmd) : hxt_run(res, &cmd);
}

static void run_quietly(const char *words, const struct tool *t)
{
    struct hxt_result res;

    if (words && run_tool(&res, words, t, 0) == 0)
        hxt_result_free(&res);
}

/* Measured on this machine, or numbers of processes. */
static int is_volatile(const char *line, size_t n)
{
    static const char *const keys[] = {"host", "prefill.", "decode.", "seconds=", "pid=", "dsp_pid=", "sessions=", "peak_rss_bytes=",
                                       "power_sensor=", "reader_cpu=", "without.", "kernel.", "with.", "stall_ratio",
                                       "per-vector ", "per-layer ", "batched ", "per-token ", "queue "}; /* rows of `demo` */

    for (size_t i = 0; i < HXT_LEN(keys); i++)
        if (n >= strlen(keys[i]) && strncmp(line, keys[i], strlen(keys[i])) == 0)
            return 1;
    return 0;
}

static char *without_volatile(const char *text)
{
    char *kept = calloc(1, strlen(text) + 1), *to = kept;

    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');

        if (!is_volatile(line, n)) {
            memcpy(to, line, n);
            to += n;
        }
        line += n;
    }
    return kept;
}

static char *file_of(const struct tool *t, int i)
{
    return t->file[i] ? hxt_read_file(hxt_path("%s/%s", scratch(), t->file[i]), NULL) : NULL;
}

static void keep_expected(const struct tool *t, const struct hxt_result *res)
{
    free(expected);
    expected = without_volatile(res->out);
    for (int i = 0; i < FILES_MAX; i++) {
        free(expected_file[i]);
        expected_file[i] = file_of(t, i);
    }
}

/* Another file than those, or one that is not what it should be. */
static const char *wrong_files(const struct tool *t, int worked)
{
    const char *wrong = NULL;
    DIR *d = opendir(scratch());
    struct dirent *e;

    while (d && (e = readdir(d))) {
        int known = e->d_name[0] == '.' && !strcmp(e->d_name + (e->d_name[1] == '.'), ".");

        for (int i = 0; i < FILES_MAX && t->file[i]; i++)
            known |= strcmp(e->d_name, t->file[i]) == 0;
        if (!known)
            wrong = "a file is left";
    }
    if (d)
        closedir(d);
    for (int i = 0; i < FILES_MAX && t->file[i] && !wrong; i++) {
        char *is = file_of(t, i);

        if (worked && (!is || !expected_file[i] || strcmp(is, expected_file[i]) != 0))
            wrong = "exit 0 and another file";
        if (!worked && !t->wraps && is && expected_file[i] && strcmp(is, expected_file[i]) != 0)
            wrong = "a part of a file is left";
        free(is);
    }
    return wrong;
}

/* One line; behind one of what the program went on without, perhaps. */
static int is_told(const char *err)
{
    static const char *const notes[] = {"; going on without that rig\n", "hexrig run: roofline_tok_s: "};
    const char *end = strchr(err, '\n');

    for (size_t i = 0; end && end[1] && i < HXT_LEN(notes); i++) {
        const char *note = strstr(err, notes[i]);

        if (note && note <= end)
            return e2e_one_line(end + 1);
    }
    return e2e_one_line(err);
}

static const char *wrong_result(const struct tool *t, const struct hxt_result *res)
{
    const char *wrong = NULL;
    char *out;

    if (res->timed_out)
        return "it hangs";
    if (res->signal)
        return "it crashes";
    if (res->exit_code)
        wrong = res->exit_code != 1 ? "exit code" : (t->wraps ? *res->err : is_told(res->err)) ? NULL : "it does not say why, in one line";
    out = without_volatile(res->out);
    if (res->exit_code == 0 && strcmp(out, expected) != 0)
        wrong = "exit 0 and other output";
    free(out);
    return wrong ? wrong : wrong_files(t, res->exit_code == 0);
}

static const char *what_is_left(const struct tool *t)
{
    if (t->on_rig)
        return hxt_until(own_rig_idle, NULL, 30) ? NULL : "a session";
    return e2e_left();
}

static const char *check(void *arg, struct nth_row *row)
{
    const struct tool *t = arg;
    const char *wrong, *left;
    struct hxt_result res;

    hxt_remove_tree(scratch());
    mkdir(scratch(), 0700);
    run_quietly(t->before, t);
    if (run_tool(&res, t->words, t, 1))
        return "it could not be started";
    if (!nth_state->nth)
        keep_expected(t, &res);
    row->seen[TOLD] += res.exit_code != 0;
    row->seen[GOT_OVER] += res.exit_code == 0 && nth_state->failed;
    nth_disarm();
    wrong = !nth_state->nth && res.exit_code ? "it fails by itself" : wrong_result(t, &res);
    run_quietly(t->after, t);
    left = what_is_left(t);
    if (!wrong && left)
        wrong = hxt_path("%s is left", left);
    if (wrong || getenv("HXT_VERBOSE"))
        print_error("signal %d exit %d: %s%s", res.signal, res.exit_code, res.err, wrong ? res.out : "");
    hxt_result_free(&res);
    return wrong;
}

static void make_model(void)
{
    struct gen_model g;

    snprintf(model_path, sizeof(model_path), "%s/model.gguf", hxt_tmpdir());
    gen_init(&g, "llama");
    gen_build(&g);
    hxt_write_file(model_path, g.file, g.n_file);
    gen_free(&g);
}

static void test_what_fails_is_told_and_got_over(void **state)
{
    const char *only = getenv("HXT_FAIL_TOOL");
    unsigned wrong = 0;

    (void)state;
    nth_begin();
    make_model();
    nth_print_head("told", "got over");
    for (size_t i = 0; i < HXT_LEN(tools); i++) {
        nth_sample_only = tools[i].is_slow;
        if (only ? strcmp(only, tools[i].name) == 0 : !tools[i].is_slow || nth_everything())
            wrong += nth_program(tools[i].name, check, (void *)&tools[i]);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fails_is_told_and_got_over),
    };

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the sanitizer has a malloc of its own");
#endif
    if (!e2e_have_fuse())
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    unsetenv("DSP_LIBRARY_PATH");
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
