/* The actions of `hexrig block`.  Each gets its own argv (argv[0] = "hexrig block ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_BLOCK_H
#define HX_CMD_BLOCK_H

#include <stdio.h>

#include "base/error.h"
#include "cli/opt.h"
#include "engine/plan.h"
#include "methods/spinor/cal_file.h"

int hx_block_calibrate(int argc, char **argv);
int hx_block_encode(int argc, char **argv);
int hx_block_decode(int argc, char **argv);
int hx_block_inspect(int argc, char **argv);
int hx_block_validate(int argc, char **argv);
int hx_block_golden(int argc, char **argv);
int hx_block_stats(int argc, char **argv);
int hx_block_dump(int argc, char **argv);

/* Options of all actions beside -m, -f, -p, -n, -o and HX_OPT_JSON; an action's own table names those that it knows. */
enum {
    HX_BLOCK_OPT_BASIS = HX_OPT_FREE,
    HX_BLOCK_OPT_K_ROPE,
    HX_BLOCK_OPT_K, /* its older spelling */
    HX_BLOCK_OPT_CODE,
    HX_BLOCK_OPT_CAL,
    HX_BLOCK_OPT_SLOT,
    HX_BLOCK_OPT_STRIDE,
    HX_BLOCK_OPT_DH,
    HX_BLOCK_OPT_SKELETON,
    HX_BLOCK_OPT_RESIDUAL,
    HX_BLOCK_OPT_UNCALIBRATED,
    HX_BLOCK_OPT_KV,
};

/* An action's command line. */
struct hx_block_syntax {
    const char *cmd; /* "block ACTION" */
    const struct argp_option *options;
    const char *words, *doc; /* as argp has them */
    int min_words, max_words; /* how many files it takes */
};

/* What a command line said. */
struct hx_block_opts {
    const char *cmd;                /* for messages */
    const char *model, *text, *out; /* -m, -f, -o */
    const char *prompt;             /* -p, or NULL */
    size_t positions;               /* -n; 0: not given */
    const char *kv;                 /* --kv, or NULL: the plan's default */
    const char *cal;                /* --cal FILE, or NULL */
    const char *file;               /* the word, or NULL */
    size_t basis, code, k;          /* indices of their name tables */
    int basis_given, k_given;
    size_t slot;                    /* --slot */
    size_t stride, dh, skeleton, residual; /* 0: not given */
    int uncalibrated;
    int json;
};

/* Parses an action's command line.  Returns an enum hx_exit. */
int hx_block_parse(struct hx_block_opts *o, const struct hx_block_syntax *syntax, int argc, char **argv);

/* A resolved plan of what was said about the blocks.  0 or negative errno. */
int hx_block_plan(struct hx_plan **p, const struct hx_block_opts *o, struct hx_error *err);

/* A file of raw records: one block each. */
struct hx_block_file {
    const struct hx_block_shape *shape;
    size_t stride;    /* the slot's bytes, or the payload's: no CRC, no verdict on it */
    uint8_t *records; /* [n][stride] */
    size_t n;
};

/* Shape and stride out of --dh, --skeleton, --residual and --stride (default: dh 128 or the calibration's, slots).
 * Returns an enum hx_exit. */
int hx_block_layout(struct hx_block_file *f, const struct hx_block_opts *o,
                    const struct hx_cal *cal);

/* Reads all of a .blk file; its layout is set.  "-" is stdin.  0 or negative errno. */
int hx_block_file_read(struct hx_block_file *f, const char *path, struct hx_error *err);

/* Writes a file; a failure leaves no part of it.  Returns an enum hx_exit. */
int hx_block_write(const char *cmd, const char *path, const void *bytes, size_t n);

/* The fault of record i; CRC and fill only where they are stored. */
enum hx_block_fault hx_block_file_fault(const struct hx_block_file *f, size_t i);

#endif
