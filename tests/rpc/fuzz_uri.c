/* Fuzz target: module URIs, from remote_handle64_open() to the skel that the DSP loads, and what FASTRPC_GET_URI makes of them.
 *
 * Between the real library and the real service of the DSP stands this file instead of a session.  A second reading of each URI,
 * written from docs/skel.md, says which session, which result and which of two skels have to come out; nothing outside of the search
 * path is loaded, nothing is opened that is not closed.
 *
 * Byte 0: sizes of buffers.  Then the URI: a byte below 128 is a character, others are pieces of URIs. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "fastrpc_uapi.h"
#include "hx_handle32.h"
#include "hx_pd_names.h"
#include "hx_session.h"
#include "listener.h"
#include "pd/logging.h"
#include "pd/module.h"
#include "pd/services.h"
#include "reverse/messages.h"

enum { URI_MAX = 2000, SESSIONS = 4, NEVER = -1 };
#define CLASSIC "hxt_classic"
#define CALCULATOR "libcalculator_skel.so"

int hxt_fuzz_one(const uint8_t *data, size_t n);

static const char *const pieces[] = {
    "file:///", CALCULATOR, "lib" CLASSIC "_skel.so", "?", "calculator_skel_handle_invoke", CLASSIC "_skel_invoke", "&_modver=1.0",
    "&_dom=cdsp", "&_dom=", "adsp", "&_session=", "0", "3", "4", "/", "../", "&", "=", CLASSIC, "calculator", "_skel_invoke",
    "_skel_handle_invoke", "libdspqueue_rpc_skel.so", "dspqueue_rpc", "lib", "_skel.so", "_modver", "_dom", "%s%n", ":",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static void must(int is_so, const char *what, const char *uri)
{
    if (is_so)
        return;
    fprintf(stderr, "fuzz: not so: %s: %s\n", what, uri);
    abort();
}

/* --- what stands between library and DSP -------------------------------------------------------------------------- */

static unsigned asked_session, opened;
static uint32_t open_handle;

int hx_session_get_new(unsigned index, struct hx_client_session **out)
{
    asked_session = index;
    *out = NULL;
    return AEE_SUCCESS;
}

struct hx_client_session *hx_session_get_handle(uint64_t h, uint32_t *dsp_handle)
{
    *dsp_handle = open_handle;
    return h == open_handle ? (void *)&open_handle : NULL;
}

void hx_session_put(struct hx_client_session *s)
{
    (void)s;
}

int hx_session_add_handle(struct hx_client_session *s, uint32_t dsp_handle, uint64_t *h)
{
    (void)s;
    opened++;
    *h = open_handle = dsp_handle;
    return AEE_SUCCESS;
}

void hx_session_del_handle(struct hx_client_session *s, uint32_t dsp_handle)
{
    (void)s;
    opened -= dsp_handle == open_handle;
}

void hx_session_set_serial(int serial)
{
    (void)serial;
}

int hx_session_serial_begin(void)
{
    return 0;
}

void hx_session_serial_end(int on)
{
    (void)on;
}

int hx_is_pd_name(const char *name)
{
    (void)name;
    return 0;
}

int hx_is_pd_handle(uint64_t h)
{
    (void)h;
    return 0;
}

int hx_pd_name_open(const char *name, unsigned index, remote_handle64 *h)
{
    (void)name, (void)index, (void)h;
    return AEE_EUNSUPPORTED;
}

int hx_listener_start(struct hx_client_session *s)
{
    (void)s;
    return AEE_EUNSUPPORTED;
}

/* Messages of the DSP have the URI in them. */
void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
{
    (void)compiled_in, (void)level, (void)file, (void)line, (void)fmt;
}

/* Services beside the one that opens modules; they want what hx_farf() has taken the place of. */
int hx_messages_start(const struct hx_messages_in *in, uint64_t *at_host)
{
    (void)in, (void)at_host;
    return AEE_EUNSUPPORTED;
}

int hx_messages_stop(void)
{
    return AEE_EUNSUPPORTED;
}

int hx_messages_wait(uint64_t *bytes)
{
    (void)bytes;
    return AEE_EUNSUPPORTED;
}

int hx_logging_set(uint32_t sc, const remote_arg *pra)
{
    (void)sc, (void)pra;
    return AEE_EUNSUPPORTED;
}

int hx_logging_asid(uint32_t sc, const remote_arg *pra)
{
    (void)sc, (void)pra;
    return AEE_EUNSUPPORTED;
}

