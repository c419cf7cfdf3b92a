/* What the actions of hexrig block share: their options, the plan that these make, and files of blocks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_block.h"
#include "text/text.h"

/* Caches that need no rig, with the codec of this CPU or none. */
static int kv(struct hx_block_opts *o, const char *arg)
{
    static const char *const names[] = {"spinor-cpu", "f32", NULL};
    size_t i = 0;
    int rc = hx_opt_name(o->cmd, "kv", arg, names, &i);

    o->kv = names[i];
    return rc;
}

static int option(struct hx_block_opts *o, int key, const char *arg)
{
    switch (key) {
    case 'm':
        o->model = arg;
        return 0;
    case 'f':
        o->text = arg;
        return 0;
    case 'o':
        o->out = arg;
        return 0;
    case 'p':
        o->prompt = arg;
        return 0;
    case 'n':
        return hx_opt_size(o->cmd, "positions", arg, 1, UINT32_MAX, &o->positions);
    case HX_BLOCK_OPT_KV:
        return kv(o, arg);
    case HX_BLOCK_OPT_CAL:
        o->cal = arg;
        return 0;
    case HX_BLOCK_OPT_BASIS:
        o->basis_given = 1;
        return hx_opt_name(o->cmd, "basis", arg, hx_block_basis_names, &o->basis);
    case HX_BLOCK_OPT_K_ROPE:
        o->k_given = 1;
        return hx_opt_name(o->cmd, "k-rope", arg, hx_cal_k_rope_names, &o->k);
    case HX_BLOCK_OPT_K:
        o->k_given = 1;
        return hx_opt_name(o->cmd, "k", arg, hx_cal_k_names, &o->k);
    case HX_BLOCK_OPT_CODE:
        return hx_opt_name(o->cmd, "code", arg, hx_block_code_names, &o->code);
    case HX_BLOCK_OPT_SLOT:
        return hx_opt_size(o->cmd, "slot", arg, 0, UINT32_MAX, &o->slot);
    case HX_BLOCK_OPT_STRIDE:
        return hx_opt_size(o->cmd, "stride", arg, 1, HX_BLOCK_MAX_SLOT, &o->stride);
    case HX_BLOCK_OPT_DH:
        return hx_opt_size(o->cmd, "dh", arg, 1, HX_BLOCK_MAX_DH, &o->dh);
    case HX_BLOCK_OPT_UNCALIBRATED:
        o->uncalibrated = 1;
        return 0;
    case HX_BLOCK_OPT_SKELETON:
        return hx_opt_size(o->cmd, "skeleton", arg, 1, HX_BLOCK_MAX_SKEL, &o->skeleton);
    case HX_BLOCK_OPT_RESIDUAL:
        return hx_opt_size(o->cmd, "residual", arg, 1, HX_BLOCK_MAX_RES, &o->residual);
    case HX_OPT_JSON:
        o->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

int hx_block_parse(struct hx_block_opts *o, const struct hx_block_syntax *syntax, int argc, char **argv)
{
    const struct argp argp = {syntax->options, parse_option, syntax->words, syntax->doc, NULL, NULL, NULL};
    int word, n, rc;

    o->cmd = syntax->cmd;
    rc = hx_opt_parse_some(&argp, 0, argc, argv, o, &word);
    if (rc)
        return rc;
    n = argc - word;
    if (n > syntax->max_words)
        return hx_cmd_usage(o->cmd, "unexpected argument '%s'", argv[word + syntax->max_words]);
    if (n < syntax->min_words)
        return hx_cmd_usage(o->cmd, "a file is needed");
    o->file = n ? argv[word] : NULL;
    return 0;
}

int hx_block_plan(struct hx_plan **p, const struct hx_block_opts *o, struct hx_error *err)
{
    int rc = hx_plan_open(p, "--", 0, err);

    if (!rc && o->kv)
        rc = hx_plan_set(*p, "kv", o->kv, err);
    if (!rc && o->cal)
        rc = hx_plan_set(*p, "cal", o->cal, err);
    if (!rc && o->uncalibrated)
        rc = hx_plan_set(*p, "uncalibrated", NULL, err);
    if (!rc && o->basis_given)
        rc = hx_plan_set(*p, "basis", hx_block_basis_names[o->basis], err);
    if (!rc && o->k_given)
        rc = hx_plan_set(*p, "k-rope", hx_cal_k_rope_names[o->k], err);
    return rc ? rc : hx_plan_resolve(*p, err);
}

int hx_block_layout(struct hx_block_file *f, const struct hx_block_opts *o,
                    const struct hx_cal *cal)
{
    const size_t dh = o->dh ? o->dh : cal ? cal->format.shape->dh : 128;

    if (!hx_block_shape(dh))
        return hx_cmd_usage(o->cmd, "--dh %zu: legal: 64, 128, 256, 512", dh);
    *f = (struct hx_block_file){.shape = cal ? cal->format.shape : hx_block_shape_of(dh, o->skeleton, o->residual)};
    if (!f->shape)
        return hx_cmd_usage(o->cmd, "--skeleton %zu --residual %zu: legal at dh %zu: up to %d, up to %u, and at most %d bytes in "
                            "all", o->skeleton, o->residual, dh, HX_BLOCK_MAX_SKEL, hx_block_shape(dh)->n_res,
                            HX_BLOCK_MAX_SLOT - 1);
    if (cal && cal->format.shape->dh != dh)
        return hx_cmd_usage(o->cmd, "--dh %zu, but the calibration is for %u", dh,
                            cal->format.shape->dh);
    f->stride = o->stride ? o->stride : f->shape->slot;
    if (f->stride != f->shape->slot && f->stride != f->shape->payload)
        return hx_cmd_usage(o->cmd, "--stride %zu: legal at dh %zu: %u (payload), %u (slots)",
                            f->stride, dh, f->shape->payload, f->shape->slot);
    return HX_EXIT_OK;
}

int hx_block_file_read(struct hx_block_file *f, const char *path, struct hx_error *err)
{
    char *bytes;
    size_t n;
    int rc = hx_text_read(strcmp(path, "-") ? path : "/dev/stdin", &bytes, &n, err);

    if (rc)
        return rc;
    if (n % f->stride || n == 0) {
        free(bytes);
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are no whole number of records of %zu (dh "
                          "%u)", path, n, f->stride, f->shape->dh);
    }
    f->records = (uint8_t *)bytes;
    f->n = n / f->stride;
    return 0;
}

enum hx_block_fault hx_block_file_fault(const struct hx_block_file *f, size_t i)
{
    const uint8_t *record = f->records + i * f->stride;

    return f->stride == f->shape->slot ? hx_block_fault(f->shape, record)
                                       : hx_block_payload_fault(f->shape, record);
}

int hx_block_write(const char *cmd, const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wbe");
    struct stat st;
    int bad, rc;

    if (!f)
        return hx_cmd_fail(cmd, "%s: %s", path, strerror(errno));
    bad = fwrite(bytes, 1, n, f) != n;
    bad |= fclose(f) != 0;
    if (!bad)
        return HX_EXIT_OK;
    rc = hx_cmd_fail(cmd, "%s: cannot write: %s", path, strerror(errno));
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* a part of it is of no use */
        unlink(path);
    return rc;
}
