/* What process 1 prints: nothing to stdout, and to stderr only what process 0 did not say as well. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shard_impl.h"

void hx_shard_silence(struct hx_shard *s)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    s->held = memfd_create("crt-shard", MFD_CLOEXEC);
    s->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (s->held >= 0 && s->err >= 0)
        dup2(s->held, STDERR_FILENO);
}

void hx_shard_speak(struct hx_shard *s, int show)
{
    char text[1024];
    ssize_t n;

    if (s->held >= 0 && s->err >= 0) {
        dup2(s->err, STDERR_FILENO);
        for (off_t at = 0; show && (n = pread(s->held, text, sizeof(text), at)) > 0; at += n)
            if (write(STDERR_FILENO, text, (size_t)n) != n)
                break;
    }
    if (s->held >= 0)
        close(s->held);
    if (s->err >= 0)
        close(s->err);
}
