/* Terminal modes by termios, signals by a signalfd, so that nothing happens inside a handler. */
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l" /* the other screen, without a cursor */
#define LEAVE "\033[?25h\033[?1049l"

static const int caught[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};

static struct {
    int is_open, signals; /* a signalfd */
    struct termios before;
    sigset_t mask; /* of before */
} screen;

static int set_raw(void)
{
    struct termios raw = screen.before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw))
        return -errno;
    fputs(ENTER, stdout);
    fflush(stdout);
    return 0;
}

static void set_back(void)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.before);
}

int hx_screen_open(void)
{
    sigset_t set;
    int rc;

    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &screen.before))
        return -ENOTTY;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
        sigaddset(&set, caught[i]);
    screen.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen.signals < 0)
        return -errno;
    sigprocmask(SIG_BLOCK, &set, &screen.mask);
    rc = set_raw();
    screen.is_open = 1;
    if (rc)
        hx_screen_close();
    return rc;
}

void hx_screen_close(void)
{
    if (!screen.is_open)
        return;
    set_back();
    close(screen.signals);
    sigprocmask(SIG_SETMASK, &screen.mask, NULL);
    screen.is_open = 0;
}

void hx_screen_size(size_t *rows, size_t *columns)
{
    struct winsize w = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
    *rows = w.ws_row ? w.ws_row : 24;
    *columns = w.ws_col ? w.ws_col : 80;
}

int hx_screen_draw(const char *lines)
{
    fputs("\033[H", stdout);
    for (size_t n; *lines; lines += n) {
        n = strcspn(lines, "\n");
        fwrite(lines, 1, n, stdout);
        fputs("\033[K", stdout);
        n += lines[n] == '\n';
        if (lines[n]) /* behind the last line the terminal would scroll */
            fputs("\r\n", stdout);
    }
    fputs("\033[J", stdout);
    return fflush(stdout) ? -errno : 0;
}

static enum hx_screen_event take_signal(int *what)
{
    struct signalfd_siginfo s;

    if (read(screen.signals, &s, sizeof(s)) != (ssize_t)sizeof(s))
        return HX_SCREEN_TIMEOUT;
    *what = (int)s.ssi_signo;
    if (*what == SIGTSTP) { /* the shell finds its terminal as it was, and so do we, when it lets us go on */
        set_back();
        raise(SIGSTOP);
        return set_raw() ? HX_SCREEN_ENDED : HX_SCREEN_RESIZED;
    }
    return *what == SIGWINCH ? HX_SCREEN_RESIZED : HX_SCREEN_SIGNAL;
}

static enum hx_screen_event take_key(int *what)
{
    unsigned char key;

    if (read(STDIN_FILENO, &key, 1) != 1)
        return HX_SCREEN_ENDED;
    *what = key;
    return HX_SCREEN_KEY;
}

enum hx_screen_event hx_screen_wait(int timeout_ms, int *what)
{
    struct pollfd p[] = {{screen.signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    int n = poll(p, 2, timeout_ms);

    if (n <= 0)
        return HX_SCREEN_TIMEOUT;
    return p[0].revents ? take_signal(what) : take_key(what);
}
