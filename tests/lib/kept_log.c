/* Keeping what DSP code prints from the terminal. */
#include "kept_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int kept_stderr = -1; /* the terminal, meanwhile */

void log_begin(void)
{
    int fd = open(hxt_path("%s/log", hxt_tmpdir()), O_RDWR | O_CREAT | O_TRUNC, 0600);

    fflush(stderr);
    kept_stderr = dup(2);
    dup2(fd, 2);
    close(fd);
}

void log_end(const char *word)
{
    char *text;

    fflush(stderr);
    dup2(kept_stderr, 2);
    close(kept_stderr);
    text = hxt_read_file(hxt_path("%s/log", hxt_tmpdir()), NULL);
    if (!strstr(text, word))
        fail_msg("no '%s' in the log: '%s'", word, text);
    free(text);
}
