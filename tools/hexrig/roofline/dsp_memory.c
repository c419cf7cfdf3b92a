/* Reads the node `vtcm` and the maps of the rig's user PDs. */
#include "dsp_memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_rig.h"

/* Sum of the numbers behind `key` in a text. */
static int64_t sum_of(const char *text, const char *key)
{
    int64_t sum = 0;

    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key))
        sum += strtoll(at + strlen(key), NULL, 10);
    return sum;
}

static int node_sum(const char *node, const char *key, int64_t *out)
{
    char *text = NULL;
    int rc = hx_rig_read(NULL, node, &text);

    if (!rc)
        *out = sum_of(text, key);
    free(text);
    return rc;
}

/* Buffers are files in memory; those of the rig itself are not the DSP's. */
static int is_buffer(const char *name)
{
    static const char *const own[] = {"/memfd:hexrig-rings", "/memfd:hexrig-arena", "/memfd:hexrig-vtcm"};

    if (strncmp(name, "/memfd:", 7) != 0)
        return 0;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return 0;
    return 1;
}

/* Adds what is resident of one PD. */
static int add_pd(struct hx_dsp_memory *m, int pid)
{
    char path[64], line[512], name[256] = "";
    int64_t kib;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    while (fgets(line, sizeof(line), f)) {
        unsigned long from, to;

        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255[^\n]", &from, &to, name) >= 2) {
            if (!strchr(line, '/') && !strchr(line, '['))
                name[0] = '\0';
        } else if (sscanf(line, "Rss: %" SCNd64, &kib) == 1) {
            if (is_buffer(name))
                m->buffer_bytes += kib << 10;
            else if (strcmp(name, "[heap]") == 0)
                m->heap_bytes += kib << 10;
        }
    }
    fclose(f);
    m->pds++;
    return 0;
}

/* 1 when the process is a user PD of this DSP. */
static int is_pd(int pid, int64_t dsp)
{
    char path[64], name[32] = "";
    int parent = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f || fscanf(f, "%*d (%31[^)]) %*c %d", name, &parent) != 2)
        parent = 0;
    if (f)
        fclose(f);
    return parent == dsp && strcmp(name, "hexrig-pd") == 0;
}

int hx_dsp_memory(struct hx_dsp_memory *m)
{
    struct dirent *e;
    int64_t dsp;
    DIR *proc;
    int rc;

    memset(m, 0, sizeof(*m));
    rc = node_sum("vtcm", "held_bytes=", &m->vtcm_bytes);
    if (!rc)
        rc = node_sum("status", "dsp_pid=", &dsp);
    if (rc)
        return rc;
    proc = opendir("/proc");
    if (!proc)
        return -errno;
    while (!rc && (e = readdir(proc)))
        if (atoi(e->d_name) > 0 && is_pd(atoi(e->d_name), dsp))
            rc = add_pd(m, atoi(e->d_name));
    closedir(proc);
    return rc;
}

uint64_t hx_host_rss(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    uint64_t pages = 0;

    if (f && fscanf(f, "%*u %" SCNu64, &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
