/* Protects a rig that runs for days: sixteen clients at a time open, call and die in every way, PDs and now and then the DSP are
 * killed under them, and the driver and the DSP hold what they held before: descriptors, PDs, VTCM, memory.
 *
 * SOAK_S (60): seconds on each front end.  Twenty times the clients are let go to their end, and what the rig then holds is a row
 * of a table.  The first fifth warms up (tables and heaps grow to their size); what the rig holds after it, it holds at the end.
 * The rig has its profile's 14 sessions, so two clients always wait for one. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "fuse/soak/clients.h"
#include "holdings.h"
#include "own_rig.h"

enum { CLIENTS = 16, ROWS = 20, WARM_ROWS = 4, GROWTH_KIB = 2048, PATIENCE_S = 20 };
enum { LIFE_MS = 60, PD_KILL_MS = 400 }; /* of a client that is killed; between two kills of PDs: both on average half of it */
static const double dsp_kill_s = 6; /* at least: five deaths, each within 2 s of a start, would give the DSP a rest */

static struct run {
    struct hxt_rng rng;
    struct client {
        pid_t pid; /* 0 = none */
        int is_killed, was_killed;
        double kill_at;
    } clients[CLIENTS];
    double start, next_pd_kill, next_dsp_kill;
    unsigned long ended, lost, killed, pd_kills, dsp_kills;
} r;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(void)
{
    const char *text = getenv("SOAK_S");

    return text ? atof(text) : 60;
}

/* --- clients ------------------------------------------------------------------------------------------------------------ */

static void start_client(struct client *c)
{
    const struct soak_kind *kind = &soak_kinds[hxt_below(&r.rng, soak_n_kinds)];
    const uint64_t seed = hxt_u64(&r.rng);

    fflush(NULL);
    *c = (struct client){.pid = fork(), .is_killed = kind->is_killed, .kill_at = now_s() + hxt_unit(&r.rng) * LIFE_MS / 1000};
    assert_true(c->pid >= 0);
    if (c->pid == 0) {
        /* the library tells of every session that it did not get */
        soak_report = fcntl(2, F_DUPFD_CLOEXEC, 3);
        if (!freopen("/dev/null", "w", stderr))
            _exit(SOAK_WRONG);
        kind->run(seed);
        _exit(SOAK_DONE);
    }
}

/* Every client ends as it has to, whatever was killed. */
static void end_client(struct client *c, int status)
{
    c->pid = 0;
    r.ended++;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && c->was_killed)
        r.killed++;
    else if (WIFEXITED(status) && WEXITSTATUS(status) == SOAK_LOST)
        r.lost++;
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != SOAK_DONE)
        fail_msg("a client ended with status 0x%x", (unsigned)status);
}

static unsigned tend_clients(int start_more)
{
    unsigned n = 0;

    for (struct client *c = r.clients; c < r.clients + CLIENTS; c++) {
        int status;

        if (c->pid && c->is_killed && !c->was_killed && now_s() >= c->kill_at) {
            c->was_killed = 1;
            kill(c->pid, SIGKILL);
        }
        if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
            end_client(c, status);
        if (!c->pid && start_more)
            start_client(c);
        n += c->pid != 0;
    }
    return n;
}

/* --- kills -------------------------------------------------------------------------------------------------------------- */

/* By a pidfd: the number may be another process's by now. */
static int kill_child_of(pid_t parent, pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), rc = -1;
    pid_t children[64];
    size_t n = hxt_children(parent, children, HXT_LEN(children));

    for (size_t i = 0; fd >= 0 && i < n && i < HXT_LEN(children); i++)
        if (children[i] == pid)
            rc = (int)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    close(fd);
    return rc;
}

static void kill_a_pd(void)
{
    pid_t pds[64];
    const pid_t dsp = own_rig_dsp();
    size_t n = dsp ? hxt_children(dsp, pds, HXT_LEN(pds)) : 0;

    if (n && n <= HXT_LEN(pds) && kill_child_of(dsp, pds[hxt_below(&r.rng, n)]) == 0)
        r.pd_kills++;
}

static void kill_the_dsp(void)
{
    const pid_t dsp = own_rig_dsp();

    if (dsp && kill_child_of(own_rig_child.pid, dsp) == 0)
        r.dsp_kills++;
}

