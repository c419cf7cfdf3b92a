/* Skels loaded into this PD: finding a library by URI, its entry point, handles that are not reused soon. */
#include "module.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "base/machine.h"
#include "cost/blocks.h"
#include "cost/pending.h"
#include "cost/uncosted.h"
#include "fastrpc_uapi.h"
#include "hx_stage.h"
#include "interfaces.h"
#include "reverse/host_calls.h"
#include "reverse/needs_host.h"

/* A handle is FIRST_HANDLE + entry + MODULES_MAX * how often the entry was used: a closed number comes back after HANDLE_USES
 * opens of that entry.  All lie above 0xff..0x200, which the open FastRPC library takes for handles of static PDs. */
enum { MODULES_MAX = 256, FIRST_HANDLE = 0x10000, HANDLE_USES = 1 << 22 };

/* An entry point is of one of two kinds.  `handle_invoke` serves an interface that derives from remote_handle64: methods 0 and 1
 * are open and close.  `invoke` serves one without handles: nothing is called when it is opened. */
struct module {
    void *dl; /* NULL = free entry */
    hx_skel_handle_invoke handle_invoke;
    hx_skel_invoke invoke;
    remote_handle64 h; /* what the skel's open() gave */
    unsigned number;   /* of uncosted.h */
    unsigned interface; /* of interfaces.h */
    unsigned calls;    /* in flight; an entry closes only at 0 */
};

/* What a name asks for. */
struct request {
    char lib[256], symbol[256];
    int has_handle;
    int is_entry; /* the symbol has the name of an entry point */
};

