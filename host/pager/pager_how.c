/* Who reads ahead, and from what: buffers made like that, and what they tell. */
#include "pager_how.h"

#include "base/cpus.h"

struct hx_prefetch_cfg hx_pager_buffer(const struct hx_pager_how *how)
{
    return (struct hx_prefetch_cfg){
        .slots = HX_PREFETCH_SLOTS,
        .wake = HX_PREFETCH_SLOTS / 2,
        .no_reader = how->no_oracle,
        .cpus = how->cpus,
        .from = how->from_disk ? HX_PREFETCH_FROM_DISK : HX_PREFETCH_FROM_FILE,
        .storage = how->storage,
    };
}

static const char *storage_name(const struct hx_pager_how *how)
{
    return hx_storage_is_modelled(&how->storage) ? "profile" : how->from_disk ? "disk" : "file";
}

static json_t *ratio(double a, double b)
{
    return b > 0 ? json_real(a / b) : json_null();
}

/* Percentiles in microseconds; NULL, so no number: nothing was counted. */
static json_t *times(const struct hx_hist *h)
{
    if (!h->n)
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "p50", 1e-3 * (double)hx_hist_percentile(h, 500), "p99",
                     1e-3 * (double)hx_hist_percentile(h, 990), "max", 1e-3 * (double)h->max);
}

static int add_counts(json_t *j, const struct hx_prefetch_stats *s)
{
    json_t *more = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:f, s:f, s:o}", "fetches",
                             (json_int_t)s->gets, "hits", (json_int_t)s->hits, "late", (json_int_t)s->late, "misses",
                             (json_int_t)s->misses, "failed", (json_int_t)s->failed, "wrong", (json_int_t)s->wrong, "dropped",
                             (json_int_t)s->dropped, "bytes_read", (json_int_t)s->bytes_read, "hit_rate",
                             ratio((double)s->hits, (double)s->gets), "hit_us", times(&s->hit_stall), "miss_us",
                             times(&s->miss_stall), "read_us", times(&s->read), "stall_s", 1e-9 * (double)s->stall.sum, "read_s",
                             1e-9 * (double)s->read.sum, "stall_ratio", ratio((double)s->read.sum, (double)s->stall.sum));
    int rc = more ? json_object_update(j, more) : -1;

    json_decref(more);
    return rc;
}

int hx_pager_how_report(const struct hx_pager_how *how, const struct hx_prefetch_stats *s, json_t *j)
{
    char cpus[64] = "any";

    if (how->cpus)
        hx_cpus_text(how->cpus, cpus, sizeof(cpus));
    if (json_object_set_new(j, "oracle_cpus", json_string(how->no_oracle ? "none" : cpus)) ||
        json_object_set_new(j, "storage", json_string(storage_name(how))))
        return -1;
    return add_counts(j, s);
}
