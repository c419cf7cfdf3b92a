/* Tables between errno and AEE codes, and the names of the latter. */
#include "hx_aee.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    int err, aee;
} from_errno[] = {
    {EIO, AEE_ERPC},
    {ENOTTY, AEE_ERPC},
    {EADDRNOTAVAIL, AEE_ERPC},
    {ENOENT, AEE_ERPC}, /* meant to be "no such", but falls through to the default */
    {EBUSY, AEE_ERPC},  /* as ENOENT */
    {EFAULT, AEE_EBADPARM},
    {ECHRNG, AEE_EBADPARM},
    {EINVAL, AEE_EBADPARM},
    {EBADF, AEE_EBADPARM},
    {EOVERFLOW, AEE_EBADPARM},
    {EEXIST, AEE_EBADPARM},
    {ENXIO, AEE_ENOSUCHDEVICE},
    {ENODEV, AEE_ENOSUCHDEVICE},
    {ENOMEM, AEE_ENOMEMORY},
    {ENOBUFS, AEE_ENOMEMORY},
    {ETIMEDOUT, AEE_EEXPIRED},
    {EUSERS, AEE_EEXPIRED},
    {ESHUTDOWN, AEE_EEXPIRED},
    {ENOTCONN, AEE_ECONNREFUSED},
    {ECONNREFUSED, AEE_ECONNREFUSED},
    {EPIPE, AEE_ECONNRESET},
    {ECONNRESET, AEE_ECONNRESET},
    {EPERM, AEE_EBADPERMS},
    {EACCES, AEE_EBADPERMS},
    {EFBIG, AEE_EFILE},
    {EBADE, AEE_EBADPARM},
    {EBADR, AEE_EBADPARM},
    {EBADMSG, AEE_EBADPARM},
    {EBADFD, AEE_EBADPARM},
    {EHOSTDOWN, AEE_EBADPARM},
    {ENOSR, AEE_EEXPIRED},
    {EDQUOT, AEE_EEXPIRED},
    {EPROTONOSUPPORT, AEE_EUNSUPPORTED},
    {ENOKEY, AEE_ENOSUCHDEVICE},
};

static const struct {
    int aee;
    const char *name;
} names[] = {
#define NAME(code) {code, #code}
    NAME(AEE_SUCCESS),
    NAME(AEE_EUNKNOWN),
    NAME(AEE_EFAILED),
    NAME(AEE_ENOMEMORY),
    NAME(AEE_ECLASSNOTSUPPORT),
    NAME(AEE_EVERSIONNOTSUPPORT),
    NAME(AEE_EALREADYLOADED),
    NAME(AEE_EUNABLETOLOAD),
    NAME(AEE_EUNABLETOUNLOAD),
    NAME(AEE_EINVALIDTIME),
    NAME(AEE_EEXPIRED),
    NAME(AEE_EBADSTATE),
    NAME(AEE_EBADPARM),
    NAME(AEE_ESCHEMENOTSUPPORTED),
    NAME(AEE_EBADITEM),
    NAME(AEE_EINVALIDFORMAT),
    NAME(AEE_EINCOMPLETEITEM),
    NAME(AEE_EUNSUPPORTED),
    NAME(AEE_EPRIVLEVEL),
    NAME(AEE_ERESOURCENOTFOUND),
    NAME(AEE_EREENTERED),
    NAME(AEE_EALREADY),
    NAME(AEE_EITEMBUSY),
    NAME(AEE_ENOMORE),
    NAME(AEE_ENOSUCH),
    NAME(AEE_EINVHANDLE),
    NAME(AEE_EINTERRUPTED),
    NAME(AEE_ECPUEXCEPTION),
    NAME(AEE_EWOULDBLOCK),
    NAME(AEE_ENOSUCHMOD),
    NAME(AEE_ENOSUCHSYMBOL),
    NAME(AEE_ENOSUCHDEVICE),
    NAME(AEE_ENOSUCHMAP),
    NAME(AEE_EBADDOMAIN),
    NAME(AEE_EBADSIZE),
    NAME(AEE_EBADPERMS),
    NAME(AEE_ECONNRESET),
    NAME(AEE_EUNSUPPORTEDAPI),
    NAME(AEE_ECONNREFUSED),
    NAME(AEE_EUNSIGNEDMOD),
    NAME(AEE_ENOSESSION),
    NAME(AEE_EBUSY),
    NAME(AEE_ESTUBSKELVERMISMATCH),
    NAME(AEE_ERPC),
    NAME(AEE_EFILE),
#undef NAME
};

int hx_aee_from_errno(int err)
{
    if (err == 0)
        return AEE_SUCCESS;
    for (size_t i = 0; i < sizeof(from_errno) / sizeof(from_errno[0]); i++)
        if (from_errno[i].err == err)
            return from_errno[i].aee;
    return AEE_ERPC;
}

int hx_aee_from_result(int result)
{
    if (result < 0 && result >= -HX_ERRNO_MAX)
        return hx_aee_from_errno(-result);
    return result;
}

int hx_aee_is_dsp(int aee)
{
    unsigned u = (unsigned)aee;

    return u >= AEE_DSP_OFFSET && u < AEE_DSP_OFFSET + 0x400u;
}

int hx_aee_base(int aee)
{
    return hx_aee_is_dsp(aee) ? (int)((unsigned)aee - AEE_DSP_OFFSET) : aee;
}

const char *hx_aee_name(int aee)
{
    int base = hx_aee_base(aee);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].aee == base)
            return names[i].name;
    return NULL;
}

char *hx_aee_text(int aee, char *buf, size_t buf_bytes)
{
    const char *name = hx_aee_name(aee);
    const char *side = hx_aee_is_dsp(aee) ? ", from the DSP" : "";

    if (name)
        snprintf(buf, buf_bytes, "%s (0x%x%s)", name, (unsigned)aee, side);
    else
        snprintf(buf, buf_bytes, "error 0x%x%s", (unsigned)aee, side);
    return buf;
}
