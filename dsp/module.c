/* Skels loaded into this PD, see module.h. */
#include "module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastrpc_uapi.h"

/* Above 0xff..0x200, which the open FastRPC library takes for handles of static PDs. */
enum { MODULES_MAX = 256, FIRST_HANDLE = 0x10000 };

struct module {
    void *dl;              /* NULL = free entry */
    hx_skel_invoke invoke; /* the skel's entry point */
    remote_handle64 h;     /* what its open() gave */
    unsigned calls;        /* in flight; an entry closes only at 0 */
};

/* The published name of the library behind dspqueue. */
#define QUEUE_SKEL "libdspqueue_rpc_skel.so"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects modules[] */
static struct module modules[MODULES_MAX];
static char search_path[4096];

void hx_module_set_path(const char *path)
{
    snprintf(search_path, sizeof(search_path), "%s", path);
}

int hx_module_parse_uri(const char *uri, char *lib, size_t lib_bytes, char *symbol,
                        size_t symbol_bytes)
{
    static const char scheme[] = "file:///";
    const char *name, *mark, *end;

    if (strncmp(uri, scheme, sizeof(scheme) - 1) != 0)
        return -1;
    name = uri + sizeof(scheme) - 1;
    mark = strchr(name, '?');
    if (!mark || mark == name || memchr(name, '/', (size_t)(mark - name)))
        return -1;
    end = strchr(mark, '&');
    if (!end)
        end = mark + strlen(mark);
    if ((size_t)(mark - name) >= lib_bytes || (size_t)(end - mark - 1) >= symbol_bytes ||
        end == mark + 1)
        return -1;
    snprintf(lib, lib_bytes, "%.*s", (int)(mark - name), name);
    snprintf(symbol, symbol_bytes, "%.*s", (int)(end - mark - 1), mark + 1);
    return 0;
}

/* First folder of the search path that holds `lib`; 0, or -1 when none does. */
static int find(const char *lib, char *path, size_t path_bytes)
{
    const char *p = search_path;

    while (*p) {
        size_t n = strcspn(p, ":;");

        snprintf(path, path_bytes, "%.*s/%s", (int)n, p, lib);
        if (n && access(path, R_OK) == 0)
            return 0;
        p += n + (p[n] != '\0');
    }
    return -1;
}

static int load(const char *uri, struct module *m, char *why, size_t why_bytes)
{
    char lib[256], symbol[256], path[4096];

    if (hx_module_parse_uri(uri, lib, sizeof(lib), symbol, sizeof(symbol))) {
        snprintf(why, why_bytes, "'%.200s' is not file:///libNAME_skel.so?SYMBOL&...", uri);
        return AEE_DSP(AEE_EBADPARM);
    }
    if (strcmp(lib, QUEUE_SKEL) == 0) {
        snprintf(path, sizeof(path), "%s (built in)", lib);
        m->dl = dlopen(NULL, RTLD_NOW); /* hexrig-dsp itself: dsp/dspqueue_service.c */
    } else if (find(lib, path, sizeof(path))) {
        snprintf(why, why_bytes, "%s is in none of: %.150s", lib, search_path);
        return AEE_DSP(AEE_EUNABLETOLOAD);
    } else {
        m->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!m->dl) {
        snprintf(why, why_bytes, "%s", dlerror());
        return AEE_DSP(AEE_EUNABLETOLOAD);
    }
    *(void **)&m->invoke = dlsym(m->dl, symbol);
    if (!m->invoke) {
        snprintf(why, why_bytes, "%s has no symbol %s", path, symbol);
        return AEE_DSP(AEE_ENOSUCHSYMBOL);
    }
    return AEE_SUCCESS;
}

/* Method 0 of every remote_handle64 interface: in { u32 length, uri }, out handle. */
static int skel_open(struct module *m, const char *uri)
{
    uint32_t len = (uint32_t)strlen(uri) + 1;
    remote_arg pra[3] = {{.buf = {&len, sizeof(len)}}, {.buf = {(void *)uri, len}}, {.h64 = 0}};
    int rc = m->invoke(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), pra);

    m->h = pra[2].h64;
    return rc;
}

static int skel_close(const struct module *m)
{
    remote_arg pra[1] = {{.h64 = m->h}};

    return m->invoke(0, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), pra);
}

static int publish(const struct module *m, uint32_t *handle)
{
    int slot = -1;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MODULES_MAX && slot < 0; i++)
        if (!modules[i].dl)
            slot = i;
    if (slot >= 0)
        modules[slot] = *m;
    pthread_mutex_unlock(&lock);
    *handle = FIRST_HANDLE + (uint32_t)slot;
    return slot < 0 ? AEE_DSP(AEE_ENOMORE) : AEE_SUCCESS;
}

int hx_module_open(const char *uri, uint32_t *handle, char *why, size_t why_bytes)
{
    struct module m = {0};
    int rc = load(uri, &m, why, why_bytes);

    if (rc)
        goto unload;
    rc = skel_open(&m, uri);
    if (rc) {
        snprintf(why, why_bytes, "the skel's open() returned 0x%x", (unsigned)rc);
        goto unload;
    }
    rc = publish(&m, handle);
    if (rc == AEE_SUCCESS)
        return rc;
    snprintf(why, why_bytes, "%d modules are open, the limit", MODULES_MAX);
    skel_close(&m);
unload:
    if (m.dl)
        dlclose(m.dl);
    return rc;
}

/* The open module behind `handle`, its call count raised by one; NULL when there is none. */
static struct module *get(uint32_t handle)
{
    struct module *m = NULL;
    uint32_t i = handle - FIRST_HANDLE;

    pthread_mutex_lock(&lock);
    if (i < MODULES_MAX && modules[i].dl) {
        m = &modules[i];
        m->calls++; /* put in hx_module_invoke() */
    }
    pthread_mutex_unlock(&lock);
    return m;
}

int hx_module_invoke(uint32_t handle, uint32_t sc, remote_arg *pra)
{
    struct module *m = get(handle);
    int rc;

    if (!m)
        return AEE_DSP(AEE_EINVHANDLE);
    rc = m->invoke(m->h, sc, pra);
    pthread_mutex_lock(&lock);
    m->calls--;
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_module_close(uint32_t handle)
{
    struct module m = {0};
    uint32_t i = handle - FIRST_HANDLE;
    int rc = AEE_DSP(AEE_EINVHANDLE);

    pthread_mutex_lock(&lock);
    if (i < MODULES_MAX && modules[i].dl && modules[i].calls) {
        rc = AEE_DSP(AEE_EITEMBUSY);
    } else if (i < MODULES_MAX && modules[i].dl) {
        m = modules[i];
        modules[i] = (struct module){0};
        rc = AEE_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    if (rc == AEE_SUCCESS) {
        rc = skel_close(&m);
        dlclose(m.dl);
    }
    return rc;
}
