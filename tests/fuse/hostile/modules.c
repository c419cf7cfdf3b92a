/* Hostile module URIs: what is no skel, lies elsewhere, or names another function than an entry point. */
#include "hostile.h"

#include <string.h>

#include "hxt.h"

#define TAIL "?hxt_skel_handle_invoke&_modver=1.0"
#define ENTRY "file:///libhxt_skel.so?"

enum { BADPARM = 0xe, UNABLETOLOAD = 0x6, NOSUCHSYMBOL = 0x42 };

static const struct {
    const char *uri;
    int expected; /* AEE code, without the DSP's offset; 0 = it opens */
} uris[] = {
    {"", BADPARM},
    {"/etc/passwd", BADPARM},
    {"file:///", BADPARM},
    {"file:///?hxt_skel_handle_invoke", BADPARM},
    {"file:////etc/passwd" TAIL, BADPARM},
    {"file:///etc/passwd" TAIL, BADPARM},
    {"file:///../../../etc/passwd" TAIL, BADPARM},
    {"file:///./libhxt_skel.so" TAIL, BADPARM},
    {"file:////proc/self/exe" TAIL, BADPARM},
    {"file:////proc/self/fd/4" TAIL, BADPARM},
    {"file:////dev/shm/evil.so" TAIL, BADPARM},
    {"file:////tmp/fifo" TAIL, BADPARM},
    {"file:////lib/x86_64-linux-gnu/libc.so.6?system", BADPARM},
    {"http:///libhxt_skel.so" TAIL, BADPARM},
    {"FILE:///libhxt_skel.so" TAIL, BADPARM},
    {"file:///libhxt_skel.so", BADPARM},
    {"file:///libhxt_skel.so?", BADPARM},
    {"file:///libhxt_skel.so?&_modver=1.0", BADPARM},
    {"../../etc/passwd", BADPARM},
    {"hxt/../hxt", BADPARM},
    {"file:///.." TAIL, UNABLETOLOAD},
    {"file:///." TAIL, UNABLETOLOAD},
    {"file:///libc.so.6?system_skel_invoke", UNABLETOLOAD},
    {"file:///libc.so.6?system&_dom=cdsp", UNABLETOLOAD},
    {"file:///ld-linux-x86-64.so.2" TAIL, UNABLETOLOAD},
    {"file:///test_escape" TAIL, UNABLETOLOAD}, /* lies there, and is no library */
    {"file:///libhxt_skel.so\n" TAIL, UNABLETOLOAD},
    {"file:///libhxt_skel.so;id" TAIL, UNABLETOLOAD},
    {"file:///$(id).so" TAIL, UNABLETOLOAD},
    {"file:///%s%n%s%n" TAIL, UNABLETOLOAD},
    {"nosuch", UNABLETOLOAD},
    {"..", UNABLETOLOAD},
    {ENTRY "system", NOSUCHSYMBOL},
    {ENTRY "setcontext", NOSUCHSYMBOL},
    {ENTRY "abort&_modver=1.0&_dom=cdsp", NOSUCHSYMBOL},
    {ENTRY "syscall&_dom=adsp", NOSUCHSYMBOL},
    {ENTRY "_exit", NOSUCHSYMBOL},
    {ENTRY "mprotect&_session=1", NOSUCHSYMBOL},
    {ENTRY "hx_root_pd_main", NOSUCHSYMBOL},
    {ENTRY "main", NOSUCHSYMBOL},
    {ENTRY "_init", NOSUCHSYMBOL},
    {ENTRY "_skel_invoke", NOSUCHSYMBOL},
    {ENTRY "_skel_handle_invoke&_modver=1.0", NOSUCHSYMBOL},
    {ENTRY "nosuch_skel_handle_invoke&_modver=1.0", NOSUCHSYMBOL},
    {ENTRY "calculator_skel_handle_invoke&_modver=1.0", NOSUCHSYMBOL},
    {ENTRY "dspqueue_rpc_skel_handle_invoke&_modver=1.0", NOSUCHSYMBOL},
    {"file:///libdspqueue_rpc_skel.so?abort", NOSUCHSYMBOL},
    {"file:///libdspqueue_rpc_skel.so" TAIL, NOSUCHSYMBOL},
    {"file:///libhxt_skel.so" TAIL "&_dom=cdsp", 0},
};

int hostile_open(int h, const char *uri, size_t bytes, uint32_t *handle)
{
    uint32_t in[2] = {(uint32_t)bytes, 256};
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, 0};
    char dlerr[256];
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in)), arg(uri, bytes), arg(&out, sizeof(out)), arg(dlerr, sizeof(dlerr))};
    int rc = refusal(invoke(h, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(2, 2, 2), a));

    *handle = out.handle;
    return rc ? rc : out.error;
}

static int open_uri(int h, const char *uri, size_t bytes)
{
    uint32_t handle;

    return hostile_open(h, uri, bytes, &handle);
}

void hostile_modules(const struct target *t)
{
    static char endless[20000];
    struct file f = open_skel();

    (void)t;
    for (size_t i = 0; i < HXT_LEN(uris); i++)
        hostile_tell("open", uris[i].uri, uris[i].expected ? AEE_DSP(uris[i].expected) : 0,
                     open_uri(f.h, uris[i].uri, strlen(uris[i].uri) + 1));
    memset(endless, 'a', sizeof(endless));
    hostile_tell("open a name without an end", "", AEE_DSP(AEE_EBADPARM), open_uri(f.h, endless, sizeof(endless)));
    endless[sizeof(endless) - 1] = '\0';
    hostile_tell("open a name of 20000 bytes", "", AEE_DSP(AEE_EBADPARM), open_uri(f.h, endless, sizeof(endless)));
    memcpy(endless, "file:///", 8);
    memcpy(endless + sizeof(endless) - sizeof(TAIL), TAIL, sizeof(TAIL));
    hostile_tell("open a URI of 20000 bytes", "", AEE_DSP(AEE_EBADPARM), open_uri(f.h, endless, sizeof(endless)));
    close_file(f);
}
