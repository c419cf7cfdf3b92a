/* Reading profile files: keys with their ranges, includes, and what two keys say together. */
#include "hx_profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_vtcm_table.h"

enum type { REAL, COUNT };

static const struct key {
    const char *name;
    enum type type;
    size_t offset;
    double min, max;
} keys[] = {
    {"dispatch_us", REAL, offsetof(struct hx_profile, dispatch_us), 1e-3, 1e9},
    {"dispatch_contains_us", REAL, offsetof(struct hx_profile, dispatch_contains_us), 0, 1e9},
    {"serial_us", REAL, offsetof(struct hx_profile, serial_us), 0, 1e6},
    {"handover_us", REAL, offsetof(struct hx_profile, handover_us), 0, 1e6},
    {"packet_us", REAL, offsetof(struct hx_profile, packet_us), 1e-3, 1e9},
    {"marshal_us_per_kib", REAL, offsetof(struct hx_profile, marshal_us_per_kib), 0, 1e6},
    {"share_us_per_buffer", REAL, offsetof(struct hx_profile, share_us_per_buffer), 0, 1e6},
    {"clock_mhz", REAL, offsetof(struct hx_profile, clock_mhz), 1, 1e5},
    {"clock_low_mhz", REAL, offsetof(struct hx_profile, clock_low_mhz), 1, 1e5},
    {"clock_levels", COUNT, offsetof(struct hx_profile, clock_levels), 1, 64},
    {"linger_us", REAL, offsetof(struct hx_profile, linger_us), 0, 1e9},
    {"linger_ratio", REAL, offsetof(struct hx_profile, linger_ratio), 0, 1e3},
    {"dsp_wake_us", REAL, offsetof(struct hx_profile, dsp_wake_us), 0, 1e9},
    {"dsp_wake_tau_us", REAL, offsetof(struct hx_profile, dsp_wake_tau_us), 1e-3, 1e9},
    {"host_cold_us", REAL, offsetof(struct hx_profile, host_cold_us), 0, 1e9},
    {"host_cold_tau_us", REAL, offsetof(struct hx_profile, host_cold_tau_us), 1e-3, 1e9},
    {"host_sleep_us", REAL, offsetof(struct hx_profile, host_sleep_us), 0, 1e9},
    {"host_sleep_after_us", REAL, offsetof(struct hx_profile, host_sleep_after_us), 0, 1e9},
    {"host_sleep_tau_us", REAL, offsetof(struct hx_profile, host_sleep_tau_us), 1e-3, 1e9},
    {"power_idle_w", REAL, offsetof(struct hx_profile, power_idle_w), 0, 1e3},
    {"power_active_w", REAL, offsetof(struct hx_profile, power_active_w), 0, 1e3},
    {"ddr_pj_per_byte", REAL, offsetof(struct hx_profile, ddr_pj_per_byte), 0, 1e6},
    {"l2_pj_per_byte", REAL, offsetof(struct hx_profile, l2_pj_per_byte), 0, 1e6},
    {"vtcm_pj_per_byte", REAL, offsetof(struct hx_profile, vtcm_pj_per_byte), 0, 1e6},
    {"hvx_pj_per_op", REAL, offsetof(struct hx_profile, hvx_pj_per_op), 0, 1e6},
    {"storage_hit_us", REAL, offsetof(struct hx_profile, storage_hit_us), 0, 1e6},
    {"storage_miss_us", REAL, offsetof(struct hx_profile, storage_miss_us), 0, 1e6},
    {"storage_mb_s", REAL, offsetof(struct hx_profile, storage_mb_s), 1, 1e6},
    {"cpu_mid_capacity", REAL, offsetof(struct hx_profile, cpu_mid_capacity), 1, 1024},
    {"cpu_little_capacity", REAL, offsetof(struct hx_profile, cpu_little_capacity), 1, 1024},
    {"rth_k_per_w", REAL, offsetof(struct hx_profile, rth_k_per_w), 0, 1e3},
    {"tau_s", REAL, offsetof(struct hx_profile, tau_s), 1e-3, 1e6},
    {"ambient_c", REAL, offsetof(struct hx_profile, ambient_c), -100, 200},
    {"throttle_c", REAL, offsetof(struct hx_profile, throttle_c), -100, 1e3},
    {"recover_c", REAL, offsetof(struct hx_profile, recover_c), -100, 1e3},
    {"throttle_ms", REAL, offsetof(struct hx_profile, throttle_ms), 1, 1e6},
    {"hvx_contexts", COUNT, offsetof(struct hx_profile, hvx_contexts), 1, 16},
    {"hw_threads", COUNT, offsetof(struct hx_profile, hw_threads), 1, 16},
    {"issue_threads", COUNT, offsetof(struct hx_profile, issue_threads), 1, 16},
    {"sessions", COUNT, offsetof(struct hx_profile, sessions), 1, 14},
    {"poll_mode", COUNT, offsetof(struct hx_profile, poll_mode), 0, 1},
    {"capabilities", COUNT, offsetof(struct hx_profile, capabilities), 0, 1},
    {"vtcm_kib", COUNT, offsetof(struct hx_profile, vtcm_kib), HX_VTCM_GRAIN >> 10, HX_VTCM_BYTES >> 10},
    {"dspqueue", COUNT, offsetof(struct hx_profile, dspqueue), 0, 1},
    {"arch", COUNT, offsetof(struct hx_profile, arch), HX_ARCH_MIN, HX_ARCH_MAX},
    {"hmx", COUNT, offsetof(struct hx_profile, hmx), 0, 1},
    {"packet_pcycles", REAL, offsetof(struct hx_profile, cost.packet_pcycles), 0.1, 100},
    {"load_pcycles", REAL, offsetof(struct hx_profile, cost.load_pcycles), 0, 1e3},
    {"mpy_pcycles", REAL, offsetof(struct hx_profile, cost.mpy_pcycles), 0, 1e3},
    {"hvx_pcycles", REAL, offsetof(struct hx_profile, cost.hvx_pcycles), 0, 1e3},
    {"vtcm_pcycles", REAL, offsetof(struct hx_profile, cost.vtcm_pcycles), 0, 1e4},
    {"l2_pcycles", REAL, offsetof(struct hx_profile, cost.l2_pcycles), 0, 1e4},
    {"ddr_pcycles", REAL, offsetof(struct hx_profile, cost.ddr_pcycles), 0, 1e5},
    {"dma_setup_pcycles", REAL, offsetof(struct hx_profile, cost.dma_setup_pcycles), 0, 1e6},
    {"dma_bytes_per_pcycle", REAL, offsetof(struct hx_profile, cost.dma_bytes_per_pcycle), 0.01, 1e3},
    {"vtcm_request_pcycles", REAL, offsetof(struct hx_profile, cost.vtcm_request_pcycles), 0, 1e9},
    {"vtcm_release_pcycles", REAL, offsetof(struct hx_profile, cost.vtcm_release_pcycles), 0, 1e9},
    {"handoff_pcycles", REAL, offsetof(struct hx_profile, cost.handoff_pcycles), 0, 1e9},
    {"l1_kib", COUNT, offsetof(struct hx_profile, cost.l1_kib), 1, 1024},
    {"l2_kib", COUNT, offsetof(struct hx_profile, cost.l2_kib), 1, 65536},
    {"spill_pcycles", REAL, offsetof(struct hx_profile, cost.spill_pcycles), 0, 1e9},
    {"l2_vector_pcycles", REAL, offsetof(struct hx_profile, cost.l2_vector_pcycles), 0, 1e4},
    {"vtcm_scalar_pcycles", REAL, offsetof(struct hx_profile, cost.vtcm_scalar_pcycles), 0, 1e4},
    {"ddr_line_pcycles", REAL, offsetof(struct hx_profile, cost.ddr_line_pcycles), 0, 1e5},
    {"ddr_thread_pcycles", REAL, offsetof(struct hx_profile, cost.ddr_thread_pcycles), 0, 1e5},
    {"ddr_page_pcycles", REAL, offsetof(struct hx_profile, cost.ddr_page_pcycles), 0, 1e6},
    {"ddr_pages", COUNT, offsetof(struct hx_profile, cost.ddr_pages), 1, 65536},
    {"ddr_cold", REAL, offsetof(struct hx_profile, cost.ddr_cold), 1, 100},
    {"ddr_cold_us", REAL, offsetof(struct hx_profile, cost.ddr_cold_us), 0, 1e9},
    {"hmx_tile_pcycles", REAL, offsetof(struct hx_profile, cost.hmx_tile_pcycles), 0, 1e6},
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Keys of earlier releases, and what has taken their place. */
static const struct {
    const char *name, *now;
} gone[] = {
    {"wake_us", "dsp_wake_us, and dsp_wake_tau_us says how soon it is due"},
    {"nap_us", "linger_ratio, which says for how long a DSP that has worked stays awake"},
};

static char *trim(char *s)
{
    size_t n;

    while (isspace((unsigned char)*s))
        s++;
    n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s;
}

static int find_key(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return (int)i;
    return -1;
}

static void put(struct hx_profile *p, const struct key *k, double v)
{
    if (k->type == COUNT)
        *(unsigned *)((char *)p + k->offset) = (unsigned)v;
    else
        *(double *)((char *)p + k->offset) = v;
}

static int store(struct hx_profile *p, const struct key *k, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= k->min && v <= k->max))
        return -EINVAL;
    if (k->type == COUNT && v != (double)(unsigned)v)
        return -EINVAL;
    put(p, k, v);
    return 0;
}

