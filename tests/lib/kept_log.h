/* Test support: what DSP code prints, kept from the terminal.  Include in one file of a test. */
#ifndef KEPT_LOG_H
#define KEPT_LOG_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "hxt.h"

static int kept_stderr = -1; /* the terminal, meanwhile */

/* What is printed from here to log_end() is kept from the terminal. */
static inline void log_begin(void)
{
    int fd = open(hxt_path("%s/log", hxt_tmpdir()), O_RDWR | O_CREAT | O_TRUNC, 0600);

    fflush(stderr);
    kept_stderr = dup(2);
    dup2(fd, 2);
    close(fd);
}

/* `word` was printed since log_begin(). */
static inline void log_end(const char *word)
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

#endif
