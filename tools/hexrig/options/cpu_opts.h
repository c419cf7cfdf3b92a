/* Which CPUs compute and which read ahead, and what stands for the phone's storage: options of the commands with an engine.
 *
 * A list of CPUs has numbers and ranges of this machine ("0-3,6") and clusters of an emulated phone with four little, three
 * middle and one big core ("mid,big").  Its eight cores are laid over the CPUs that this process may use, in their order: one each
 * where there are eight; where there are fewer, neighbours share one.  This machine's CPUs are no slower for that: what a
 * cluster's capacity makes of the time is modelled (hx_cpu_opts_report()). */
#ifndef HX_CPU_OPTS_H
#define HX_CPU_OPTS_H

#include <jansson.h>
#include <sched.h>

#include "pager/pager.h"

struct hx_cpu_opts {
    const char *model;   /* --model-cpus; NULL: not given */
    const char *oracle;  /* --oracle-cpus, likewise */
    size_t storage;      /* --storage: index of hx_storage_names */
    int storage_given;
    /* made by hx_cpu_opts_place(): */
    int no_oracle, pinned;
    cpu_set_t model_set, oracle_set; /* the latter when pinned */
    double model_capacity, oracle_capacity; /* mean of the cores that were named by cluster, of 1024; 0: none was */
    struct hx_storage modelled;
};

extern const char *const hx_storage_names[]; /* "file", "disk", "profile", NULL */

/* What is said where nothing is paged.  Returns an enum hx_exit. */
int hx_cpu_opts_check(const struct hx_cpu_opts *o, const char *cmd, int pages);

/* Puts this process on the CPUs that compute, and chooses those of the oracle.  pages: there is one.  profile: NULL: the
 * default.  Before threads and rigs are started.  Returns an enum hx_exit. */
int hx_cpu_opts_place(struct hx_cpu_opts *o, const char *cmd, int pages, const char *profile);

/* For the engine; borrows o. */
struct hx_pager_how hx_cpu_opts_how(const struct hx_cpu_opts *o);

/* Adds "model_cpus" where it was given. */
int hx_cpu_opts_report(const struct hx_cpu_opts *o, json_t *j);

/* What the emulated phone would make of n tokens that took host_s here, with what the pager did meanwhile (zeros: there is none).
 * Computing takes as much longer as its cores have less than full capacity, and so does the oracle's part of reading; of both, and
 * of the bytes over the modelled storage, the longest counts.  Without an oracle its waits come on top of computing.  NULL: no
 * cluster was named for the CPUs that compute, or out of memory. */
json_t *hx_cpu_opts_emulated(const struct hx_cpu_opts *o, double n, double host_s, const struct hx_pager_sums *sums);

#endif
