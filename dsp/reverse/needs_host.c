/* Looks through the undefined symbols of loaded libraries, as the loader has mapped them. */
#include "needs_host.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const ElfW(Dyn) *entry(const struct link_map *m, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = m->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d;
    return NULL;
}

/* Symbols at the table's begin among which are all undefined ones: GNU's hash table has the defined ones behind them, the older one
 * has them all. */
static uint32_t n_symbols(const struct link_map *m)
{
    const ElfW(Dyn) *gnu = entry(m, DT_GNU_HASH), *hash = entry(m, DT_HASH);

    if (gnu)
        return ((const uint32_t *)gnu->d_un.d_ptr)[1];
    return hash ? ((const uint32_t *)hash->d_un.d_ptr)[1] : 0;
}

static bool is_of_host(const char *name)
{
    static const char *const begins[] = {"apps_std_", "apps_mem_", "adspmsgd_apps_", "remote_handle_"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return strcmp(name, "fopen") == 0 || strcmp(name, "fopen64") == 0;
}

static bool wants_host(const struct link_map *m)
{
    const ElfW(Dyn) *symbols = entry(m, DT_SYMTAB), *names = entry(m, DT_STRTAB);
    const ElfW(Sym) *s = symbols ? (const ElfW(Sym) *)symbols->d_un.d_ptr : NULL;

    for (uint32_t n = s && names ? n_symbols(m) : 0; n; n--, s++)
        if (s->st_shndx == SHN_UNDEF && is_of_host((const char *)names->d_un.d_ptr + s->st_name))
            return true;
    return false;
}

/* 0, or -1: its name has no folder, or that is not to be seen from here. */
static int stat_folder(const struct link_map *m, struct stat *st)
{
    const char *slash = strrchr(m->l_name, '/');
    char folder[PATH_MAX];

    if (!slash || slash - m->l_name >= (int)sizeof(folder))
        return -1;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - m->l_name) + 1, m->l_name);
    return stat(folder, st);
}

static bool are_neighbours(const struct link_map *a, const struct link_map *b)
{
    struct stat of_a, of_b;

    return !stat_folder(a, &of_a) && !stat_folder(b, &of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool hx_needs_host(void *dl)
{
    struct link_map *skel, *m;

    if (dlinfo(dl, RTLD_DI_LINKMAP, &skel))
        return false;
    if (wants_host(skel))
        return true;
    /* what a library needs is behind it in the loader's list */
    for (m = skel->l_next; m; m = m->l_next)
        if (wants_host(m) && are_neighbours(skel, m))
            return true;
    return false;
}
