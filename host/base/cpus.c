/* CPUs and NUMA nodes, see cpus.h. */
#include "cpus.h"

#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_CAPACITY = 1024 };

static int several_nodes(void)
{
    return numa_available() >= 0 && numa_num_configured_nodes() > 1;
}

static int node_of(int cpu)
{
    int node = several_nodes() ? numa_node_of_cpu(cpu) : 0;

    return node < 0 ? 0 : node;
}

/* Linux tells it on machines whose cores differ. */
static unsigned capacity_of(int cpu)
{
    unsigned capacity = FULL_CAPACITY;
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
    f = fopen(path, "re");
    if (!f)
        return FULL_CAPACITY;
    if (fscanf(f, "%u", &capacity) != 1)
        capacity = FULL_CAPACITY;
    fclose(f);
    return capacity;
}

/* 1 when a is the better CPU for a background thread whose partner runs on `node`. */
static int better(const struct hx_cpu *a, const struct hx_cpu *b, int node)
{
    if ((a->node == node) != (b->node == node))
        return a->node == node;
    if (a->capacity != b->capacity)
        return a->capacity < b->capacity;
    return a->id > b->id;
}

int hx_cpus_choose(const struct hx_cpu *cpus, size_t n, int here)
{
    const struct hx_cpu *best = NULL;
    int node = 0;

    for (size_t i = 0; i < n; i++)
        if (cpus[i].id == here)
            node = cpus[i].node;
    for (size_t i = 0; i < n; i++)
        if (cpus[i].id != here && (!best || better(&cpus[i], best, node)))
            best = &cpus[i];
    return best ? best->id : -1;
}

static int choose_of(const cpu_set_t *allowed)
{
    struct hx_cpu cpus[CPU_SETSIZE];
    size_t n = 0;

    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, allowed))
            cpus[n++] = (struct hx_cpu){i, node_of(i), capacity_of(i)};
    return hx_cpus_choose(cpus, n, sched_getcpu());
}

int hx_cpus_part(int want, struct hx_error *err)
{
    cpu_set_t set;
    int cpu;

    if (sched_getaffinity(0, sizeof(set), &set))
        return hx_error_set(err, -errno, "sched_getaffinity: %s", strerror(errno));
    if (want >= CPU_SETSIZE || (want >= 0 && !CPU_ISSET(want, &set)))
        return hx_error_set(err, -EINVAL, "CPU %d is not among those that this process may use", want);
    if (CPU_COUNT(&set) < 2)
        return hx_error_set(err, -ENODEV, "this process may use one CPU alone");
    cpu = want >= 0 ? want : choose_of(&set);
    CPU_CLR(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        return hx_error_set(err, -errno, "sched_setaffinity: %s", strerror(errno));
    return cpu;
}

/* --- lists */

/* "N" or "N-M" at *at, which goes on behind it. */
static int parse_range(const char **at, unsigned long *first, unsigned long *last)
{
    char *end;

    if (**at < '0' || **at > '9')
        return -EINVAL;
    *first = *last = strtoul(*at, &end, 10);
    if (*end == '-') {
        *at = end + 1;
        if (**at < '0' || **at > '9')
            return -EINVAL;
        *last = strtoul(*at, &end, 10);
    }
    *at = end;
    return *first <= *last && (*end == ',' || !*end) ? 0 : -EINVAL;
}

int hx_cpus_parse(cpu_set_t *out, const char *list, struct hx_error *err)
{
    unsigned long first, last;
    const char *at = list;
    cpu_set_t mine;

    if (sched_getaffinity(0, sizeof(mine), &mine))
        return hx_error_set(err, -errno, "sched_getaffinity: %s", strerror(errno));
    CPU_ZERO(out);
    do {
        if (parse_range(&at, &first, &last))
            return hx_error_set(err, -EINVAL, "'%.64s' is no list of CPUs, such as 0-3,6", list);
        for (; first <= last; first++) {
            if (first >= CPU_SETSIZE || !CPU_ISSET(first, &mine))
                return hx_error_set(err, -EINVAL, "CPU %lu is not among those that this process may use", first);
            CPU_SET(first, out);
        }
    } while (*at++ == ',');
    return 0;
}

const char *hx_cpus_text(const cpu_set_t *set, char *out, size_t n)
{
    size_t used = 0;

    snprintf(out, n, "none");
    for (int cpu = 0; cpu < CPU_SETSIZE && used < n; cpu++) {
        const int first = cpu;

        if (!CPU_ISSET(cpu, set))
            continue;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
            cpu++;
        used += (size_t)snprintf(out + used, n - used, "%s%d", used ? "," : "", first);
        if (cpu > first && used < n)
            used += (size_t)snprintf(out + used, n - used, "-%d", cpu);
    }
    return out;
}

/* --- memory */

void hx_cpus_place_near(void *p, size_t bytes)
{
    int cpu = sched_getcpu();

    if (cpu < 0 || !several_nodes())
        return;
    numa_set_bind_policy(0); /* a full node is no reason to fail */
    numa_tonode_memory(p, bytes, node_of(cpu));
}
