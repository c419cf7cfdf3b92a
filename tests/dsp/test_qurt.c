/* Protects QuRT as skels see it: threads, HVX contexts and mutexes, what they do to virtual time, and what the log says
 * about misuse. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "hx_profile.h"
#include "hxt_proc.h"
#include "kept_log.h"
#include "base/machine.h"
#include "qurt.h"
#include "qurt_threads.h"

enum { HANDOFF = 100 };

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .cost = {.packet_pcycles = 1, .handoff_pcycles = HANDOFF}};

/* --- threads */

struct seen {
    qurt_thread_t id;
    int priority;
    char name[20];
    uint64_t start;
    void *local;
};

static void look(void *arg)
{
    struct seen *s = arg;
    int local;

    s->id = qurt_thread_get_id();
    s->priority = qurt_thread_get_priority(s->id);
    qurt_thread_get_name(s->name, sizeof(s->name));
    s->start = hx_vt_now();
    s->local = &local;
    work(1000);
    qurt_thread_exit(42);
}

/* For hxt_until(): none of those that start() has made is left. */
static int all_have_ended(void *unused)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int n = 0;

    (void)unused;
    while (d && (e = readdir(d))) {
        char *name = hxt_read_file(hxt_path("/proc/self/task/%s/comm", e->d_name), NULL);

        n += name && strcmp(name, "worker\n") == 0;
        free(name);
    }
    if (d)
        closedir(d);
    return n == 0;
}

static void test_a_thread_is_what_its_attributes_say(void **state)
{
    struct seen s;
    uint64_t t0 = begin();
    qurt_thread_t id;

    (void)state;
    assert_int_equal(qurt_thread_get_priority(qurt_thread_get_id()), 192);
    work(50);
    id = start(0, look, &s);
    assert_int_equal(join(id), 42);
    assert_int_equal(s.id, id);
    assert_int_not_equal(id, qurt_thread_get_id());
    assert_int_equal(s.priority, 192); /* the creator's */
    assert_string_equal(s.name, "worker");
    assert_int_equal(s.start, t0 + 50 + HANDOFF);
    assert_int_equal(hx_vt_now(), s.start + 1000 + HANDOFF); /* the joiner was woken, too */
    assert_true((char *)s.local >= (char *)stacks[0] &&
                (char *)s.local < (char *)stacks[0] + STACK);
    join(start_with(0, 7, QURT_THREAD_ATTR_CREATE_JOINABLE, look, &s));
    assert_int_equal(s.priority, 7);
}

static void test_a_small_stack_is_replaced_by_one_below_4_gib(void **state)
{
    static char small[32 << 10] __attribute__((aligned(8))); /* the stack that published skels give their threads */
    qurt_thread_attr_t a;
    struct seen s;
    qurt_thread_t id;

    (void)state;
    begin();
    memset(small, HXT_POISON, sizeof(small));
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_stack_addr(&a, small);
    qurt_thread_attr_set_stack_size(&a, sizeof(small));
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    assert_int_equal(qurt_thread_create(&id, &a, look, &s), QURT_EOK);
    join(id);
    assert_true((uintptr_t)s.local <= UINT32_MAX);
    hxt_untouched(small, sizeof(small));
}

/* As much as the vectors of one function take at -O0. */
static void use_much_stack(void *used)
{
    volatile char local[750 << 10];

    for (size_t i = 0; i < sizeof(local); i += 1 << 10)
        local[i] = 1;
    *(int *)used = local[0] + local[sizeof(local) / 1024 * 1024 - 1024];
}

static void test_a_small_stack_has_room_for_what_unoptimised_code_takes(void **state)
{
    static char small[32 << 10] __attribute__((aligned(8)));
    qurt_thread_attr_t a;
    qurt_thread_t id;
    int used = 0;

    (void)state;
    begin();
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_stack_addr(&a, small);
    qurt_thread_attr_set_stack_size(&a, sizeof(small));
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    assert_int_equal(qurt_thread_create(&id, &a, use_much_stack, &used), QURT_EOK);
    qurt_thread_join(id, NULL);
    assert_int_equal(used, 2);
}

