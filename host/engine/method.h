/* What a method is: one way of computing behind one seam of the engine, described by one constant.
 *
 * A method is a folder host/methods/NAME/ with a `const struct hx_method`, which methods.c lists.  Whatever has to be known
 * about it stands there: its name, its options with their help, what it needs and gives, how it is opened, what it reports
 * and how many DSP calls it makes.  plan.c reads these tables for every command, the server and the C API; nothing else
 * knows a method by its name. */
#ifndef HX_METHOD_H
#define HX_METHOD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "model/matrix.h"
#include "model/model.h"

struct hx_attn;
struct hx_core;
struct hx_cpu_kernels;
struct hx_draft;
struct hx_engine;
struct hx_engine_cfg;
struct hx_kv;
struct hx_linear_method;
struct hx_method;
struct hx_open;
struct hx_pager_how;
struct hx_plan;
struct hx_tap;
struct hx_watch;

enum hx_seam {
    HX_SEAM_LINEAR, /* y = W x; by matrix and layer */
    HX_SEAM_KV,     /* where K and V of past positions live */
    HX_SEAM_ATTN,   /* attention over them */
    HX_SEAM_DRAFT,  /* who guesses the tokens that come next */
    HX_SEAM_TAP,    /* who reads or changes the residual stream; any number of them */
    HX_SEAMS
};

/* "linear", "kv", "attn", "draft", "tap"; NULL-terminated. */
extern const char *const hx_seam_names[];

/* What methods need of their surroundings and give to each other.  A method whose needs the others do not give is refused
 * with a reason, before anything is opened. */
enum hx_trait {
    HX_TRAIT_RIG = 1 << 0,         /* needs a rig: the method makes DSP calls whatever the options are */
    HX_TRAIT_DSP = 1 << 1,         /* gives: this seam's work is on the DSP, or can be (--offload) */
    HX_TRAIT_POOL = 1 << 2,        /* uses the engine's threads */
    HX_TRAIT_CALIBRATION = 1 << 3, /* needs a calibration of the model */
    HX_TRAIT_ROWS = 1 << 4,        /* cache: K and V come back as f32 rows */
    HX_TRAIT_SCORES = 1 << 5,      /* cache: scores without rows */
    HX_TRAIT_KEYS = 1 << 6,        /* cache: K as transforms of the polynomial ring */
    HX_TRAIT_ATTEND = 1 << 7,      /* cache: the whole attention happens there */
    HX_TRAIT_TREE = 1 << 8,        /* cache: batches may be trees, of which one path is kept */
    HX_TRAIT_SOFTMAX_INT = 1 << 9, /* attention: softmax by integer tables */
    HX_TRAIT_ARGMAX = 1 << 10,     /* linear: the largest output without the outputs */
    HX_TRAIT_RESIDUES = 1 << 11,   /* two processes can share the work, a prime each */
    HX_TRAIT_PAGES = 1 << 12,      /* linear: reads weights where `w` points at each apply(), so they may come page by page */
    HX_TRAIT_LAYER = 1 << 13,      /* cache: whole layers happen there */
    HX_TRAIT_SHAPES = 1 << 14,     /* linear: what it has on the DSP can be made of shapes alone (hx_plan_without_weights()) */
    HX_TRAIT_STREAM = 1 << 15,     /* tap: changes the residual stream and does nothing else, so a twin of the engine has one, too */
};

/* Those that attention may need of a cache. */
enum { HX_TRAITS_OF_CACHES = HX_TRAIT_ROWS | HX_TRAIT_SCORES | HX_TRAIT_KEYS | HX_TRAIT_ATTEND |
                            HX_TRAIT_LAYER };

/* Name of bit i of enum hx_trait, as listings print it; NULL behind the last. */
extern const char *const hx_trait_names[];

enum hx_option_flag {
    HX_OPTION_CHOOSES = 1 << 0, /* giving it chooses the method, as --SEAM NAME would */
    HX_OPTION_IDLE_OK = 1 << 1, /* without its method it changes nothing, which is said and no error */
    HX_OPTION_FORKS = 1 << 2,   /* the process becomes two: only for commands that can do that */
    HX_OPTION_REPORTED = 1 << 3, /* reports have its value, also the default, beside the methods */
    HX_OPTION_ON_DSP = 1 << 4,   /* of matrices: matters to those on the DSP only */
    HX_OPTION_PAGES = 1 << 5,    /* something is in a file, and read ahead of its use */
    HX_OPTION_REAL = 1 << 6,     /* a number with a fraction, from min to max */
    HX_OPTION_SHAPES = 1 << 7,   /* of methods with HX_TRAIT_SHAPES: means something without weights, too */
};

/* An option, written once: --NAME VALUE of the commands, "NAME=VALUE" of the C API and of files. */
struct hx_option {
    const char *name;
    const char *arg;          /* what help calls the value; NULL: there is none, it is a flag */
    const char *def;          /* the default as text, as if it had been given; NULL: none */
    const char *help;         /* one sentence; the default is added.  NULL: with another method that has this option */
    uint64_t min, max;        /* of a number; max 0: it is none */
    const char *const *names; /* the legal values, NULL-terminated; NULL: any text */
    uint32_t flags;           /* enum hx_option_flag */
    const char *means;        /* another option's name: this one is an older spelling of it, its value i is that one's */
    const char *of;           /* another option's name: legal with that one only; NULL: with the method */
};

/* The dimensions of a model that calls depend on.  Without a model (hexrig density --geometry) there are no queries, n_head is
 * 0, and what the cache has is asked for as rows. */
struct hx_shape {
    size_t n_layer, n_head, n_kv, dh, width, ffn, vocab;
};

