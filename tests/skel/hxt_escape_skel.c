/* The escape skel, see hxt_escape.h: makes one attempt of tests/skel/hxt_escape/ per call. */
#include <string.h>

#include "hexrig_uncosted.h"
#include "hxt_escape/attempts.h"
#include "remote.h"

HX_UNCOSTED("what a test calls, not a kernel");

static size_t (*const subjects[])(const struct hxe_in *, size_t, struct hxe_out *) = {
    hxe_on_files, hxe_on_processes, hxe_on_itself, hxe_threads_and_advices, hxe_system_calls,
};

static void try_one(const struct hxe_in *in, struct hxe_out *out)
{
    size_t i = in->index, n;

    *out = (struct hxe_out){.name = ""};
    for (size_t s = 0; s < HXE_LEN(subjects); s++, i -= n) {
        n = subjects[s](in, i, out);
        if (i < n)
            return;
    }
}

/* getpid, by the entry that seccomp's numbers are not meant for */
static void call_as_i386(void)
{
#ifdef __x86_64__
    int eax = 20;

    __asm__ volatile("int $0x80" : "+a"(eax) : : "memory", "r8", "r9", "r10", "r11");
#else
    __builtin_trap();
#endif
}

__attribute__((visibility("default"))) int hxt_escape_skel_handle_invoke(remote_handle64 h, uint32_t sc,
                                                                          remote_arg *pra)
{
    (void)h;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 0: /* open: uri in, handle out */
        pra[2].h64 = 1;
        return 0;
    case 1:
        return 0;
    case HXE_TRY: {
        struct hxe_out out;
        struct hxe_in in;

        if (sc != REMOTE_SCALARS_MAKE(HXE_TRY, 1, 1) || pra[0].buf.nLen != sizeof(in) || pra[1].buf.nLen != sizeof(out))
            return AEE_DSP(AEE_EBADPARM);
        memcpy(&in, pra[0].buf.pv, sizeof(in));
        try_one(&in, &out);
        memcpy(pra[1].buf.pv, &out, sizeof(out));
        return 0;
    }
    case HXE_PID: {
        const int32_t pid = getpid();

        if (sc != REMOTE_SCALARS_MAKE(HXE_PID, 0, 1) || pra[0].buf.nLen != sizeof(pid))
            return AEE_DSP(AEE_EBADPARM);
        memcpy(pra[0].buf.pv, &pid, sizeof(pid));
        return 0;
    }
    case HXE_I386:
        call_as_i386();
        return 0;
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}
