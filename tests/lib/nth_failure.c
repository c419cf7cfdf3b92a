/* The state file of tests/fail, and the loop over n. */
#include "nth_failure.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hxt.h"

#define NAME(f) #f,
const char *const nth_functions[HXT_FAIL_N] = {HXT_FAIL_FUNCTIONS(NAME)};
struct hxt_fail *nth_state;
int nth_sample_only;

static const uint32_t samples[][8] = {{1, 3, 12, 40}, {2, 9}}; /* once; and all after it */

static const char *state_path(void)
{
    return hxt_path("%s/fail.state", hxt_tmpdir());
}

void nth_begin(void)
{
    int fd = open(state_path(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(*nth_state)), 0);
    nth_state = mmap(NULL, sizeof(*nth_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(nth_state != MAP_FAILED);
}

void nth_env(const char **env, const char *program)
{
    env[0] = "LD_PRELOAD=" HXT_BUILD "/tests/libhxt_fail.so";
    env[1] = hxt_path(HXT_FAIL_STATE "=%s", state_path());
    env[2] = hxt_path(HXT_FAIL_PROGRAM "=%s", program);
}

/* n 0: calls are only counted. */
static void arm(unsigned function, uint32_t n, int all)
{
    atomic_store(&nth_state->function, function);
    atomic_store(&nth_state->nth, n);
    atomic_store(&nth_state->all, (uint32_t)all);
    for (unsigned f = 0; f < HXT_FAIL_N; f++)
        atomic_store(&nth_state->calls[f], 0);
    atomic_store(&nth_state->failed, 0);
    atomic_store(&nth_state->armed, 1);
}

void nth_disarm(void)
{
    atomic_store(&nth_state->armed, 0);
}

void nth_join(void)
{
    nth_state = hxt_fail_state ? hxt_fail_state() : NULL;
    if (!nth_state) {
        fprintf(stderr, "libhxt_fail.so is not preloaded\n");
        exit(2);
    }
}

void nth_rearm(void)
{
    atomic_store(&nth_state->armed, 1);
}

int nth_everything(void)
{
    return getenv("HXT_FAIL_ALL") != NULL;
}

/* The number after n (0: the first one); 0: there is none. */
static uint32_t next_number(uint32_t n, int all)
{
    enum { EACH = 200, PART = 20 };

    if (nth_everything() && !nth_sample_only)
        return n < EACH ? n + 1 : n + n / PART;
    for (size_t i = 0; i < HXT_LEN(samples[all]); i++)
        if (samples[all][i] > n)
            return samples[all][i];
    return 0;
}

void nth_print_head(const char *first, const char *second)
{
    printf("%-14s %-14s %-6s %6s %7s %8s %14s %6s\n", "program", "function", "fails", "tried", "up to", first, second, "wrong");
}

static void print_row(const struct nth_row *row)
{
    printf("%-14s %-14s %-6s %6u %7u %8u %14u %6u\n", row->program, nth_functions[row->function], row->all ? "all" : "once",
           row->tried, row->last, row->seen[0], row->seen[1], row->wrong);
    fflush(stdout);
}

/* Whether a call failed. */
static int try_number(uint32_t n, struct nth_row *row, const char *(*check)(void *arg, struct nth_row *row), void *arg)
{
    const char *wrong;

    arm(row->function, n, row->all);
    wrong = check(arg, row);
    nth_disarm();
    if (wrong) {
        row->wrong++;
        print_error("%s: %s number %u%s: %s\n", row->program, nth_functions[row->function], n, row->all ? " and all after it" : "",
                    wrong);
    }
    if (!nth_state->failed)
        return 0;
    row->tried++;
    row->last = n;
    return 1;
}

unsigned nth_program(const char *program, const char *(*check)(void *arg, struct nth_row *row), void *arg)
{
    struct nth_row row = {.program = program};
    uint32_t calls[HXT_FAIL_N];
    unsigned wrong;

    try_number(0, &row, check, arg);
    wrong = row.wrong;
    for (unsigned f = 0; f < HXT_FAIL_N; f++)
        calls[f] = nth_state->calls[f];
    for (unsigned i = 0; i < 2 * HXT_FAIL_N; i++) {
        uint32_t n;

        row = (struct nth_row){.program = program, .function = i / 2, .all = i % 2};
        n = calls[row.function] ? next_number(0, row.all) : 0;
        if (!n)
            continue;
        while (n && (nth_everything() || n <= calls[row.function]) && try_number(n, &row, check, arg))
            n = next_number(n, row.all);
        print_row(&row);
        wrong += row.wrong;
    }
    return wrong;
}
