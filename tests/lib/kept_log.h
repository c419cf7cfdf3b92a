/* Test support: what DSP code prints, kept from the terminal. */
#ifndef KEPT_LOG_H
#define KEPT_LOG_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "hxt.h"

/* What is printed from here to log_end() is kept from the terminal. */
void log_begin(void);

/* `word` was printed since log_begin(). */
void log_end(const char *word);

#endif