struct reader {
    struct hx_profile *p;
    const char *dir; /* of the shipped profiles */
    char seen[N_KEYS];
    char (*notes)[HX_PROFILE_NOTE]; /* [N_KEYS], or NULL */
    char *why;
    size_t why_bytes;
};

static int unknown_key(struct reader *r, const char *path, unsigned number, const char *name)
{
    snprintf(r->why, r->why_bytes, "%s:%u: unknown key '%s'", path, number, name);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (strcmp(gone[i].name, name) == 0)
            snprintf(r->why, r->why_bytes, "%s:%u: key '%s' is now %s", path, number, name, gone[i].now);
    return -EINVAL;
}

static int read_file(struct reader *r, const char *path, int depth);

/* `include = FILE`, FILE beside the profile or where the shipped ones are: figures that profiles share. */
static int include(struct reader *r, const char *path, unsigned number, const char *file, int depth)
{
    char sibling[4096];
    const char *slash = strrchr(path, '/');
    size_t n = strlen(file);

    if (depth > 0 || strchr(file, '/') || n < 4 || strcmp(file + n - 4, ".inc")) {
        snprintf(r->why, r->why_bytes,
                 "%s:%u: include = '%s' is no NAME.inc in the same folder, or inside one", path,
                 number, file);
        return -EINVAL;
    }
    snprintf(sibling, sizeof(sibling), "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, file);
    if (access(sibling, F_OK))
        snprintf(sibling, sizeof(sibling), "%s/%s", r->dir, file);
    if (access(sibling, R_OK)) {
        snprintf(r->why, r->why_bytes, "%s:%u: include = '%s': %s: %s", path, number, file, sibling, strerror(errno));
        return -EINVAL;
    }
    return read_file(r, sibling, depth + 1) ? -EINVAL : 0;
}

static int read_line(struct reader *r, char *line, const char *path, unsigned number, int depth)
{
    char *hash = strchr(line, '#'), *note = hash ? trim(hash + 1) : "", *text, *eq, *name, *value;
    int k;

    if (hash)
        *hash = '\0';
    text = trim(line);
    eq = strchr(text, '=');
    if (!*text)
        return 0;
    if (!eq) {
        snprintf(r->why, r->why_bytes, "%s:%u: '%s' is not `key = value`", path, number, text);
        return -EINVAL;
    }
    *eq = '\0';
    name = trim(text);
    value = trim(eq + 1);
    if (strcmp(name, "include") == 0)
        return include(r, path, number, value, depth);
    k = find_key(name);
    if (k < 0)
        return unknown_key(r, path, number, name);
    if (store(r->p, &keys[k], value)) {
        snprintf(r->why, r->why_bytes, "%s:%u: %s = '%s', legal is %g..%g", path, number, name,
                 value, keys[k].min, keys[k].max);
        return -EINVAL;
    }
    r->seen[k] = 1;
    if (r->notes)
        snprintf(r->notes[k], sizeof(r->notes[k]), "%s", note);
    return 0;
}

static int read_file(struct reader *r, const char *path, int depth)
{
    char line[512];
    unsigned number = 0;
    FILE *f = fopen(path, "re");
    int rc = 0;

    if (!f) {
        rc = -errno;
        snprintf(r->why, r->why_bytes, "profile: %s: %s", path, strerror(-rc));
        return rc;
    }
    while (!rc && fgets(line, sizeof(line), f))
        rc = read_line(r, line, path, ++number, depth);
    if (!rc && ferror(f)) { /* a folder, say */
        rc = -errno;
        snprintf(r->why, r->why_bytes, "profile: %s: %s", path, strerror(errno));
    }
    fclose(f);
    return rc;
}

static int all_there(const struct reader *r, const char *path)
{
    for (size_t k = 0; k < N_KEYS; k++)
        if (!r->seen[k]) {
            snprintf(r->why, r->why_bytes, "%s: key '%s' is missing", path, keys[k].name);
            return -EINVAL;
        }
    return 0;
}

/* What two keys say together. */
static int fits(const struct reader *r, const char *path)
{
    const struct hx_profile *p = r->p;

    const struct {
        bool is_bad;
        const char *why;
    } rules[] = {
        {p->recover_c > p->throttle_c, "recover_c is above throttle_c"},
        {p->clock_low_mhz > p->clock_mhz, "clock_low_mhz is above clock_mhz"},
        {p->dispatch_contains_us >= p->dispatch_us, "dispatch_contains_us is not below dispatch_us"},
        {p->arch != HX_ARCH_MIN && p->arch != HX_ARCH_MAX, "arch is neither 69 nor 73"},
        {p->vtcm_kib % (HX_VTCM_GRAIN >> 10) != 0, "vtcm_kib is not a multiple of 256, VTCM's smallest page"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].is_bad) {
            snprintf(r->why, r->why_bytes, "%s: %s", path, rules[i].why);
            return -EINVAL;
        }
    return 0;
}

static void set_name(struct hx_profile *p, const char *path)
{
    const char *base = strrchr(path, '/');

    snprintf(p->name, sizeof(p->name), "%.63s", base ? base + 1 : path);
    char *dot = strrchr(p->name, '.');
    if (dot && strcmp(dot, ".conf") == 0)
        *dot = '\0';
}

int hx_profile_load_notes(struct hx_profile *p, char (*notes)[HX_PROFILE_NOTE], const char *dir, const char *name,
                          char *why, size_t why_bytes)
{
    size_t n = strlen(name);
    int is_path = strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".conf") == 0);
    struct reader r = {.p = p, .dir = dir, .notes = notes, .why = why, .why_bytes = why_bytes};
    char path[4096];
    int rc;

    if (is_path)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s.conf", dir, name);
    memset(p, 0, sizeof(*p));
    rc = read_file(&r, path, 0);
    if (!rc)
        rc = all_there(&r, path);
    if (!rc)
        rc = fits(&r, path);
    set_name(p, path);
    return rc;
}