/* The service gets copies that are as long as the arguments, so that one byte more is seen. */
int hx_invoke(struct hx_client_session *s, uint32_t dsp_handle, uint32_t sc, const remote_arg *pra)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n = n_in + REMOTE_SCALARS_OUTBUFS(sc);
    remote_arg copy[4];
    int rc = NEVER;

    (void)s;
    for (unsigned i = 0; i < n; i++) {
        copy[i].buf.nLen = pra[i].buf.nLen;
        copy[i].buf.pv = malloc(pra[i].buf.nLen);
        memcpy(copy[i].buf.pv, pra[i].buf.pv, pra[i].buf.nLen);
    }
    for (size_t i = 0; i < hx_n_user_services; i++)
        if (hx_user_services[i].handle == dsp_handle)
            rc = hx_user_services[i].serve(sc, copy);
    for (unsigned i = 0; i < n; i++) {
        if (i >= n_in)
            memcpy(pra[i].buf.pv, copy[i].buf.pv, pra[i].buf.nLen);
        free(copy[i].buf.pv);
    }
    return rc;
}

/* --- the second reading ------------------------------------------------------------------------------------------ */

/* Value of the first `key` among the parts of the query, its length in *n; NULL when there is none. */
static const char *value_of(const char *uri, const char *key, size_t *n)
{
    const char *part = strpbrk(uri, "?&");

    for (; part; part = strchr(part + 1, '&')) {
        size_t name = strcspn(part + 1, "=&");
        if (part[1 + name] == '=' && name == strlen(key) && memcmp(part + 1, key, name) == 0) {
            *n = strcspn(part + 2 + name, "&");
            return part + 2 + name;
        }
    }
    return NULL;
}

/* What the library says by itself; AEE_SUCCESS: it asks the DSP, of *session. */
static int read_by_library(const char *uri, unsigned *session)
{
    size_t n;
    const char *v = value_of(uri, "_dom", &n);

    *session = 0;
    if (v && (n != 4 || memcmp(v, "cdsp", 4) != 0)) {
        static const char *const others[] = {"adsp", "mdsp", "sdsp", "cdsp1", "gdsp0", "gdsp1"};

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            if (n == strlen(others[i]) && memcmp(v, others[i], n) == 0)
                return AEE_ECONNREFUSED;
        return AEE_EBADPARM;
    }
    v = value_of(uri, "_session", &n);
    if (v && (n != 1 || !strchr("0123", *v)))
        return AEE_EBADPARM;
    *session = v ? (unsigned)(*v - '0') : 0;
    return AEE_SUCCESS;
}

static int is(const char *text, size_t n, const char *want)
{
    return n == strlen(want) && memcmp(text, want, n) == 0;
}

/* What the DSP says; NEVER: that depends on what else lies in the folder, but it is not success. */
static int read_by_dsp(const char *uri)
{
    const char *lib = uri + 8, *symbol;
    size_t n_lib, n_symbol;

    if (strncmp(uri, "file:///", 8) != 0) {
        if (!*uri || strlen(uri) > 200 || uri[strcspn(uri, "/:?&")])
            return AEE_DSP(AEE_EBADPARM);
        return strcmp(uri, CLASSIC) == 0 ? AEE_SUCCESS : NEVER;
    }
    n_lib = strcspn(lib, "?");
    symbol = lib + n_lib + 1;
    if (!lib[n_lib] || n_lib == 0 || n_lib >= 256 || memchr(lib, '/', n_lib))
        return AEE_DSP(AEE_EBADPARM);
    n_symbol = strcspn(symbol, "&");
    if (n_symbol == 0 || n_symbol >= 256)
        return AEE_DSP(AEE_EBADPARM);
    if (is(lib, n_lib, CALCULATOR))
        return is(symbol, n_symbol, "calculator_skel_handle_invoke") ? AEE_SUCCESS : AEE_DSP(AEE_ENOSUCHSYMBOL);
    if (is(lib, n_lib, "lib" CLASSIC "_skel.so"))
        return is(symbol, n_symbol, CLASSIC "_skel_invoke") ? AEE_SUCCESS : AEE_DSP(AEE_ENOSUCHSYMBOL);
    return NEVER;
}

/* --- what is held against it --------------------------------------------------------------------------------------- */

static void open_it(const char *uri)
{
    static remote_handle64 last;
    unsigned session = 0;
    remote_handle64 h = 0;
    int want = read_by_library(uri, &session), asks = want == AEE_SUCCESS, rc;

    if (asks)
        want = read_by_dsp(uri);
    asked_session = SESSIONS;
    rc = hx_handle_open(uri, &h); /* of a name that need not say its domain */
    if (want == NEVER)
        must(rc == (int)AEE_DSP(AEE_EUNABLETOLOAD) || rc == (int)AEE_DSP(AEE_ENOSUCHSYMBOL), "what is not there is not loaded", uri);
    else
        must(rc == want, "a URI opens what it names", uri);
    must(asked_session == (asks ? session : SESSIONS), "the session is the one that it names", uri);
    must(opened == (rc == AEE_SUCCESS), "a handle is kept when there is one", uri);
    if (rc != AEE_SUCCESS)
        return;
    must(h != last && h > 0x200, "a handle is not one that was closed just now, nor one of a static service", uri);
    last = h;
    must(remote_handle64_close(h) == AEE_SUCCESS && !opened, "what was opened can be closed", uri);
}

