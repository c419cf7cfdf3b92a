/* A terminal for a live view: its other screen, keys as they are pressed, its size, and as it was before in the end, also when a signal
 * ends or stops the process.  Plain ANSI sequences, without a library.  For one thread; one screen per process. */
#ifndef HX_SCREEN_H
#define HX_SCREEN_H

#include <stddef.h>

enum hx_screen_event {
    HX_SCREEN_TIMEOUT, /* nothing happened */
    HX_SCREEN_KEY,
    HX_SCREEN_RESIZED, /* or it is there again after Ctrl-Z: to be drawn anew */
    HX_SCREEN_ENDED,   /* the terminal has gone */
    HX_SCREEN_SIGNAL,  /* one that ends the process */
};

/* stdin and stdout become the view's.  From here on signals that end or stop a process wait for hx_screen_wait().  0; -ENOTTY: they
 * are no terminal; negative errno. */
int hx_screen_open(void);

/* The terminal is as it was, and so are signals.  Nothing happens without an open screen. */
void hx_screen_close(void);

/* How much there is room for; 24 x 80 where the terminal does not say. */
void hx_screen_size(size_t *rows, size_t *columns);

/* Draws lines, each ended by '\n', in place of what is there.  0 or negative errno. */
int hx_screen_draw(const char *lines);

/* Until something happens, at most for timeout_ms.  *what: the key, or the signal.  Ctrl-Z is dealt with here. */
enum hx_screen_event hx_screen_wait(int timeout_ms, int *what);

#endif
