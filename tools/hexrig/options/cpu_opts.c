/* Which CPUs compute and which read ahead, and what stands for the phone's storage. */
#include "cpu_opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "cli/cmd.h"
#include "cli/share.h"
#include "hx_profile.h"

enum { CORES = 8, FULL = 1024, FROM_FILE = 0, FROM_DISK, FROM_PROFILE };

const char *const hx_storage_names[] = {"file", "disk", "profile", NULL};

/* The phone's cores, numbered as its kernel does. */
static const struct cluster {
    const char *name;
    int first, n;
} clusters[] = {{"little", 0, 4}, {"mid", 4, 3}, {"big", 7, 1}};

static double capacity_of(const struct cluster *c, const struct hx_profile *p)
{
    return c->n == 1 ? FULL : c->first ? p->cpu_mid_capacity : p->cpu_little_capacity;
}

/* --- what was given */

int hx_cpu_opts_check(const struct hx_cpu_opts *o, const char *cmd, int pages)
{
    if (!pages && (o->oracle || o->storage_given))
        return hx_cmd_usage(cmd, "--%s needs --page-weights or --page-kv", o->oracle ? "oracle-cpus" : "storage");
    return HX_EXIT_OK;
}

/* Adds the CPUs that a cluster's cores are laid over. */
static void add_cluster(const struct cluster *c, const cpu_set_t *allowed, cpu_set_t *to)
{
    const int have = CPU_COUNT(allowed), n = have < CORES ? have : CORES;
    int at = 0; /* how many of those that may be used come before cpu */

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed))
            continue;
        for (int core = c->first; core < c->first + c->n; core++)
            if (core * n / CORES == at)
                CPU_SET(cpu, to);
        at++;
    }
}

static const struct cluster *find_cluster(const char *word)
{
    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++)
        if (strcmp(clusters[i].name, word) == 0)
            return &clusters[i];
    return NULL;
}

/* A list; *capacity: the mean over its clusters. */
static int parse(const char *list, const cpu_set_t *allowed, const struct hx_profile *p, cpu_set_t *out, double *capacity,
                 struct hx_error *err)
{
    char *copy = strdup(list), *rest = copy, *word;
    double sum = 0;
    int cores = 0, rc = copy ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    CPU_ZERO(out);
    while (!rc && (word = strsep(&rest, ","))) {
        const struct cluster *c = find_cluster(word);
        cpu_set_t some;

        if (c) {
            add_cluster(c, allowed, out);
            sum += c->n * capacity_of(c, p);
            cores += c->n;
            continue;
        }
        rc = hx_cpus_parse(&some, word, err);
        if (!rc)
            CPU_OR(out, out, &some);
    }
    free(copy);
    *capacity = cores ? sum / cores : 0;
    return rc;
}

/* --- placing */

static int read_profile(struct hx_profile *p, const char *cmd, const char *name)
{
    char *folder = hx_share("profiles"), why[256] = "out of memory";
    int rc = folder ? hx_profile_load(p, folder, name ? name : "s22u-577", why, sizeof(why)) : -ENOMEM;

    free(folder);
    return rc ? hx_cmd_fail(cmd, "%s", why) : HX_EXIT_OK;
}

/* The oracle's CPUs when none were named: those that do not compute, else one that is taken from them. */
static int choose_oracle(struct hx_cpu_opts *o, const char *cmd, const cpu_set_t *allowed, struct hx_error *err)
{
    int cpu;

    CPU_XOR(&o->oracle_set, allowed, &o->model_set); /* the latter is a part of the former */
    o->pinned = CPU_COUNT(&o->oracle_set) > 0;
    if (o->pinned || o->model) /* who names all of them wants them shared */
        return 0;
    cpu = hx_cpus_part(-1, err);
    if (cpu == -ENODEV) {
        fprintf(stderr, "hexrig %s: %s: reading ahead shares it with computing\n", cmd, err->text);
        return 0;
    }
    if (cpu < 0)
        return cpu;
    CPU_SET((unsigned)cpu, &o->oracle_set);
    o->pinned = 1;
    return 0;
}

static int place_oracle(struct hx_cpu_opts *o, const char *cmd, const cpu_set_t *allowed, const struct hx_profile *p,
                        struct hx_error *err)
{
    o->no_oracle = o->oracle && strcmp(o->oracle, "none") == 0;
    if (o->no_oracle)
        return 0;
    if (!o->oracle)
        return choose_oracle(o, cmd, allowed, err);
    o->pinned = 1;
    if (strcmp(o->oracle, "shared") != 0)
        return parse(o->oracle, allowed, p, &o->oracle_set, &o->oracle_capacity, err);
    o->oracle_set = o->model_set;
    return 0;
}

static int place_model(struct hx_cpu_opts *o, const cpu_set_t *allowed, const struct hx_profile *p, struct hx_error *err)
{
    int rc = 0;

    o->model_set = *allowed;
    if (o->model)
        rc = parse(o->model, allowed, p, &o->model_set, &o->model_capacity, err);
    return rc;
}

int hx_cpu_opts_place(struct hx_cpu_opts *o, const char *cmd, int pages, const char *profile)
{
    struct hx_error err = {""};
    struct hx_profile p = {0};
    cpu_set_t allowed;
    int rc;

    if (!pages && !o->model)
        return HX_EXIT_OK;
    rc = read_profile(&p, cmd, profile);
    if (rc)
        return rc;
    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return hx_cmd_fail(cmd, "sched_getaffinity: %s", strerror(errno));
    rc = place_model(o, &allowed, &p, &err);
    if (!rc && pages)
        rc = place_oracle(o, cmd, &allowed, &p, &err);
    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    if (o->model && sched_setaffinity(0, sizeof(o->model_set), &o->model_set))
        return hx_cmd_fail(cmd, "--model-cpus %s: %s", o->model, strerror(errno));
    if (o->storage == FROM_PROFILE)
        o->modelled = (struct hx_storage){p.storage_hit_us, p.storage_miss_us, p.storage_mb_s};
    return HX_EXIT_OK;
}

struct hx_pager_how hx_cpu_opts_how(const struct hx_cpu_opts *o)
{
    return (struct hx_pager_how){
        .no_oracle = o->no_oracle, .from_disk = o->storage == FROM_DISK, .cpus = o->pinned ? &o->oracle_set : NULL,
        .storage = o->modelled,
    };
}

/* --- reports */

int hx_cpu_opts_report(const struct hx_cpu_opts *o, json_t *j)
{
    char text[64];

    return o->model ? json_object_set_new(j, "model_cpus", json_string(hx_cpus_text(&o->model_set, text, sizeof(text)))) : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

json_t *hx_cpu_opts_emulated(const struct hx_cpu_opts *o, double n, double host_s, const struct hx_pager_sums *sums)
{
    const double oracle = o->oracle_capacity > 0 ? o->oracle_capacity : FULL;
    const double way = o->modelled.mb_s > 0 ? 1e-6 * (double)sums->bytes / o->modelled.mb_s : 0;
    double compute, read, all;

    if (o->model_capacity <= 0)
        return NULL;
    compute = (host_s - sums->stall_s) * FULL / o->model_capacity;
    read = larger(sums->read_s * FULL / oracle, way);
    all = o->no_oracle ? compute + sums->stall_s : larger(compute, read);
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "model_capacity", o->model_capacity, "oracle_capacity", oracle, "compute_s",
                     compute, "read_s", read, "tok_s", all > 0 ? n / all : 0.0);
}