/* With buffers that may be too short. */
static void parse_it(const char *uri, size_t room)
{
    char *lib = malloc(room + 1), *symbol = malloc(room / 2 + 1);
    int rc = hx_module_parse_uri(uri, lib, room + 1, symbol, room / 2 + 1);

    if (rc == 0) {
        char *again = malloc(strlen(lib) + strlen(symbol) + 16);
        int n = sprintf(again, "file:///%s?%s", lib, symbol);
        must(strncmp(uri, again, (size_t)n) == 0 && (!uri[n] || uri[n] == '&'), "library and symbol are those of the URI", uri);
        free(again);
    }
    free(lib);
    free(symbol);
}

/* A URI with domain and session behind it is one of that session, when it names none itself. */
static void get_it(const char *uri, unsigned session, unsigned room)
{
    size_t bytes = strlen(uri) + room, n;
    char *out = malloc(bytes ? bytes : 1);
    remote_rpc_get_uri_t u = {.domain_name = "cdsp", .domain_name_len = 4, .session_id = session, .module_uri = (char *)uri,
                              .module_uri_len = (uint32_t)strlen(uri), .uri = out, .uri_len = (uint32_t)bytes};
    unsigned got = SESSIONS;
    int rc = remote_session_control(FASTRPC_GET_URI, &u, sizeof(u));

    must(rc == AEE_SUCCESS || rc == AEE_EBADSIZE || rc == AEE_EBADPARM, "GET_URI gives an error that is documented", uri);
    if (rc == AEE_SUCCESS) {
        must(memchr(out, '\0', bytes) && strncmp(out, uri, strlen(uri)) == 0, "GET_URI begins with the module's", uri);
        if (strchr(uri, '?') && !value_of(uri, "_dom", &n) && !value_of(uri, "_session", &n))
            must(read_by_library(out, &got) == AEE_SUCCESS && got == session, "GET_URI names the session", uri);
    }
    free(out);
}

/* The service itself, as any client may call it: lengths that do not fit, no end of the string. */
static void call_service(const char *uri, unsigned shape)
{
    uint32_t in[2] = {0}, out[2];
    char why[64];
    remote_arg pra[4] = {{.buf = {in, shape & 1 ? 7 : 8}}, {.buf = {(void *)(uintptr_t)uri, strlen(uri) + !(shape & 2)}},
                         {.buf = {out, shape & 4 ? 4 : 8}}, {.buf = {why, shape & 8 ? 0 : 1}}};
    int rc = hx_invoke(NULL, FASTRPC_HANDLE_REMOTECTL, REMOTE_SCALARS_MAKE(0, 2, 2), pra);

    must(rc == (shape & 15 ? (int)AEE_DSP(AEE_EBADPARM) : AEE_SUCCESS), "the service takes what has its shape", uri);
    if (rc == AEE_SUCCESS && out[1] == AEE_SUCCESS)
        must(hx_module_close(out[0]) == AEE_SUCCESS, "what the service opened can be closed", uri);
}

static void decode(char *uri, const uint8_t *data, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const char *piece = pieces[data[i] % (sizeof(pieces) / sizeof(pieces[0]))];
        char one[2] = {(char)data[i], '\0'};

        if (data[i] < 128)
            piece = one;
        if (at + strlen(piece) >= URI_MAX)
            break;
        at += (size_t)sprintf(uri + at, "%s", piece);
    }
}

static void set_up(void)
{
    static int done;

    if (done)
        return;
    /* they stay, because libFuzzer counts what was covered in them */
    done = dlopen(HXT_BUILD "/tests/" CALCULATOR, RTLD_NOW | RTLD_NODELETE) &&
           dlopen(HXT_BUILD "/tests/lib" CLASSIC "_skel.so", RTLD_NOW | RTLD_NODELETE);
    must(done, "there are two skels", HXT_BUILD "/tests");
    hx_module_set_path("/nowhere:" HXT_BUILD "/tests;/root");
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    char text[URI_MAX] = "", *uri;

    set_up();
    if (n == 0)
        return 0;
    decode(text, data + 1, n - 1);
    uri = strdup(text); /* as long as it is */
    open_it(uri);
    parse_it(uri, data[0] >> 4 ? data[0] : 300);
    get_it(uri, data[0] % 5, data[0] / 5);
    call_service(uri, data[0] & 0x40 ? data[0] & 15 : 0);
    free(uri);
    return 0;
}
