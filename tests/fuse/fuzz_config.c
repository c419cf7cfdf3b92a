/* Fuzz target: the texts that people write: a profile (first byte even) or a filter's specification (odd).
 *
 * The filter `trace` writes a file of any name that it is told: here (--wrap) that is nothing but /dev/null, and some names are refused
 * as real ones are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/filter.h"
#include "filter/trace_file.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);
int __wrap_hx_trace_file_open(struct hx_trace_file *t, const char *path);
int __real_hx_trace_file_open(struct hx_trace_file *t, const char *path);

int __wrap_hx_trace_file_open(struct hx_trace_file *t, const char *path)
{
    return strchr(path, '/') ? -ENOENT : __real_hx_trace_file_open(t, "/dev/null");
}

static void profile(const uint8_t *text, size_t n)
{
    struct hx_profile p;
    char path[64], err[256] = "";
    int fd = memfd_create("profile", MFD_CLOEXEC);

    if (write(fd, text, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (hx_profile_load(&p, ".", path, err, sizeof(err))) {
        if (!*err)
            abort(); /* an error without a reason */
    } else if (!(p.dispatch_us > 0) || p.hvx_contexts < 1 || p.hvx_contexts > 16) {
        abort();
    }
    close(fd);
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    struct hx_filter_stack stack = {0};
    struct hx_profile p = {0};
    char err[256] = "", *spec;

    if (n == 0)
        return 0;
    if (data[0] % 2 == 0) {
        profile(data + 1, n - 1);
        return 0;
    }
    spec = strndup((const char *)data + 1, n - 1);
    if (hx_filter_push(&stack, spec, &p, err, sizeof(err)) && !*err)
        abort();
    hx_filter_unload(&stack);
    free(spec);
    return 0;
}
