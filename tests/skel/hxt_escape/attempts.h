/* Attempts of the escape skel, by subject.  An attempt that is not refused does no harm: signals are 0, arguments of what would
 * change the machine are wrong, and files are those that the test made for this. */
#ifndef HXT_ESCAPE_ATTEMPTS_H
#define HXT_ESCAPE_ATTEMPTS_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "hxt_escape.h"

/* Each makes attempt i of its subject, when there is one, and returns how many there are. */
size_t hxe_on_files(const struct hxe_in *in, size_t i, struct hxe_out *out);
size_t hxe_on_processes(const struct hxe_in *in, size_t i, struct hxe_out *out);
size_t hxe_on_itself(const struct hxe_in *in, size_t i, struct hxe_out *out);
size_t hxe_threads_and_advices(const struct hxe_in *in, size_t i, struct hxe_out *out);
size_t hxe_system_calls(const struct hxe_in *in, size_t i, struct hxe_out *out);

#define HXE_LEN(array) (sizeof(array) / sizeof((array)[0]))

static inline int error_of(long result)
{
    return result < 0 ? errno : 0;
}

static inline int open_with(const char *path, int flags)
{
    int fd = open(path, flags, 0600), error = errno;

    if (fd < 0)
        return error;
    close(fd);
    return 0;
}

static inline void name_it(struct hxe_out *out, const char *name, const char *of)
{
    snprintf(out->name, sizeof(out->name), "%s%s%s", name, *of ? ": " : "", of);
}

#endif
