/* hexrig block dump: K, V and their blocks out of a run, into a folder whose layout docs/block.md has. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report.h"
#include "cli/share.h"
#include "cmd_block.h"
#include "dump_tap.h"
#include "engine/engine.h"
#include "methods/spinor/block_report.h"
#include "methods/spinor/cal_choose.h"
#include "text/text.h"

enum { POSITIONS = 128, VERSION = 1 };

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)", 0},
    {"prompt", 'p', "TEXT", 0, "what the model reads", 0},
    {"file", 'f', "TEXT", 0, "the same from a file (share/hexrig/books-holdout.txt)", 0},
    {"positions", 'n', "N", 0, "most positions, from the text's start (128)", 0},
    {"output", 'o', "FOLDER", 0, "folder to write; made if it is not there", 0},
    {"kv", HX_BLOCK_OPT_KV, "METHOD", 0, "spinor-cpu: past positions are read from blocks; f32: they are not (spinor-cpu)", 0},
    {"cal", HX_BLOCK_OPT_CAL, "FILE", 0, "calibration (beside the model, or the shipped one)", 0},
    {"uncalibrated", HX_BLOCK_OPT_UNCALIBRATED, NULL, 0, "no calibration: predictions by the Moebius sum (basis vht2 or vht2w)", 0},
    {"basis", HX_BLOCK_OPT_BASIS, "B", 0, "vht2 | vht2w | klt (klt, or as in --cal)", 0},
    {"k-rope", HX_BLOCK_OPT_K_ROPE, "pre|post", 0, "K before or after RoPE (pre, or as in --cal)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const struct hx_block_syntax syntax = {
    .cmd = "block dump",
    .options = options,
    .words = "-o FOLDER",
    .doc = "Runs a model over the first N tokens of a text and writes every K and V vector as raw f32, its block, and the tables "
           "that coded it."
           "\vvectors.f32 and blocks.blk are by layer, K before V, head, then position; dump.json has the numbers of each.\n\n"
           "Example: hexrig block dump -p \"The king was\" -o dump",
};

struct job {
    struct hx_block_opts o;
    char *share;
    char *shipped_model, *shipped_text;
    struct hx_plan *plan;
    struct hx_engine *e;
    struct hx_cal *cal;
    uint32_t *ids; /* [n] */
    size_t n;
    struct hx_dump dump;
};

static int defaults(struct job *j)
{
    j->share = hx_share("");
    j->shipped_model = hx_share("hexrig-tiny-q8_0.gguf");
    j->shipped_text = hx_share("books-holdout.txt");
    if (!j->share || !j->shipped_model || !j->shipped_text)
        return hx_cmd_fail(j->o.cmd, "cannot find this program's share folder");
    j->o.model = j->o.model ? j->o.model : j->shipped_model;
    j->o.text = j->o.text ? j->o.text : j->shipped_text;
    j->o.kv = j->o.kv ? j->o.kv : "spinor-cpu";
    j->o.positions = j->o.positions ? j->o.positions : POSITIONS;
    return HX_EXIT_OK;
}

/* As `hexrig run` reads a prompt; no more than was asked for. */
static int read_ids(struct job *j, struct hx_error *err)
{
    const struct hx_tokenizer *tok = j->e->model->tok;
    char *text = j->o.prompt ? strdup(j->o.prompt) : NULL;
    size_t bytes = j->o.prompt ? strlen(j->o.prompt) : 0;
    int rc = j->o.prompt ? 0 : hx_text_read(j->o.text, &text, &bytes, err);

    if (!rc)
        rc = text && !hx_tokenizer_encode_with(tok, text, bytes, HX_ENCODE_BOS | HX_ENCODE_SPECIAL, &j->ids, &j->n)
                 ? 0
                 : hx_error_set(err, -ENOMEM, "out of memory");
    free(text);
    if (!rc && j->n == 0)
        rc = hx_error_set(err, -EINVAL, "the text is empty");
    j->n = j->n < j->o.positions ? j->n : j->o.positions;
    return rc;
}

static int open_engine(struct job *j, struct hx_error *err)
{
    struct hx_engine_cfg cfg = {.model = j->o.model, .share = j->share, .n_ctx_most = j->o.positions};
    int rc = hx_block_plan(&j->plan, &j->o, err);

    cfg.plan = j->plan;
    if (!rc)
        rc = hx_engine_open(&j->e, &cfg, err);
    if (!rc && j->o.positions > j->e->model->n_ctx)
        rc = hx_error_set(err, -EINVAL, "-n %zu: the model's context is %zu", j->o.positions, j->e->model->n_ctx);
    if (!rc)
        rc = hx_cal_choose(&j->cal, &(struct hx_open){.plan = j->plan, .model = j->e->model, .model_path = j->o.model,
                                                      .share = j->share}, 0, err);
    return rc;
}

