/* T4, T4b, T6, T6b: the engine's integer arithmetic. */
#include <fcntl.h>
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "methods/ntt/ring/ntt.h"
#include "methods/ok/linear_ok.h"
#include "checks.h"
#include "crt_digest.h"
#include "engine/engine.h"

/* --- T4 */

enum { CASES = 1000, MAX_ROWS = 6, MAX_COLS = 40 };

static int64_t integer(struct hx_theorem_run *r, int64_t limit)
{
    return (int64_t)(hx_theorem_random(r) % (uint64_t)(2 * limit + 1)) - limit;
}

/* One random matrix and vector: shimmed, multiplied in the ring and un-shimmed, beside the plain product. */
static int one_case(struct hx_theorem_run *r, const struct hx_ok_shim *shim, struct hx_ok_count *count)
{
    const size_t rows = 1 + hx_theorem_random(r) % MAX_ROWS, cols = 1 + hx_theorem_random(r) % MAX_COLS;
    struct hx_ok x[MAX_COLS], y[MAX_ROWS];
    int64_t want[MAX_ROWS] = {0}, got;
    struct hx_ok_tensor *t;
    int good = 1;

    if (hx_ok_tensor_alloc(&t, rows, cols, 9, NULL)) {
        hx_theorem_stopped(r, "no memory");
        return 0;
    }
    for (size_t j = 0; j < cols; j++)
        x[j] = (struct hx_ok){integer(r, 1 << 16), 0};
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            t->data[i * cols + j].a = integer(r, 512);
            want[i] += t->data[i * cols + j].a * x[j].a;
        }
    good &= !hx_ok_tensor_shim(t, shim, NULL) && !hx_ok_tensor_apply(t, x, y);
    for (size_t i = 0; good && i < rows; i++)
        good &= !hx_ok_unshim_real(shim, y[i], &got, count) && got == want[i];
    hx_ok_tensor_free(t);
    return good;
}

enum hx_verdict hx_t4(struct hx_theorem_run *r)
{
    static const struct {
        uint32_t p, k;
    } shims[] = {{41, 8}, {2, 2}, {43, 4}};
    struct hx_ok_count count = {0, 0};
    int good = 0;

    for (int i = 0; i < CASES; i++) {
        struct hx_ok_shim shim;

        if (!hx_ok_shim_init(&shim, shims[i % 3].p, shims[i % 3].k, NULL))
            good += one_case(r, &shim, &count);
    }
    hx_witness(r, "%d of %d random products with 41^8, 2^2 and 43^4; %" PRIu64 " divisions, %" PRIu64
               " with a remainder", good, CASES, count.divisions, count.remainders);
    return good == CASES && count.remainders == 0 && count.divisions > 0 ? HX_VERIFIED : HX_FAILED;
}

/* --- T4b: the shipped model has Q8_0 weights */

enum { TOKENS = 16 };

static int logits_of(struct hx_theorem_run *r, enum hx_ok_mode mode, float **logits, size_t *vocab)
{
    char model[512];
    static const char *const modes[HX_OK_MODES][3] = {
        [HX_OK_NATIVE] = {"native-ok"}, [HX_OK_B] = {"frobenius-quant"}, [HX_OK_E] = {"frobenius-quant", "shim-config=E"}};
    const char *const settings[] = {"kv=f32", "attn=ref", modes[mode][0], modes[mode][1], NULL};
    struct hx_engine_cfg cfg = {.settings = settings, .model = model, .n_ctx = TOKENS, .threads = 1};
    struct hx_ok_report report = {.mode = mode};
    struct hx_engine *e = NULL;
    struct hx_error err = {""};
    uint32_t ids[TOKENS];
    int rc;

    snprintf(model, sizeof(model), "%s/hexrig-tiny-q8_0.gguf", r->share);
    rc = hx_engine_open(&e, &cfg, &err);
    for (size_t i = 0; !rc && i < TOKENS; i++)
        ids[i] = (uint32_t)(97 * i + 5) % (uint32_t)e->model->vocab;
    if (!rc)
        rc = hx_engine_run(e, ids, TOKENS, 0, &err);
    if (!rc) {
        *vocab = e->model->vocab;
        *logits = malloc(*vocab * sizeof(**logits));
        rc = *logits ? hx_engine_logits(e, *logits, &err) : hx_error_set(&err, -ENOMEM, "no memory");
    }
    if (e)
        hx_linear_ok_report(e->core->linear[0].open, &report);
    hx_engine_close(e);
    if (rc)
        hx_theorem_stopped(r, "%s", err.text);
    else
        hx_witness(r, "mode %s: %zu matrices, %" PRIu64 " divisions, %" PRIu64 " with a remainder",
                   hx_ok_modes[mode], report.matrices, report.count.divisions, report.count.remainders);
    return rc || report.count.remainders || (mode != HX_OK_NATIVE && !report.count.divisions) ? -1 : 0;
}