static void test_join_gives_the_devices_errors(void **state)
{
    uint64_t t0 = begin();
    int status = 5;
    static struct seen s; /* the detached thread may have its turn after this test */
    qurt_thread_t id = start(0, look, &s);

    (void)state;
    join(id);
    log_begin();
    assert_int_equal(qurt_thread_join(id, &status), QURT_ENOTHREAD);
    log_end("was joined before");
    assert_int_equal(qurt_thread_get_priority(id), -1);
    assert_int_equal(qurt_thread_set_priority(id, 10), -1);
    log_begin();
    assert_int_equal(qurt_thread_join(qurt_thread_get_id(), &status), QURT_ENOTHREAD);
    log_end("is not QuRT's");

    /* A thread that is not joinable is gone once it has ended, by the virtual clock. */
    id = start_with(0, 100, QURT_THREAD_ATTR_CREATE_LEGACY, look, &s);
    assert_int_equal(qurt_thread_join(id, &status), QURT_EOK);
    assert_int_equal(status, 42);
    id = start_with(0, 100, QURT_THREAD_ATTR_CREATE_LEGACY, look, &s);
    work(1e6);
    status = 5;
    assert_int_equal(qurt_thread_join(id, &status), QURT_ENOTHREAD);
    assert_int_equal(status, 5);
    assert_true(hx_vt_now() >= t0 + 1000000);

    id = start_with(0, 100, QURT_THREAD_ATTR_CREATE_DETACHED, look, &s);
    log_begin();
    assert_int_equal(qurt_thread_join(id, &status), QURT_ENOTHREAD);
    log_end("is detached");
    hx_vt_call_end(); /* nobody waits for this thread any more */
    assert_true(hxt_until(all_have_ended, NULL, 10)); /* it uses the stack */
}

static void test_threads_that_cannot_be_are_refused(void **state)
{
    static const struct {
        unsigned short priority;
        unsigned size, offset;
        const char *err;
    } bad[] = {{0, STACK, 0, "priority"},
               {256, STACK, 0, "priority"},
               {10, 0, 0, "no stack"},
               {10, STACK, 4, "aligned"}};
    qurt_thread_attr_t a;
    qurt_thread_t id;

    (void)state;
    for (unsigned i = 0; i < HXT_LEN(bad); i++) {
        qurt_thread_attr_init(&a);
        qurt_thread_attr_set_stack_addr(&a, (char *)stacks[0] + bad[i].offset);
        qurt_thread_attr_set_stack_size(&a, bad[i].size);
        qurt_thread_attr_set_priority(&a, bad[i].priority);
        log_begin();
        assert_int_equal(qurt_thread_create(&id, &a, look, NULL), QURT_EFAILED);
        log_end(bad[i].err);
    }
}

static _Atomic int flag;

static void wait_for_flag(void *arg)
{
    (void)arg;
    qurt_futex_wait(&flag, 0);
}

static void test_a_pd_has_128_threads_at_most(void **state)
{
    static char small[64] __attribute__((aligned(8)));
    qurt_thread_t ids[129];
    qurt_thread_attr_t a;
    int n = 0, rc;

    (void)state;
    begin();
    flag = 0;
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_stack_addr(&a, small);
    qurt_thread_attr_set_stack_size(&a, sizeof(small));
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    log_begin();
    while ((rc = qurt_thread_create(&ids[n], &a, wait_for_flag, NULL)) == QURT_EOK && n < 128)
        n++;
    log_end("128 threads");
    assert_int_equal(n, 128);
    assert_int_equal(rc, QURT_EFAILED);
    flag = 1;
    qurt_futex_wake(&flag, 1000);
    while (n--)
        join(ids[n]);
}

static void leave_things_locked(void *arg)
{
    qurt_mutex_lock(arg);
    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), 0);
}

static void test_a_thread_that_ends_gives_its_hvx_context_back(void **state)
{
    qurt_mutex_t m = QURT_MUTEX_INIT;

    (void)state;
    begin();
    log_begin();
    join(start(0, leave_things_locked, &m));
    log_end("ended with its HVX context locked");
    log_begin();
    join(start(0, leave_things_locked, &(qurt_mutex_t)QURT_MUTEX_INIT));
    log_end("ended with 1 mutexes locked");
    for (int i = 0; i < 2; i++)
        assert_int_equal(hx_machine->hvx[i].client, 0);
}

/* --- HVX contexts */

static void take_context(void *arg)
{
    *(int *)arg = qurt_hvx_try_lock(QURT_HVX_MODE_128B);
    if (*(int *)arg == 0)
        qurt_hvx_unlock();
}