static int run(struct job *j, struct hx_error *err)
{
    struct hx_tap *taps[] = {&j->dump.tap, NULL};
    const struct hx_core *core = j->e->core;
    const struct hx_forward_parts parts = {.matrices = &j->e->core->matrices, .kernels = core->kernels,
                                           .pool = core->kernels ? core->pool : NULL, .taps = taps};
    int rc = hx_dump_init(&j->dump, j->e->model, j->cal, j->n, err);

    if (!rc)
        rc = hx_forward_use(j->e->forward, &parts, err);
    if (!rc)
        rc = hx_engine_run(j->e, j->ids, j->n, 0, err);
    return rc ? rc : hx_dump_encode(&j->dump, err);
}

/* What the files hold. */
static json_t *manifest(const struct job *j)
{
    const struct hx_model *m = j->e->model;
    json_t *ids = json_array();

    for (size_t i = 0; ids && i < j->n; i++)
        json_array_append_new(ids, json_integer(j->ids[i]));
    return json_pack("{s:i, s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "version", VERSION, "model", hx_json_text(j->o.model), "kv",
                     j->o.kv, "layers", (json_int_t)m->n_layer, "heads", (json_int_t)m->n_kv, "positions", (json_int_t)j->n,
                     "slots", (json_int_t)j->cal->n_slots, "tokens", ids, "block",
                     hx_block_report(&j->cal->format, j->cal->k_after_rope));
}

static int write_in(const struct job *j, const char *name, const void *bytes, size_t n)
{
    char *path;
    int rc;

    if (asprintf(&path, "%s/%s", j->o.out, name) < 0)
        return hx_cmd_fail(j->o.cmd, "out of memory");
    rc = hx_block_write(j->o.cmd, path, bytes, n);
    free(path);
    return rc;
}

static int write_tables(const struct job *j)
{
    struct hx_error err = {""};
    char *path;
    int rc;

    if (asprintf(&path, "%s/tables.cal", j->o.out) < 0)
        return hx_cmd_fail(j->o.cmd, "out of memory");
    rc = hx_cal_write(j->cal, path, &err) ? hx_cmd_fail(j->o.cmd, "%s", err.text) : HX_EXIT_OK;
    free(path);
    return rc;
}

/* dump.json comes last: where it is, the others are complete. */
static int write_all(const struct job *j)
{
    const size_t vectors = (size_t)j->cal->n_slots * j->n;
    json_t *list = manifest(j);
    char *text = list ? json_dumps(list, JSON_INDENT(1)) : NULL;
    int rc = text ? HX_EXIT_OK : hx_cmd_fail(j->o.cmd, "out of memory");

    if (!rc && mkdir(j->o.out, 0777) && errno != EEXIST)
        rc = hx_cmd_fail(j->o.cmd, "%s: %s", j->o.out, strerror(errno));
    if (!rc)
        rc = write_in(j, "vectors.f32", j->dump.vectors, vectors * j->e->model->dh * sizeof(float));
    if (!rc)
        rc = write_in(j, "blocks.blk", j->dump.blocks, vectors * j->cal->format.shape->slot);
    if (!rc)
        rc = write_tables(j);
    if (!rc)
        rc = write_in(j, "dump.json", text, strlen(text));
    free(text);
    json_decref(list);
    return rc;
}

static int report(const struct job *j)
{
    json_t *list = manifest(j);

    if (list) {
        json_object_del(list, "version");
        json_object_del(list, "tokens");
        json_object_set_new(list, "folder", hx_json_text(j->o.out));
        json_object_set_new(list, "vectors", json_integer((json_int_t)(j->cal->n_slots * j->n)));
    }
    return hx_report_print(j->o.cmd, list, j->o.json);
}

static void close_job(struct job *j)
{
    hx_dump_free(&j->dump);
    hx_engine_close(j->e);
    hx_plan_close(j->plan);
    hx_cal_free(j->cal);
    free(j->ids);
    free(j->share);
    free(j->shipped_model);
    free(j->shipped_text);
}

int hx_block_dump(int argc, char **argv)
{
    struct job j = {.n = 0};
    struct hx_error err = {""};
    int rc = hx_block_parse(&j.o, &syntax, argc, argv);

    if (!rc && !j.o.out)
        rc = hx_cmd_usage(j.o.cmd, "-o is needed");
    if (!rc && j.o.prompt && j.o.text)
        rc = hx_cmd_usage(j.o.cmd, "-p and -f exclude each other");
    if (!rc)
        rc = defaults(&j);
    if (!rc && (open_engine(&j, &err) || read_ids(&j, &err) || run(&j, &err)))
        rc = hx_cmd_fail(j.o.cmd, "%s", err.text);
    if (!rc)
        rc = write_all(&j);
    if (!rc)
        rc = report(&j);
    close_job(&j);
    return rc;
}
