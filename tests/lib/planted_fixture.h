/* Planted models of one small geometry, for tests of what they are and of how they are made. */
#ifndef PLANTED_FIXTURE_H
#define PLANTED_FIXTURE_H

#include <errno.h>
#include <sys/stat.h>

#include "e2e.h"
#include "golden.h"
#include "planted/planted.h"

#define GEOMETRY "3x4/2x32x128x256x2048"

enum { LAYERS = 3, HEADS = 4, WIDTH = 128, FFN = 256, VOCAB = 2048, RANK = 16 };

static struct hx_gguf *tokenizer;
static struct hx_pool *pools[2]; /* of 1 and of 4 threads */

static inline int setup(void **state)
{
    struct hx_error err;

    (void)state;
    return hx_gguf_open_keys(&tokenizer, MODEL_Q8_0, &err) || hx_pool_open(&pools[0], 1, &err) || hx_pool_open(&pools[1], 4, &err);
}

static inline int teardown(void **state)
{
    (void)state;
    hx_pool_close(pools[0]);
    hx_pool_close(pools[1]);
    hx_gguf_close(tokenizer);
    return 0;
}

static inline struct hx_planted plain(void)
{
    struct hx_planted p = {.type = HX_QUANT_F16, .rank = RANK, .zones = 1, .seed = 1};
    struct hx_error err = {""};

    if (hx_geometry_find(&p.g, GEOMETRY, &err))
        fail_msg("%s", err.text);
    return p;
}

static inline int write_by(const struct hx_planted *p, const char *path, struct hx_pool *pool, struct hx_error *err)
{
    const struct hx_planted_work work = {.tokenizer = tokenizer, .pool = pool, .most_bytes = 1 << 28};
    struct hx_planted_told told;

    return hx_planted_write(p, path, &work, &told, err);
}

static inline const char *made(const struct hx_planted *p)
{
    const char *path = hxt_path("%s/model.gguf", hxt_tmpdir());
    struct hx_error err = {""};

    if (write_by(p, path, pools[1], &err))
        fail_msg("%s", err.text);
    return path;
}

/* And leaves no file. */
static inline void expect_refused(const struct hx_planted *p, int rc, const char *why)
{
    const char *path = hxt_path("%s/none.gguf", hxt_tmpdir());
    struct hx_error err = {""};
    struct stat st;

    assert_int_equal(write_by(p, path, NULL, &err), rc);
    if (!strstr(err.text, why))
        fail_msg("'%s' and not '%s'", err.text, why);
    assert_int_equal(stat(path, &st), -1);
}

#endif