/* Libraries that hexrig-dsp itself is, by their published names: dsp/queue/dspqueue_service.c, dsp/reverse/default_listener.c. */
static const char *const built_in[] = {"libdspqueue_rpc_skel.so", "libadsp_default_listener_skel.so",
                                       "libadsp_default_listener1_skel.so"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects modules[] */
static struct module modules[MODULES_MAX];
static uint32_t uses[MODULES_MAX]; /* of the entry, below HANDLE_USES; under lock */
static char search_path[4096];

void hx_module_set_path(const char *path)
{
    snprintf(search_path, sizeof(search_path), "%s", path);
}

const char *hx_module_path(void)
{
    return search_path;
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

static bool is_built_in(const char *lib)
{
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
        if (strcmp(lib, built_in[i]) == 0)
            return true;
    return false;
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

enum { PATH_STEP = 256 };

/* The same path with so many slashes before the library's name that its length is a multiple of PATH_STEP.  The loader keeps paths on the
 * heap, so a skel's memory would lie on other lines, and cost something else, in a folder with a longer name. */
static void widen(const char *path, char wide[])
{
    const size_t folder = (size_t)(strrchr(path, '/') - path), fill = PATH_STEP - strlen(path) % PATH_STEP;

    memcpy(wide, path, folder);
    memset(wide + folder, '/', fill);
    strcpy(wide + folder + fill, path + folder);
}

/* What widen() did, undone in a text with such a path. */
static void narrow(char *text)
{
    char *to = text;

    for (const char *p = text; *p; p++)
        if (*p != '/' || p == text || p[-1] != '/')
            *to++ = *p;
    *to = '\0';
}

static int ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

/* `&_modver=1.0` in the URI.  As in the open library, a beginning of "1.0" will do. */
static int says_modver(const char *uri)
{
    static const char key[] = "&_modver=", version[] = "1.0";
    const char *p = strstr(uri, key);
    size_t n;

    if (!p)
        return 0;
    p += sizeof(key) - 1;
    n = strcspn(p, "&");
    return n > 0 && n < sizeof(version) && strncmp(p, version, n) == 0;
}

/* The names that IDL compilers give to entry points, NAME_skel_handle_invoke and NAME_skel_invoke, say also which kind they are of.
 * NAME need not be the library's: libggml-htp-v69.so has htp_iface_skel_handle_invoke.  0, or -1: a name of neither kind. */
static int kind_of(const char *symbol, int *has_handle)
{
    static const char *const ends[] = {"_skel_invoke", "_skel_handle_invoke"};

    for (int i = 0; i < 2; i++)
        if (ends_with(symbol, ends[i]) && strlen(symbol) > strlen(ends[i])) {
            *has_handle = i;
            return 0;
        }
    return -1;
}

/* The function `symbol` that the library itself defines.  dlsym() goes on in what the library needs, and would find any
 * function there is. */
static void *entry_in(void *dl, const char *symbol)
{
    void *entry = dlsym(dl, symbol);
    struct link_map *of_entry = NULL, *of_library = NULL;
    Dl_info info;

    if (!entry || !dladdr1(entry, &info, (void **)&of_entry, RTLD_DL_LINKMAP) ||
        dlinfo(dl, RTLD_DI_LINKMAP, &of_library))
        return NULL;
    return of_entry == of_library ? entry : NULL;
}

/* The architecture that the skel says it was compiled for, when this DSP is an earlier one; else 0. */
static unsigned too_new(void *dl)
{
    const unsigned *arch = dlsym(dl, "hx_skel_arch");

    return arch && *arch > hx_machine->arch ? *arch : 0;
}

/* A URI, or what the stub of an interface without handles opens: the interface's bare name. */
static int parse(const char *name, struct request *r)
{
    size_t n = strlen(name);

    if (hx_module_parse_uri(name, r->lib, sizeof(r->lib), r->symbol, sizeof(r->symbol)) == 0) {
        r->is_entry = kind_of(r->symbol, &r->has_handle) == 0;
        if (r->is_entry && r->has_handle != says_modver(name))
            FARF(ERROR, "%s: a device would take %s for the other kind of entry point, by its _modver", name,
                 r->symbol);
        return 0;
    }
    if (n == 0 || n > 200 || strpbrk(name, "/:?&"))
        return -1;
    snprintf(r->lib, sizeof(r->lib), "lib%s_skel.so", name);
    snprintf(r->symbol, sizeof(r->symbol), "%s_skel_invoke", name);
    r->has_handle = 0;
    r->is_entry = 1;
    return 0;
}

/* What the loader could not find it tells the thread, in memory of the heap that it gives back at its next error.  So where a skel's
 * memory lies would depend on which thread opened which skel. */
static void forget_errors(void)
{
    if (dlerror())
        dlerror();
}

static int load(const char *uri, struct module *m, char *why, size_t why_bytes)
{
    struct request r;
    char path[4096], wide[sizeof(path) + PATH_STEP] = "";
    void *entry;
    int replaced = 0;

    if (parse(uri, &r)) {
        snprintf(why, why_bytes, "'%.200s' is not file:///libNAME_skel.so?SYMBOL&..., nor a name", uri);
        return AEE_DSP(AEE_EBADPARM);
    }
    if (is_built_in(r.lib)) {
        snprintf(path, sizeof(path), "%s (built in)", r.lib);
    } else if (find(r.lib, path, sizeof(path))) {
        snprintf(why, why_bytes, "%s is in none of: %.150s", r.lib, search_path);
        return AEE_DSP(AEE_EUNABLETOLOAD);
    }
    if (!r.is_entry) {
        snprintf(why, why_bytes, "%s: %s is not NAME_skel_invoke or NAME_skel_handle_invoke", path, r.symbol);
        return AEE_DSP(AEE_ENOSUCHSYMBOL);
    }
    if (!is_built_in(r.lib))
        widen(path, wide);
    m->dl = dlopen(*wide ? wide : NULL, RTLD_NOW | RTLD_LOCAL);
    if (!m->dl) {
        snprintf(wide, sizeof(wide), "%s", dlerror());
        narrow(wide);
        snprintf(why, why_bytes, "%s", wide);
        return AEE_DSP(AEE_EUNABLETOLOAD);
    }
    if (too_new(m->dl)) {
        snprintf(why, why_bytes, "%s is compiled for V%u (HEXRIG_HVX_ARCH, HEXRIG_HVX_IEEE), this DSP is a V%u: profile v73-hmx is one",
                 path, too_new(m->dl), hx_machine->arch);
        return AEE_DSP(AEE_EUNABLETOLOAD);
    }
    if (*wide && hx_host_must_be_asked() && hx_needs_host(m->dl)) {
        snprintf(why, why_bytes, "%s calls its host, which has no listener yet", path);
        return HX_LISTEN_FIRST;
    }
    if (*wide)
        m->number = hx_uncosted_module(m->dl, r.lib, &replaced);
    if (replaced)
        hx_blocks_forget();
    entry = entry_in(m->dl, r.symbol);
    if (!entry) {
        snprintf(why, why_bytes, "%s has no symbol %s", path, r.symbol);
        return AEE_DSP(AEE_ENOSUCHSYMBOL);
    }
    if (r.has_handle)
        *(void **)&m->handle_invoke = entry;
    else
        *(void **)&m->invoke = entry;
    m->interface = hx_interface_number(m->dl, r.lib, r.symbol);
    forget_errors();
    return AEE_SUCCESS;
}

/* Method 0 of every remote_handle64 interface: in { u32 length, uri }, out handle. */
static int skel_open(struct module *m, const char *uri)
{
    uint32_t len = (uint32_t)strlen(uri) + 1;
    remote_arg pra[3] = {{.buf = {&len, sizeof(len)}}, {.buf = {(void *)uri, len}}, {.h64 = 0}};

    if (!m->handle_invoke)
        return AEE_SUCCESS;
    int rc = m->handle_invoke(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), pra);
    m->h = pra[2].h64;
    return rc;
}

static int skel_close(const struct module *m)
{
    remote_arg pra[1] = {{.h64 = m->h}};

    return m->handle_invoke ? m->handle_invoke(0, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), pra)
                            : AEE_SUCCESS;
}

/* Under lock: the entry that `handle` names now, or -1. */
static int entry_of(uint32_t handle)
{
    uint32_t n = handle - FIRST_HANDLE, i = n % MODULES_MAX;

    return handle >= FIRST_HANDLE && modules[i].dl && uses[i] == n / MODULES_MAX ? (int)i : -1;
}

static int publish(const struct module *m, uint32_t *handle)
{
    int slot = -1;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MODULES_MAX && slot < 0; i++)
        if (!modules[i].dl)
            slot = i;
    if (slot >= 0) {
        uses[slot] = (uses[slot] + 1) % HANDLE_USES;
        modules[slot] = *m;
        *handle = FIRST_HANDLE + (uint32_t)slot + MODULES_MAX * uses[slot];
    }
    pthread_mutex_unlock(&lock);
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

    pthread_mutex_lock(&lock);
    int i = entry_of(handle);
    if (i >= 0) {
        m = &modules[i];
        m->calls++; /* put in hx_module_invoke() */
    }
    pthread_mutex_unlock(&lock);
    return m;
}

int hx_module_invoke(uint32_t handle, uint32_t sc, remote_arg *pra, uint16_t *interface)
{
    struct module *m = get(handle);
    int rc;

    if (!m)
        return AEE_DSP(AEE_EINVHANDLE);
    *interface = (uint16_t)m->interface;
    hx_stage_at("pd.method.call");
    hx_cost_in_function(m->number);
    hx_uncosted_call_begin(m->number);
    rc = m->handle_invoke ? m->handle_invoke(m->h, sc, pra) : m->invoke(sc, pra);
    hx_stage_at("pd.method.returned");
    pthread_mutex_lock(&lock);
    m->calls--;
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_module_close(uint32_t handle)
{
    struct module m = {0};
    int rc = AEE_DSP(AEE_EINVHANDLE);

    pthread_mutex_lock(&lock);
    int i = entry_of(handle);
    if (i >= 0 && modules[i].calls) {
        rc = AEE_DSP(AEE_EITEMBUSY);
    } else if (i >= 0) {
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
