/* hexrig bench prefetch: what a prefetch buffer hides of the time that weights take to come from a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "bench.h"
#include "bench_walk.h"
#include "cli/opt.h"
#include "cli/report.h"

enum { OPT_FILE = HX_OPT_FREE, OPT_SLOTS, OPT_PASSES, OPT_TOKENS, OPT_ITEM, OPT_CPU, OPT_NO };

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/" HX_BENCH_MODEL ")", 0},
    {"file", OPT_FILE, "FILE", 0, "any file instead, read as F16 rows of 1024", 0},
    {"slots", OPT_SLOTS, "N", 0, "of the buffer, 1 to 16 (16)", 0},
    {"passes", OPT_PASSES, "N", 0, "over the file, that count (8)", 0},
    {"tokens", OPT_TOKENS, "N", 0, "vectors that each weight is multiplied with: 1 is decoding (64)", 0},
    {"item-kib", OPT_ITEM, "N", 0, "largest item; larger matrices are cut between rows (1024)", 0},
    {"reader-cpu", OPT_CPU, "N", 0, "CPU of the thread that reads ahead (chosen)", 0},
    {"no-prefetch", OPT_NO, NULL, 0, "not the third way", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Walks the weights of a model layer by layer, read from the file, and multiplies each with vectors, as a forward pass "
    "does.  Three ways: each item is read when it is needed (without); the same, the kernel reading ahead as it does by "
    "itself (kernel); out of a prefetch buffer that a thread on a CPU of its own fills in the order of the plan (with).  "
    "Before each pass the file is dropped from the page cache (posix_fadvise; needs no root).  Of each way a first pass is "
    "not counted.  All times are measured."
    "\vExample: hexrig bench prefetch -m model.gguf --passes 4 --json";

static const char cmd[] = "bench prefetch";

struct bench {
    const char *path; /* NULL: the shipped model */
    int raw;          /* path is any file */
    size_t slots, passes, tokens, item_kib;
    size_t reader_cpu; /* SIZE_MAX: chosen */
    int no_prefetch, json;
    int cpu; /* the reader's; -1: there is one CPU alone */
    cpu_set_t own; /* the same as a set */
};

static const struct {
    const char *name;
    int no_reader, kernel_readahead;
} ways[] = {{"without", 1, 0}, {"kernel", 1, 1}, {"with", 0, 0}};

enum { WITHOUT, KERNEL, WITH, WAYS };

/* One way of reading, all passes that count. */
struct figures {
    struct hx_prefetch_stats stats;
    double wall_s, compute_s;
    int64_t disk_bytes; /* that this process had fetched from a disk; -1: unknown */
    uint64_t checksum;
};

