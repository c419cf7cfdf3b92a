/* Which CPU a background thread gets, apart from those that compute, and where memory lies on a machine with several
 * NUMA nodes. */
#ifndef HX_CPUS_H
#define HX_CPUS_H

#include <sched.h>
#include <stddef.h>

#include "error.h"

struct hx_cpu {
    int id;            /* as in sched_setaffinity() */
    int node;          /* NUMA node; 0 on a machine with one */
    unsigned capacity; /* 1024 = the machine's fastest; less on the little cores of an Arm machine */
};

/* The CPU for a background thread out of cpus[n], of which the caller runs on `here`: another one; on the same node,
 * if there is one; then the least capable, which a compute thread misses least; then the highest number.  -1: there is
 * no other. */
int hx_cpus_choose(const struct hx_cpu *cpus, size_t n, int here);

/* Parts the CPUs that the calling thread may use: one, `want` or (-1) the one that hx_cpus_choose() names, is taken
 * away from the calling thread and from those that it starts later.  Returns that CPU; -ENODEV with a reason when the
 * thread may use one CPU alone; -EINVAL when it may not use `want`; other negative errno. */
int hx_cpus_part(int want, struct hx_error *err);

/* CPUs as a list, "0-3,6", all of which the calling thread may use.  0; -EINVAL with a reason that names the CPU or the word. */
int hx_cpus_parse(cpu_set_t *out, const char *list, struct hx_error *err);

/* The same list of a set, cut to fit out[n]; "none" of an empty one.  Returns out. */
const char *hx_cpus_text(const cpu_set_t *set, char *out, size_t n);

/* Asks for the pages of p[bytes] (page-aligned, not touched yet) on the NUMA node that the calling thread runs
 * on.  Nothing happens on a machine with one node. */
void hx_cpus_place_near(void *p, size_t bytes);

#endif