enum hx_verdict hx_t4b(struct hx_theorem_run *r)
{
    float *logits[HX_OK_MODES] = {NULL};
    int good = 1;

    for (int mode = 0; good && mode < HX_OK_MODES; mode++) {
        size_t vocab;

        good = !logits_of(r, (enum hx_ok_mode)mode, &logits[mode], &vocab) &&
               memcmp(logits[mode], logits[HX_OK_NATIVE], vocab * sizeof(float)) == 0;
    }
    if (logits[HX_OK_NATIVE])
        hx_witness(r, "logits after %d tokens: %s", TOKENS,
                   good ? "the same bits in all modes" : "differ");
    for (int mode = 0; mode < HX_OK_MODES; mode++)
        free(logits[mode]);
    return good ? HX_VERIFIED : HX_FAILED;
}

/* --- T6 */

/* Transforms of all keys and of one query modulo the 60-bit prime. */
struct sixty {
    const struct hx_ntt60 *t;
    uint64_t *keys, query[HX_DIGEST_N];
    size_t row; /* whose query that is */
    int equal, exact;
};

static void compare(void *arg, size_t i, size_t j, int64_t c)
{
    struct sixty *s = arg;
    int32_t a[HX_DIGEST_N], b[HX_DIGEST_N];

    hx_digest_vector(a, i);
    if (s->row != i) {
        hx_ntt60_query(s->t, s->query, a);
        s->row = i;
    }
    s->equal += hx_ntt60_score(s->t, s->query, s->keys + j * HX_DIGEST_N) == c;
    if (j % 16 == 0) { /* and what both should be */
        hx_digest_vector(b, j);
        s->exact += hx_poly_dot_ref(a, b, HX_DIGEST_N) == c;
    }
}

enum hx_verdict hx_t6(struct hx_theorem_run *r)
{
    enum { ALL = HX_DIGEST_VECTORS * HX_DIGEST_VECTORS };
    enum { SOME = HX_DIGEST_VECTORS * ((HX_DIGEST_VECTORS + 15) / 16) };
    struct sixty s = {.t = hx_ntt60_get(HX_DIGEST_N), .row = HX_DIGEST_VECTORS};
    int32_t a[HX_DIGEST_N];
    uint64_t digest;

    s.keys = aligned_alloc(64, sizeof(*s.keys) * HX_DIGEST_VECTORS * HX_DIGEST_N);
    if (!s.keys)
        return hx_theorem_stopped(r, "no memory");
    for (size_t j = 0; j < HX_DIGEST_VECTORS; j++) {
        hx_digest_vector(a, j);
        hx_poly_involute(a, HX_DIGEST_N);
        hx_ntt60_transform(s.t, s.keys + j * HX_DIGEST_N, a);
    }
    digest = hx_crt_digest(compare, &s);
    free(s.keys);
    if (!digest)
        return hx_theorem_stopped(r, "no memory");
    hx_witness(r, "N = %d: %d of %d inner products equal, %d of %d are what integers give", HX_DIGEST_N,
               s.equal, ALL, s.exact, SOME);
    return s.equal == ALL && s.exact == SOME ? HX_VERIFIED : HX_FAILED;
}

/* First line that a program prints, without newline.  Its status as waitpid() has it, or -1: it could not be run. */
static int first_line(const char *path, char *line, size_t bytes)
{
    char *const argv[] = {(char *)path, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status = -1, rc;
    ssize_t n = 0;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    rc = posix_spawn_file_actions_init(&actions);
    if (!rc) {
        rc = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        if (!rc)
            rc = posix_spawn(&pid, path, &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (!rc) {
        n = read(ends[0], line, bytes - 1);
        waitpid(pid, &status, 0);
    }
    close(ends[0]);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return rc || n < 0 ? -1 : status;
}

enum hx_verdict hx_t6b(struct hx_theorem_run *r)
{
    char path[512], line[200];
    uint64_t other = 0, mine;

    snprintf(path, sizeof(path), "%s/crt-digest", r->libexec);
    if (access(path, X_OK)) {
        hx_witness(r, "no %s: made where clang is when hexrig is built", path);
        return HX_SKIPPED;
    }
    const int status = first_line(path, line, sizeof(line));

    if (status < 0)
        return hx_theorem_stopped(r, "%s cannot be run", path);
    mine = hx_crt_digest(NULL, NULL);
    if (!mine)
        return hx_theorem_stopped(r, "no memory");
    hx_witness(r, "digest %016" PRIx64 " by gcc %s", mine, __VERSION__);
    hx_witness(r, "digest %s", line);
    if (strstr(line, __VERSION__))
        hx_witness(r, "that is no second compiler");
    return status == 0 && sscanf(line, "%" SCNx64, &other) == 1 && other == mine &&
                   !strstr(line, __VERSION__)
               ? HX_VERIFIED
               : HX_FAILED;
}