static int option(struct bench *b, int key, const char *arg)
{
    switch (key) {
    case 'm':
    case OPT_FILE:
        if (b->path)
            return hx_cmd_usage(cmd, "one file is enough (-m or --file)");
        b->path = arg;
        b->raw = key == OPT_FILE;
        return 0;
    case OPT_SLOTS:
        return hx_opt_size(cmd, "slots", arg, 1, HX_PREFETCH_SLOTS, &b->slots);
    case OPT_PASSES:
        return hx_opt_size(cmd, "passes", arg, 1, 1 << 20, &b->passes);
    case OPT_TOKENS:
        return hx_opt_size(cmd, "tokens", arg, 1, 1 << 12, &b->tokens);
    case OPT_ITEM:
        return hx_opt_size(cmd, "item-kib", arg, 1, 1 << 20, &b->item_kib);
    case OPT_CPU:
        return hx_opt_size(cmd, "reader-cpu", arg, 0, 1023, &b->reader_cpu);
    case OPT_NO:
        b->no_prefetch = 1;
        return 0;
    case HX_OPT_JSON:
        b->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- the page cache ---------------------------------------------------------------------------------------------- */

/* Dirty pages stay, so a file that was just copied is written out first. */
static int drop_cache(const char *path, struct hx_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

    if (fd < 0)
        return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (fdatasync(fd) && errno != EROFS && errno != EINVAL)
        rc = hx_error_set(err, -errno, "%s: fdatasync: %s", path, strerror(errno));
    if (!rc)
        rc = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return rc;
}

static int64_t disk_bytes(void)
{
    FILE *f = fopen("/proc/self/io", "re");
    char line[128];
    int64_t n = -1;

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "read_bytes: %" SCNd64, &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

/* --- the passes -------------------------------------------------------------------------------------------------- */

static int pass(struct hx_prefetch *p, const struct hx_walk *w, struct figures *f, struct hx_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const void *bytes;
        double start;
        int rc = hx_prefetch_get(p, &w->plan[i], &bytes, err);

        if (rc)
            return rc;
        start = hx_report_clock();
        f->checksum = f->checksum * 31 + hx_walk_compute(w, &w->items[i], bytes);
        f->compute_s += hx_report_clock() - start;
        hx_prefetch_put(p, bytes);
    }
    return 0;
}

/* A pass over a file that no page of is in the cache. */
static int cold_pass(const struct bench *b, struct hx_prefetch *p, const struct hx_walk *w,
                     struct figures *f, struct hx_error *err)
{
    int rc = drop_cache(b->path, err);

    return rc ? rc : pass(p, w, f, err);
}

static int passes(const struct bench *b, struct hx_prefetch *p, const struct hx_walk *w,
                  struct figures *f, struct hx_error *err)
{
    int rc = cold_pass(b, p, w, f, err);
    const int64_t disk = disk_bytes();
    const double start = hx_report_clock();

    *f = (struct figures){0}; /* that was the start, with an empty buffer and a sleeping thread */
    hx_prefetch_clear_stats(p);
    for (size_t i = 0; !rc && i < b->passes; i++)
        rc = cold_pass(b, p, w, f, err);
    f->wall_s = hx_report_clock() - start;
    f->disk_bytes = disk < 0 ? -1 : disk_bytes() - disk;
    hx_prefetch_stats(p, &f->stats);
    return rc;
}

static int measure(const struct bench *b, const struct hx_walk *w, int way, struct figures *f,
                   struct hx_error *err)
{
    const struct hx_prefetch_cfg cfg = {
        .slots = (unsigned)b->slots, .no_reader = ways[way].no_reader, .cpus = b->cpu < 0 ? NULL : &b->own,
        .kernel_readahead = ways[way].kernel_readahead,
    };
    struct hx_prefetch *p = NULL;
    int rc = hx_prefetch_open(&p, b->path, &cfg, err);

    if (!rc)
        rc = hx_prefetch_plan(p, w->plan, w->n, err);
    if (!rc)
        rc = passes(b, p, w, f, err);
    hx_prefetch_close(p);
    return rc;
}

/* --- the report -------------------------------------------------------------------------------------------------- */

static json_t *report_way(const struct bench *b, const struct hx_walk *w, const struct figures *f)
{
    const struct hx_prefetch_stats *s = &f->stats;

    return json_pack(
        "{s:I, s:f, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o}", "gets",
        (json_int_t)s->gets, "hit_rate", (double)s->hits / (double)s->gets, "hits",
        (json_int_t)s->hits, "late", (json_int_t)s->late, "misses", (json_int_t)s->misses, "wrong",
        (json_int_t)s->wrong, "stall_ms_per_pass", 1e-6 * (double)s->stall.sum / (double)b->passes,
        "stall_p50_us", 1e-3 * (double)hx_hist_percentile(&s->stall, 500), "stall_p99_us",
        1e-3 * (double)hx_hist_percentile(&s->stall, 990), "stall_max_us", 1e-3 * (double)s->stall.max,
        "compute_ms_per_layer", 1e3 * f->compute_s / (double)(b->passes * w->layers), "wall_s",
        f->wall_s, "bytes_read", (json_int_t)s->bytes_read, "disk_bytes",
        f->disk_bytes < 0 ? json_null() : json_integer(f->disk_bytes));
}

static double stall_ratio(const struct figures *f, int way)
{
    return (double)f[way].stats.stall.sum / (double)f[WITH].stats.stall.sum;
}

static int print_report(const struct bench *b, const struct hx_walk *w, const struct figures *f, int n)
{
    json_t *j = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "file", hx_json_text(b->path),
                          "layers", (json_int_t)w->layers, "items", (json_int_t)w->n,
                          "bytes_per_pass", (json_int_t)w->bytes, "passes", (json_int_t)b->passes,
                          "tokens", (json_int_t)b->tokens, "slots", (json_int_t)b->slots,
                          "reader_cpu", b->cpu < 0 ? json_null() : json_integer(b->cpu));

    for (int i = 0; j && i < n; i++)
        json_object_set_new(j, ways[i].name, report_way(b, w, &f[i]));
    if (j && n == WAYS) {
        json_object_set_new(j, "stall_ratio", json_real(stall_ratio(f, WITHOUT)));
        json_object_set_new(j, "stall_ratio_kernel", json_real(stall_ratio(f, KERNEL)));
    }
    return hx_report_print(cmd, j, b->json);
}

static int run(struct bench *b, const struct hx_walk *w, struct hx_error *err)
{
    const int n = b->no_prefetch ? WITH : WAYS;
    struct figures f[WAYS] = {0};

    for (int i = 0; i < n; i++) {
        if (measure(b, w, i, &f[i], err))
            return hx_cmd_fail(cmd, "%s", err->text);
        if (f[i].checksum != f[0].checksum)
            return hx_cmd_fail(cmd, "%s %s: other bytes than the file's: checksum %016" PRIx64
                               ", not %016" PRIx64, b->path, ways[i].name, f[i].checksum,
                               f[0].checksum);
    }
    return print_report(b, w, f, n);
}

/* The computing thread leaves the reader's CPU in both ways of reading, so that they compare. */
static int part_cpus(struct bench *b, struct hx_error *err)
{
    b->cpu = hx_cpus_part(b->reader_cpu == SIZE_MAX ? -1 : (int)b->reader_cpu, err);
    CPU_ZERO(&b->own);
    if (b->cpu >= 0) {
        CPU_SET((unsigned)b->cpu, &b->own);
        return 0;
    }
    if (b->cpu != -ENODEV)
        return b->cpu;
    if (!b->no_prefetch)
        fprintf(stderr, "hexrig %s: %s: reading ahead shares it with computing\n", cmd, err->text);
    b->cpu = -1;
    return 0;
}

static int prepare(struct bench *b, struct hx_walk *w, struct hx_error *err)
{
    const size_t item = b->item_kib << 10;
    int rc = b->raw ? hx_walk_file(w, b->path, item, err) : hx_walk_model(w, b->path, item, err);

    if (!rc)
        rc = hx_walk_prepare(w, b->tokens, err);
    return rc ? rc : part_cpus(b, err);
}

int hx_bench_prefetch(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct bench b = {.slots = HX_PREFETCH_SLOTS, .passes = 8, .tokens = 64, .item_kib = 1024,
                      .reader_cpu = SIZE_MAX};
    char *shipped = NULL;
    struct hx_error err = {""};
    struct hx_walk w = {0};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &b);

    if (!rc)
        rc = hx_bench_model(cmd, &b.path, &shipped);
    if (!rc)
        rc = prepare(&b, &w, &err) ? hx_cmd_fail(cmd, "%s", err.text) : run(&b, &w, &err);
    hx_walk_free(&w);
    free(shipped);
    return rc;
}