static void hold_context(void *arg)
{
    qurt_barrier_t *b = arg;

    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), 0);
    qurt_barrier_wait(b);
    qurt_barrier_wait(b);
    qurt_hvx_unlock();
}

static void test_hvx_contexts_are_as_many_as_the_profile_says(void **state)
{
    qurt_barrier_t b;
    qurt_thread_t id;
    int rc = 5;

    (void)state;
    begin();
    assert_int_equal(qurt_hvx_get_units(), 2 << 8);
    assert_int_equal(qurt_hvx_get_mode(), QURT_HVX_MODE_128B);
    assert_int_equal(qurt_hvx_get_lock_val(), QURT_HVX_UNLOCKED);
    qurt_barrier_init(&b, 2);
    id = start(0, hold_context, &b);
    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), 0);
    assert_int_equal(qurt_hvx_get_lock_val(), QURT_HVX_LOCKED);
    log_begin();
    assert_int_not_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), 0);
    log_end("holds HVX context");
    qurt_barrier_wait(&b);
    join(start(1, take_context, &rc));
    assert_int_not_equal(rc, 0); /* both are taken */
    qurt_barrier_wait(&b);
    join(id);
    qurt_hvx_unlock();
    join(start(1, take_context, &rc));
    assert_int_equal(rc, 0);
    assert_int_equal(qurt_hvx_reserve(QURT_HVX_RESERVE_ALL), 4);
    assert_int_equal(qurt_hvx_reserve(QURT_HVX_RESERVE_ALL), QURT_HVX_RESERVE_ALREADY_MADE);
    assert_int_equal(qurt_hvx_cancel_reserve(), 0);
    assert_int_equal(qurt_hvx_cancel_reserve(), QURT_HVX_RESERVE_CANCEL_ERR);
}

/* --- mutexes */

static qurt_mutex_t mutex;
static long counter;

static void count_up(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5000; i++) {
        qurt_mutex_lock(&mutex);
        counter++;
        work(10);
        qurt_mutex_unlock(&mutex);
    }
}

static void test_a_mutex_excludes_and_its_holds_add_up(void **state)
{
    uint64_t t0 = begin();
    qurt_thread_t id[4];

    (void)state;
    qurt_mutex_init(&mutex);
    counter = 0;
    for (unsigned i = 0; i < 4; i++)
        id[i] = start(i, count_up, NULL);
    for (unsigned i = 0; i < 4; i++)
        join(id[i]);
    assert_int_equal(counter, 4 * 5000);
    assert_true(hx_vt_now() - t0 >= 4 * 5000 * 10); /* no two holds at the same time */
    qurt_mutex_destroy(&mutex);
}

static unsigned order[3], n_order;

static void lock_and_note(void *arg)
{
    qurt_mutex_lock(&mutex);
    order[n_order++] = *(unsigned *)arg;
    qurt_mutex_unlock(&mutex);
}

static void test_a_mutex_goes_to_the_most_urgent_waiter(void **state)
{
    unsigned priority[3] = {200, 20, 100};
    qurt_thread_t id[3];

    (void)state;
    begin();
    qurt_mutex_init(&mutex);
    n_order = 0;
    qurt_mutex_lock(&mutex);
    for (unsigned i = 0; i < 3; i++)
        id[i] = start_with(i, (unsigned short)priority[i], QURT_THREAD_ATTR_CREATE_JOINABLE,
                           lock_and_note, &priority[i]);
    work(2 * HANDOFF); /* all wait by then */
    qurt_mutex_unlock(&mutex);
    for (unsigned i = 0; i < 3; i++)
        join(id[i]);
    assert_int_equal(order[0], 20);
    assert_int_equal(order[1], 100);
    assert_int_equal(order[2], 200);
}

static void hold_for_a_while(void *arg)
{
    qurt_sem_t *locked = arg;

    qurt_mutex_lock(&mutex);
    qurt_sem_up(locked);
    pause_ms(20);
    work(50000); /* 50 us */
    qurt_mutex_unlock(&mutex);
}

