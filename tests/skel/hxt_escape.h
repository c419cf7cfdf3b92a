/* Interface of the escape skel: it tries, one by one, what a skel must not be able to do. */
#ifndef HXT_ESCAPE_H
#define HXT_ESCAPE_H

#include <stdint.h>

#define HXT_ESCAPE_URI "file:///libhxt_escape_skel.so?hxt_escape_skel_handle_invoke&_modver=1.0"

enum hxt_escape_method {
    HXE_TRY = 2, /* in struct hxe_in, out struct hxe_out */
    HXE_PID,     /* out i32: the PD's process id */
    HXE_I386,    /* makes a system call of i386, which ends the PD; without i386 it ends it otherwise */
};

enum hxe_process { HXE_SIBLING, HXE_ROOT_PD, HXE_DRIVER, HXE_PROCESSES };

struct hxe_in {
    uint32_t index; /* of the attempt, from 0 */
    int32_t pid[HXE_PROCESSES];
    char file[200];      /* the rig's user's own, in no folder of skels */
    char skel_file[200]; /* in a folder of skels, so that it can be read */
    char link[200];      /* in that folder, a symbolic link to `file` */
    char node[200];      /* the rig's own */
};

struct hxe_out {
    char name[48];    /* "" = there is no attempt of this index */
    int32_t error;    /* errno; 0 = it worked */
    int32_t expected; /* errno; 0 = a skel may do it */
};

#endif