int hx_profile_load(struct hx_profile *p, const char *dir, const char *name, char *why, size_t why_bytes)
{
    return hx_profile_load_notes(p, NULL, dir, name, why, why_bytes);
}

/* --- key by key */

size_t hx_profile_n_keys(void)
{
    return N_KEYS;
}

const char *hx_profile_key(size_t k)
{
    return keys[k].name;
}

int hx_profile_is_count(size_t k)
{
    return keys[k].type == COUNT;
}

/* The cost model of the DSP is a struct of its own; what is left in microseconds, and for how long the DSP lingers, is of calls. */
int hx_profile_is_of_calls(size_t k)
{
    const size_t first = offsetof(struct hx_profile, cost), end = first + sizeof(struct hx_cost), at = keys[k].offset;

    return (at < first || at >= end) && (strstr(keys[k].name, "_us") || strncmp(keys[k].name, "linger", 6) == 0);
}

int hx_profile_is_of_start(size_t k)
{
    return strncmp(keys[k].name, "ddr_cold", 8) == 0;
}

double hx_profile_get(const struct hx_profile *p, size_t k)
{
    const char *at = (const char *)p + keys[k].offset;

    return keys[k].type == COUNT ? *(const unsigned *)at : *(const double *)at;
}

void hx_profile_set(struct hx_profile *p, size_t k, double value)
{
    const double legal = value < keys[k].min ? keys[k].min : value > keys[k].max ? keys[k].max : value;

    put(p, &keys[k], keys[k].type == COUNT ? legal + 0.5 : legal);
}