static void test_timed_locks_go_by_the_virtual_clock(void **state)
{
    qurt_sem_t locked;
    qurt_thread_t id;
    uint64_t t;

    (void)state;
    begin();
    qurt_mutex_init(&mutex);
    for (unsigned us = 10; us <= 100; us += 90) {
        qurt_sem_init_val(&locked, 0);
        id = start(0, hold_for_a_while, &locked);
        qurt_sem_down(&locked);
        t = hx_vt_now();
        assert_int_equal(qurt_mutex_lock_timed(&mutex, us), us < 50 ? QURT_ETIMEDOUT : QURT_EOK);
        /* It was released after 50 us less the hand-off of the semaphore, and waking took a hand-off. */
        assert_int_equal(hx_vt_now() - t, us < 50 ? us * 1000 : 50000);
        if (us > 50)
            qurt_mutex_unlock(&mutex);
        join(id);
    }
    /* Nobody ever comes. */
    qurt_sem_init_val(&locked, 0);
    t = hx_vt_now();
    assert_int_equal(qurt_sem_down_timed(&locked, 300), QURT_ETIMEDOUT);
    assert_int_equal(hx_vt_now() - t, 300000);
}

static void hold_until_told(void *arg)
{
    qurt_barrier_t *b = arg;

    qurt_mutex_lock(&mutex);
    qurt_barrier_wait(b);
    qurt_barrier_wait(b);
    qurt_mutex_unlock(&mutex);
}

static void test_misuse_of_a_mutex_is_named(void **state)
{
    qurt_barrier_t b;
    qurt_thread_t id;
    pid_t pid;
    int status;

    (void)state;
    begin();
    qurt_mutex_init(&mutex);
    qurt_barrier_init(&b, 2);
    log_begin();
    qurt_mutex_unlock(&mutex);
    log_end("is not locked");
    id = start(0, hold_until_told, &b);
    qurt_barrier_wait(&b);
    log_begin();
    qurt_mutex_unlock(&mutex);
    log_end("not by the caller");
    assert_int_not_equal(qurt_mutex_try_lock(&mutex), 0);
    qurt_barrier_wait(&b);
    join(id);
    qurt_mutex_lock(&mutex);
    assert_int_not_equal(qurt_mutex_try_lock(&mutex), 0);
    log_begin();
    pid = fork();
    if (pid == 0) {
        qurt_mutex_lock(&mutex);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    log_end("would wait for itself");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    log_begin();
    qurt_mutex_destroy(&mutex);
    log_end("is held by thread");
}

static void test_a_recursive_mutex_counts(void **state)
{
    qurt_mutex_t m;

    (void)state;
    begin();
    qurt_rmutex_init(&m);
    qurt_rmutex_lock(&m);
    qurt_rmutex_lock(&m);
    assert_int_equal(qurt_rmutex_try_lock(&m), 0);
    qurt_rmutex_unlock(&m);
    qurt_rmutex_unlock(&m);
    assert_int_not_equal(m.holder, 0);
    qurt_rmutex_unlock(&m);
    assert_int_equal(m.holder, 0);
    qurt_rmutex_destroy(&m);
}

static void test_the_machine_tells_what_it_is(void **state)
{
    qurt_sysenv_max_hthreads_t n;
    qurt_arch_version_t v;

    (void)state;
    assert_int_equal(qurt_sysenv_get_max_hw_threads(&n), QURT_EOK);
    assert_int_equal(n.max_hthreads, 4);
    assert_int_equal(qurt_sysenv_get_arch_version(&v), QURT_EOK);
    assert_int_equal(v.arch_version, 0x69);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_is_what_its_attributes_say),
        cmocka_unit_test(test_a_small_stack_is_replaced_by_one_below_4_gib),
        cmocka_unit_test(test_a_small_stack_has_room_for_what_unoptimised_code_takes),
        cmocka_unit_test(test_join_gives_the_devices_errors),
        cmocka_unit_test(test_threads_that_cannot_be_are_refused),
        cmocka_unit_test(test_a_pd_has_128_threads_at_most),
        cmocka_unit_test(test_a_thread_that_ends_gives_its_hvx_context_back),
        cmocka_unit_test(test_hvx_contexts_are_as_many_as_the_profile_says),
        cmocka_unit_test(test_a_mutex_excludes_and_its_holds_add_up),
        cmocka_unit_test(test_a_mutex_goes_to_the_most_urgent_waiter),
        cmocka_unit_test(test_timed_locks_go_by_the_virtual_clock),
        cmocka_unit_test(test_misuse_of_a_mutex_is_named),
        cmocka_unit_test(test_a_recursive_mutex_counts),
        cmocka_unit_test(test_the_machine_tells_what_it_is),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    return HXT_RUN(tests);
}
