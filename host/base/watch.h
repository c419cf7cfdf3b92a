/* Who is told of what takes long, and of what was done other than asked for: a command's terminal, or nobody. */
#ifndef HX_WATCH_H
#define HX_WATCH_H

#include <stddef.h>

/* Functions may be NULL.  They are called by one thread at a time, which may be any. */
struct hx_watch {
    void (*note)(void *arg, const char *line);                           /* one line, without its end */
    void (*step)(void *arg, const char *what, size_t done, size_t of);   /* done 0..of; the last one is done == of */
    void *arg;
};

/* w may be NULL. */
void hx_watch_note(const struct hx_watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hx_watch_step(const struct hx_watch *w, const char *what, size_t done, size_t of);

#endif
