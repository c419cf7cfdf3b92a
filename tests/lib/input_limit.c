/* The clock that fuzz targets' inputs are measured by, see input_limit.h: a timer that counts the time from one tick to the next. */
#include "input_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TICKS = 20 }; /* of the limit */

static struct {
    void (*expired)(void);
    int64_t left_ns, tick_ns;
    int64_t last_ns, last_unserved_ns; /* at the last tick; 0: there was none, so that short inputs look at no clock */
} input;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static const char *digits(const char *at, int64_t *n)
{
    for (*n = 0; *at >= '0' && *at <= '9'; at++)
        *n = *n * 10 + (*at - '0');
    return at;
}

/* How long the main thread could have run had it had a CPU; 0 where the kernel does not say.  Inside a signal handler: no stdio. */
static int64_t unserved_ns(void)
{
    char text[80];
    int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC); /* ran, waited for a CPU, how often */
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    int64_t ran, waited = 0;
    const char *at;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    at = digits(text, &ran);
    if (*at == ' ')
        digits(at + 1, &waited);
    return waited;
}

static void set_timer(int64_t ns)
{
    const struct timeval t = {.tv_sec = ns / 1000000000, .tv_usec = ns / 1000 % 1000000};

    setitimer(ITIMER_REAL, &(struct itimerval){.it_interval = t, .it_value = t}, NULL);
}

static void count(void)
{
    const int64_t now = now_ns(), unserved = unserved_ns();
    int64_t took = input.last_ns ? (now - input.last_ns) - (unserved - input.last_unserved_ns) : 0;

    took = took > 2 * input.tick_ns ? 2 * input.tick_ns : took; /* it stood still */
    input.left_ns -= took > 0 ? took : 0;
    input.last_ns = now;
    input.last_unserved_ns = unserved;
}

static void tick(int sig)
{
    const int error = errno;

    (void)sig;
    count();
    if (input.left_ns <= 0) {
        set_timer(0);
        input.expired();
    }
    errno = error;
}

void input_limit_begin(double seconds, void (*expired)(void))
{
    const struct sigaction a = {.sa_handler = tick, .sa_flags = SA_RESTART};

    input.expired = expired;
    input.left_ns = (int64_t)(seconds * 1e9);
    input.tick_ns = input.left_ns / TICKS;
    input.last_ns = 0;
    sigaction(SIGALRM, &a, NULL);
    set_timer(input.tick_ns);
}

void input_limit_end(void)
{
    set_timer(0);
}
