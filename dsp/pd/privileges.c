/* Dropping capabilities, see privileges.h.  By system call: libcap would be one more library in every PD. */
#include "privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Root's rig has to load the skels of a developer whose home others may not enter.  dlopen() takes paths, so this has to last as
 * long as the PD; landlock still limits it to the folders of skels and libraries.  A user's rig never had it. */
static const uint64_t kept = 1ull << CAP_DAC_READ_SEARCH;

/* Without CAP_SETPCAP the set cannot be changed (EPERM); with no_new_privs nobody gains anything from it any more. */
static void limit_bounding_set(void)
{
    for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (!(kept >> cap & 1))
            prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int hx_drop_privileges(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    limit_bounding_set();
    if (syscall(SYS_capget, &head, data))
        return -errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t may = (uint32_t)(kept >> (32 * i));

        data[i].permitted &= may;
        data[i].effective &= may;
        data[i].inheritable = 0; /* the ambient set is never larger than this one */
    }
    return syscall(SYS_capset, &head, data) ? -errno : 0;
}