static void kill_what_is_due(void)
{
    const double now = now_s();

    if (now >= r.next_pd_kill) {
        kill_a_pd();
        r.next_pd_kill = now + hxt_unit(&r.rng) * PD_KILL_MS / 1000;
    }
    if (now >= r.next_dsp_kill) {
        kill_the_dsp();
        r.next_dsp_kill = now + dsp_kill_s + hxt_unit(&r.rng) * seconds() / 10;
    }
}

/* --- rows --------------------------------------------------------------------------------------------------------------- */

static int all_have_ended(void *unused)
{
    (void)unused;
    return tend_clients(0) == 0;
}

static int holds_no_more(void *idle)
{
    const struct holdings *i = idle, h = holdings_now();

    return h.pds == 0 && h.dsp_fds >= 0 && h.dsp_fds <= i->dsp_fds && h.driver_fds <= i->driver_fds;
}

static int call_vtcm(const char *unused)
{
    (void)unused;
    return soak_vtcm_is_free();
}

static int vtcm_is_free(void *unused)
{
    (void)unused;
    return own_rig_run(call_vtcm, NULL) == 1;
}

/* Lets all clients end, waits until the rig has taken back what they had, and says what it holds now. */
static struct holdings row(const struct holdings *idle)
{
    struct holdings h;

    if (!hxt_until(all_have_ended, NULL, PATIENCE_S))
        fail_msg("a client hangs");
    if (!hxt_until(vtcm_is_free, NULL, PATIENCE_S))
        fail_msg("VTCM is not free");
    hxt_until(holds_no_more, (void *)idle, PATIENCE_S);
    h = holdings_now();
    printf("| %.0f s | %lu clients, %lu killed, %lu lost | %lu calls | %lu opens again | %lu PDs, %lu DSPs killed | "
           "%d, %d fds | %ld, %ld KiB | %d PDs |\n",
           now_s() - r.start, r.ended, r.killed, r.lost, atomic_load(&soak_counts->calls), atomic_load(&soak_counts->refused),
           r.pd_kills, r.dsp_kills, h.driver_fds, h.dsp_fds, h.driver_kib, h.dsp_kib, h.pds);
    fflush(stdout);
    return h;
}

static void work_until(double end)
{
    do {
        tend_clients(1);
        kill_what_is_due();
        poll(NULL, 0, 2);
    } while (now_s() < end);
}

static void test_clients_that_come_and_die_leave_nothing(void **state)
{
    const struct holdings idle = holdings_now();
    struct holdings warm = idle, last = idle;

    (void)state;
    r = (struct run){.start = now_s()};
    hxt_rng_init(&r.rng, 1);
    r.next_pd_kill = r.start;
    r.next_dsp_kill = r.start + seconds() / 20;
    for (int i = 1; i <= ROWS; i++) {
        work_until(r.start + seconds() * i / ROWS);
        last = row(&idle);
        if (i == WARM_ROWS)
            warm = last;
        assert_int_equal(last.pds, 0);
        if (i >= WARM_ROWS) {
            assert_int_equal(last.driver_fds, warm.driver_fds);
            assert_int_equal(last.dsp_fds, warm.dsp_fds);
        }
    }
    assert_true(last.driver_kib > 0 && last.driver_kib <= warm.driver_kib + GROWTH_KIB);
    assert_true(last.dsp_kib > 0 && last.dsp_kib <= warm.dsp_kib + GROWTH_KIB);
    assert_true(r.pd_kills > 0 && r.killed > 0);
    assert_true(atomic_load(&soak_counts->refused) > 0); /* there were more clients than sessions */
    assert_true(r.lost <= r.pd_kills + CLIENTS * r.dsp_kills); /* nobody lost anything for another reason */
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients_that_come_and_die_leave_nothing),
    };

    own_rig_front_end = front_end;
    own_rig_seconds = seconds() + 600;
    soak_counts = mmap(NULL, sizeof(*soak_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (soak_counts == MAP_FAILED)
        return 1;
    printf("| %s | clients ended | right replies | sessions taken | kills | driver, DSP | driver, DSP | left |\n", front_end);
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