/* What the driver will count for one token. */
struct hx_calls {
    double invokes, packets;
};

/* Matrices that the plan gives to one linear method, to be opened together. */
/* What a method makes of matrices for the DSP, beside themselves. */
enum hx_matrix_form {
    HX_FORM_WHOLE,
    HX_FORM_IMAGE, /* what a matrix makes of a basis */
    HX_FORM_BASIS, /* directions, as rows */
};

struct hx_linear_set {
    struct {
        struct hx_linear *w; /* in a struct hx_matrices that lives as long as the method */
        size_t layer;        /* of HX_OUT: 0 */
        enum hx_matrix which;
        enum hx_matrix_form form; /* of the engine's: HX_FORM_WHOLE */
        int on_dsp;          /* 1: --offload names it, and the method has HX_TRAIT_DSP */
    } *at;                   /* [n]; no matrix has 0 rows */
    size_t n;
    const char *arg;         /* what stood behind NAME: in the map; NULL: nothing */
};

/* Engines that drafters have for themselves: the engine's own functions, which lie above all methods. */
struct hx_engines {
    /* hx_engine_open() and hx_engine_close(). */
    int (*open)(struct hx_engine **out, const struct hx_engine_cfg *cfg, struct hx_error *err);
    void (*close)(struct hx_engine *e);

    /* Like the engine that is being opened with `o`, over its core, but without a drafter, and with taps of HX_TRAIT_STREAM alone. */
    int (*twin)(struct hx_engine **out, const struct hx_open *o, struct hx_error *err);
};

/* What a method may look at while it opens; kept by nobody longer than that, but model, pool, core and engines, which outlive it. */
struct hx_open {
    const struct hx_plan *plan;
    const struct hx_model *model;
    const char *model_path; /* NULL: it came from no file */
    const char *share;      /* folder of shipped data; NULL: unknown */
    struct hx_pool *pool;
    size_t n_ctx;           /* positions; of linear methods: 0 */
    const struct hx_pager_how *paging; /* of methods with HX_OPTION_PAGES; NULL: anyhow */
    const struct hx_watch *watch;      /* who is told of what takes long (base/watch.h); NULL: nobody */
    struct hx_core *core;              /* of drafters and taps: the engine's; of others NULL */
    const struct hx_engines *engines;  /* likewise */
};

struct hx_method {
    const char *name;
    const char *aka;                 /* what papers call it, which is legal, too; NULL: nothing else */
    enum hx_seam seam;
    const char *about;               /* one line */
    const char *arg;                 /* linear, draft: what may stand behind NAME:, for help; NULL: nothing */
    const char *arg_of;              /* one of its options with `names`, whose place that takes; NULL: of none */
    uint64_t arg_min, arg_max;       /* of a number; arg_max 0: it is none */
    int arg_needed;                  /* draft: 1: NAME alone is not enough */
    const struct hx_option *options; /* ends with a NULL name; may be shared by methods; NULL: none */
    uint32_t needs;                  /* of its surroundings and, for attention, of the cache */
    uint32_t uses;                   /* attention: what of the cache it is better with */
    uint32_t gives;
    const struct hx_method *offloaded; /* takes this one's place: of a matrix that --offload linear names, of a cache with
                                        * --offload attn; NULL: none does */
    const struct hx_method *whole;     /* of a cache: takes this one's place with --offload layer; NULL: none does */
    const struct hx_cpu_kernels *(*kernels)(void); /* linear: for norms and activations between its matrices; NULL: plain C */

    /* What its options say together, and with the rest of the plan, which has been resolved up to here.  0, or -EINVAL
     * with a reason.  NULL: everything goes. */
    int (*check)(const struct hx_plan *p, struct hx_error *err);

    /* By seam.  0 or negative errno with a reason; what is opened is closed by the seam's own close. */
    union {
        int (*linear)(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                      struct hx_error *err);
        int (*kv)(struct hx_kv **out, const struct hx_open *o, struct hx_error *err);
        int (*attn)(struct hx_attn **out, const struct hx_open *o, struct hx_error *err);
        int (*draft)(struct hx_draft **out, const struct hx_open *o, struct hx_error *err);
        int (*tap)(struct hx_tap **out, const struct hx_open *o, struct hx_error *err);
    } open;

    /* An object about what the method is and did, put under `reports` in reports; self is what open() made, kv the engine's
     * cache.  NULL: there is nothing more to say than the name. */
    const char *reports;
    json_t *(*report)(const void *self, const struct hx_kv *kv, const struct hx_plan *p);

    /* DSP calls for one token at a position, 0-based, as the plan has it.  NULL: none. */
    struct hx_calls (*calls)(const struct hx_plan *p, const struct hx_shape *s, size_t pos);
};

/* All, NULL-terminated; of each seam the one that is the default comes first. */
extern const struct hx_method *const hx_methods[];

/* The method of a list like hx_methods whose name are these n characters; NULL: none is. */
const struct hx_method *hx_method_find(const struct hx_method *const *methods, enum hx_seam seam, const char *name,
                                       size_t n);

/* "a, b, c": at most n - 1 characters. */
void hx_names_list(const char *const *names, char *out, size_t n);
void hx_method_list(const struct hx_method *const *methods, enum hx_seam seam, char *out, size_t n);

/* What stands behind a method's name (NULL: nothing).  0, or -EINVAL and `what` [n] says what is wrong with it. */
int hx_method_check_arg(const struct hx_method *m, const char *arg, char *what, size_t n);

/* 1: the method has an option of that name. */
int hx_method_has(const struct hx_method *m, const char *option);

struct hx_shape hx_shape_of(const struct hx_model *m);

#endif
