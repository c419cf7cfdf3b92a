/* Protects the compute resource manager: attributes, waiting by priority and by the virtual clock,
 * cache mode, callbacks, and what comes back when a PD dies.  PDs are processes that this program forks; the machine lies
 * in shared memory as under a rig. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_vtcm_mgr.h"
#include "hx_profile.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "kept_log.h"
#include "base/machine.h"
#include "qurt_thread.h"
#include "cost/vtime.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };
enum { PATIENCE_US = 100000000 }; /* of a wait that will succeed: longer than any machine stands still */

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .cost = {.packet_pcycles = 1, .vtcm_request_pcycles = 70}};

/* --- helpers */

static uint64_t begin(void)
{
    hx_vt_call_end(); /* the machine goes on from here */
    hx_vt_call_begin(0, 1000000);
    return hx_vt_now();
}

static uint64_t queued(void)
{
    return hx_vtime_spent().queue_pcycles;
}

/* Where the grant begins, in KiB from the base. */
static long at_kib(const void *p)
{
    return p ? (long)((const uint8_t *)p - hx_vtcm) / KIB : -1;
}

static uint32_t available(void)
{
    unsigned range;

    HAP_query_avail_VTCM(&range, NULL, NULL);
    return range;
}

/* What a PD and the test tell each other. */
static struct shared {
    _Atomic int step;
    _Atomic unsigned asked;
    _Atomic unsigned context;
    _Atomic uint64_t address, left, order;
} *shared;

/* The body of a PD; 0 is success.  Asserts of cmocka do not work there. */
typedef int (*pd_body)(void);

static pid_t run_pd(int32_t client, pd_body body)
{
    pid_t pid = fork();

    if (pid == 0) {
        hx_pd_client = client;
        _exit(body());
    }
    assert_true(pid > 1);
    return pid;
}

static void end_pd(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("the PD ended with 0x%x", (unsigned)status);
}

static int step_is(void *step)
{
    return shared->step >= *(int *)step;
}

static void wait_for_step(int step)
{
    if (!hxt_until(step_is, &step, 20))
        fail_msg("step %d was not reached within 20 s", step);
}

/* Contexts that nobody has got yet. */
static int n_waiting(void)
{
    int n = 0;

    hx_machine_lock();
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        n += hx_machine->crm->entry[i].client && hx_machine->crm->entry[i].state == HX_CRM_WAITS;
    hx_machine_unlock();
    return n;
}

static int are_waiting(void *n)
{
    return n_waiting() >= *(int *)n;
}

/* In PDs. */
static int pd_wait_for_step(int step)
{
    return hxt_until(step_is, &step, 20) ? 0 : 1;
}

static unsigned acquire(unsigned bytes, unsigned char serialize, unsigned timeout_us, void **p)
{
    compute_res_attr_t a;
    unsigned id;

    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_serialize(&a, serialize);
    HAP_compute_res_attr_set_vtcm_param(&a, bytes, 1);
    id = HAP_compute_res_acquire(&a, timeout_us);
    if (p)
        *p = HAP_compute_res_attr_get_vtcm_ptr(&a);
    return id;
}

static int each_test(void **state)
{
    (void)state;
    memset(shared, 0, sizeof(*shared));
    assert_int_equal(available(), 8 * MIB); /* nothing is left from the last one */
    begin();
    return 0;
}

/* --- contexts */

static void test_what_fails_says_why(void **state)
{
    unsigned id = acquire(4 * MIB, 0, 0, NULL);
    uint64_t now = hx_vt_now();

    (void)state;
    log_begin();
    assert_int_equal(acquire(9 * MIB, 0, 1000000, NULL), 0);
    log_end("need 9437184 bytes of VTCM in pages of 9437184, there are 8388608 bytes in all");
    assert_int_equal(hx_vt_now(), now); /* nobody waited */
    setenv("HEXRIG_FARF", "HIGH", 1);
    log_begin();
    assert_int_equal(acquire(6 * MIB, 0, 0, NULL), 0);
    log_end("need 6291456 bytes of VTCM, 4194304 free");
    unsetenv("HEXRIG_FARF");
    HAP_compute_res_release(id);
}

static void test_acquiring_costs_what_the_profile_says(void **state)
{
    uint64_t t0 = hx_vt_now();
    unsigned id = acquire(MIB, 0, 0, NULL);

    (void)state;
    assert_int_equal(hx_vt_now() - t0, 70);
    HAP_compute_res_release(id);
}

static void test_releasing_vtcm_costs_what_the_profile_says(void **state)
{
    const unsigned with = acquire(MIB, 0, 0, NULL), without = acquire(0, 1, 0, NULL);
    const uint64_t t0 = hx_vt_now();

    (void)state;
    hx_machine->cost.vtcm_release_pcycles = 30;
    assert_int_equal(HAP_compute_res_release(without), 0);
    assert_int_equal(hx_vt_now() - t0, 0);
    assert_int_equal(HAP_compute_res_release(with), 0);
    assert_int_equal(hx_vt_now() - t0, 30);
    hx_machine->cost.vtcm_release_pcycles = 0;
}

static void test_attributes_are_checked(void **state)
{
    compute_res_attr_t a;
    unsigned size;
    void *p;

    (void)state;
    memset(&a, HXT_POISON, sizeof(a));
    log_begin();
    assert_int_not_equal(HAP_compute_res_attr_set_vtcm_param(&a, MIB, 1), 0);
    assert_int_equal(HAP_compute_res_acquire(&a, 0), 0);
    assert_int_not_equal(HAP_compute_res_attr_get_vtcm_ptr_v2(&a, &p, &size), 0);
    log_end("HAP_compute_res_attr_init() was not called");
    assert_int_equal(HAP_compute_res_attr_init(&a), 0);
    assert_int_equal(HAP_compute_res_attr_set_vtcm_param_v2(&a, MIB, 0, 2 * MIB), AEE_EBADPARM);
    assert_int_equal((unsigned)HAP_compute_res_attr_set_hmx_param(&a, 1),
                     HAP_COMPUTE_RES_NOT_SUPPORTED);
    assert_int_equal(HAP_compute_res_attr_set_hmx_param(&a, 0), 0);
    assert_int_equal(HAP_compute_res_attr_set_app_type(&a, 3), 0);
    log_begin();
    assert_int_equal((unsigned)HAP_compute_res_hmx_lock(1), HAP_COMPUTE_RES_NOT_SUPPORTED);
    log_end("no HMX");
    log_begin();
    assert_int_not_equal(HAP_compute_res_release(12345), 0);
    log_end("no context 12345");
    assert_int_not_equal(HAP_compute_res_check_release_request(12345), 0);
    assert_int_not_equal(HAP_compute_res_update_priority(12345, 10), 0);
}

static void test_less_will_do_when_the_attribute_says_so(void **state)
{
    void *taken = HAP_request_VTCM(256 * KIB, 1), *p;
    compute_res_attr_t a;
    unsigned id, size;

    (void)state;
    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param_v2(&a, 8 * MIB, MIB, 2 * MIB);
    id = HAP_compute_res_acquire(&a, 0);
    assert_int_not_equal(id, 0);
    assert_int_equal(HAP_compute_res_attr_get_vtcm_ptr_v2(&a, &p, &size), 0);
    assert_int_equal(size, 7 * MIB); /* whole pages of 1 MiB */
    assert_int_equal(at_kib(p), 1024);
    assert_int_equal(HAP_release_VTCM(p), AEE_EBADPARM); /* it is the context's */
    assert_int_equal(HAP_compute_res_release(id), 0);
    HAP_compute_res_attr_set_vtcm_param_v2(&a, 8 * MIB, 0, 0);
    assert_int_equal(HAP_compute_res_acquire(&a, 0), 0);
    assert_null(HAP_compute_res_attr_get_vtcm_ptr(&a));
    HAP_release_VTCM(taken);
}

/* --- several PDs */

/* The test waits, or has done so in vain. */
static int is_waited_for(void *unused)
{
    (void)unused;
    return shared->step >= 3 || n_waiting() > 0;
}

static int hold_all(void)
{
    unsigned id = acquire(8 * MIB, 0, 0, NULL);

    if (!id)
        return 1;
    shared->step = 1;
    if (pd_wait_for_step(2))
        return 2;
    if (!hxt_until(is_waited_for, NULL, 20))
        return 3;
    hx_vt_spend(HX_VT_CODE, 500000); /* 500 us */
    shared->left = hx_vt_now();
    hx_vt_call_end(); /* what comes after the test is later than this */
    return HAP_compute_res_release(id);
}

static void test_a_pd_waits_for_another_in_virtual_time(void **state)
{
    unsigned id;
    void *p;

    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        pid_t pid;

        each_test(NULL);
        pid = run_pd(5, hold_all);
        wait_for_step(1);
        assert_int_equal(acquire(MIB, 0, 0, NULL), 0); /* now or not */
        assert_int_equal(queued(), 0);
        shared->step = 2;
        id = acquire(4 * MIB, 0, enough ? PATIENCE_US : 300, &p);
        shared->step = 3;
        if (enough) {
            assert_int_not_equal(id, 0);
            assert_int_equal(hx_vt_now(), shared->left); /* released 500 us after it was taken */
            assert_int_equal(at_kib(p), 0);
            if (queued() != 500000 - 70)
                fail_msg("queued %lu", (unsigned long)queued());
        } else {
            assert_int_equal(id, 0); /* it came in time for the wall clock only, if at all */
            assert_int_equal(queued(), 300000);
        }
        end_pd(pid);
        if (id)
            HAP_compute_res_release(id);
    }
}

static void test_a_wait_can_fail_by_the_virtual_clock_alone(void **state)
{
    uint64_t t0 = hx_vt_now();
    unsigned id = acquire(8 * MIB, 0, 0, NULL);

    (void)state;
    hx_vt_spend(HX_VT_CODE, 5e6); /* 5 ms */
    HAP_compute_res_release(id);
    hx_vt_call_begin(0, 1000000); /* another thread, which has come to the same point in no time */
    assert_int_equal(hx_vt_now(), t0);
    assert_int_equal(acquire(MIB, 0, 1000, NULL), 0);
    assert_int_equal(hx_vt_now() - t0, 70 + 1000000);
    id = acquire(MIB, 0, 10000, NULL);
    assert_int_not_equal(id, 0);
    assert_int_equal(hx_vt_now() - t0, 70 + 5000000);
    HAP_compute_res_release(id);
}

static int line_up(unsigned short priority)
{
    unsigned id;

    qurt_thread_set_priority(qurt_thread_get_id(), priority);
    id = acquire(8 * MIB, 0, PATIENCE_US, NULL);
    shared->order = shared->order * 1000 + priority;
    usleep(20000);
    return id ? HAP_compute_res_release(id) : 1;
}

static int line_up_150(void)
{
    return line_up(150);
}

static int line_up_30(void)
{
    return line_up(30);
}

static int line_up_90(void)
{
    return line_up(90);
}

static void test_the_most_urgent_pd_comes_first(void **state)
{
    unsigned id = acquire(8 * MIB, 0, 0, NULL);
    pid_t pid[3];
    int all = 3;

    (void)state;
    pid[0] = run_pd(5, line_up_150);
    pid[1] = run_pd(6, line_up_30);
    pid[2] = run_pd(7, line_up_90);
    assert_true(hxt_until(are_waiting, &all, 10));
    HAP_compute_res_release(id);
    for (int i = 0; i < 3; i++)
        end_pd(pid[i]);
    assert_int_equal(shared->order, 30090150);
}

static int hold_serial_turn(void)
{
    unsigned id = acquire(0, 1, 0, NULL);

    shared->step = 1;
    if (!id || pd_wait_for_step(2))
        return 1;
    return HAP_compute_res_release(id);
}

static void test_serialized_contexts_take_turns(void **state)
{
    pid_t pid = run_pd(5, hold_serial_turn);
    unsigned id, other;

    (void)state;
    wait_for_step(1);
    assert_int_equal(acquire(MIB, 1, 300, NULL), 0);
    other = acquire(MIB, 0, 0, NULL); /* does not take part */
    assert_int_not_equal(other, 0);
    shared->step = 2;
    id = acquire(MIB, 1, PATIENCE_US, NULL);
    assert_int_not_equal(id, 0);
    assert_int_equal(acquire(0, 1, 0, NULL), 0);
    HAP_compute_res_release(id);
    HAP_compute_res_release(other);
    end_pd(pid);
}

/* --- cache mode and callbacks */

static unsigned acquire_cache(unsigned bytes, int (*callback)(unsigned, void *), void **p)
{
    compute_res_attr_t a;
    unsigned id, size;

    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_cache_mode(&a, 1);
    HAP_compute_res_attr_set_vtcm_param_v2(&a, bytes, 0, bytes);
    if (callback)
        HAP_compute_res_attr_set_release_callback(&a, callback, (void *)(uintptr_t)0x77);
    id = HAP_compute_res_acquire(&a, 0);
    HAP_compute_res_attr_get_vtcm_ptr_v2(&a, p, &size);
    return id;
}

static int release_cached(unsigned context_id, void *client_context)
{
    if (client_context != (void *)(uintptr_t)0x77)
        return 1;
    shared->asked++;
    return HAP_compute_res_release_cached(context_id);
}

static int hold_cached(void)
{
    void *p;
    unsigned id = acquire_cache(8 * MIB, release_cached, &p);

    shared->address = (uintptr_t)p;
    hx_vt_spend(HX_VT_CODE, 3e6);
    if (!id || HAP_compute_res_acquire_cached(id, 0))
        return 1;
    shared->left = hx_vt_now();
    shared->step = 1;
    if (pd_wait_for_step(2))
        return 2;
    /* The other has it now; the same address comes back when it is free. */
    if (HAP_compute_res_acquire_cached(id, 300) != AEE_EEXPIRED)
        return 3;
    shared->step = 3;
    if (HAP_compute_res_acquire_cached(id, PATIENCE_US))
        return 4;
    memset(p, 1, 8 * MIB);
    return HAP_compute_res_release_cached(id) || HAP_compute_res_release(id);
}

static void test_cached_contexts_share_an_address_and_a_callback_asks_for_it(void **state)
{
    pid_t pid = run_pd(5, hold_cached);
    unsigned id;
    void *p;

    (void)state;
    wait_for_step(1);
    id = acquire_cache(8 * MIB, NULL, &p); /* finds a place, although all of it is held */
    assert_int_not_equal(id, 0);
    assert_int_equal((uintptr_t)p, shared->address);
    /* As urgent as the holder: nobody is asked. */
    assert_int_equal(HAP_compute_res_acquire_cached(id, 1000), AEE_EEXPIRED);
    assert_int_equal(shared->asked, 0);
    qurt_thread_set_priority(qurt_thread_get_id(), 100);
    assert_int_equal(HAP_compute_res_acquire_cached(id, PATIENCE_US), 0);
    assert_int_equal(shared->asked, 1);
    assert_true(hx_vt_now() >= shared->left); /* it could not be given back before it was taken */
    log_begin();
    assert_int_equal(HAP_compute_res_acquire_cached(id, 0), AEE_EALREADY);
    log_end("is held already");
    shared->step = 2;
    wait_for_step(3);
    assert_int_equal(HAP_compute_res_release_cached(id), 0);
    assert_int_equal(HAP_compute_res_release_cached(id), AEE_EBADSTATE);
    end_pd(pid);
    qurt_thread_set_priority(qurt_thread_get_id(), 192);
    assert_int_equal(HAP_compute_res_release(id), 0);
    log_begin();
    assert_int_equal(HAP_compute_res_acquire_cached(id, 0), AEE_EBADPARM);
    log_end("none of this PD");
}

static int wait_urgently(void)
{
    qurt_thread_set_priority(qurt_thread_get_id(), 20);
    shared->step = 1;
    return acquire(8 * MIB, 0, PATIENCE_US, NULL) ? 0 : 1; /* comes back by the reaper */
}

static int is_wanted(void *context)
{
    return HAP_compute_res_check_release_request(*(unsigned *)context) == 1;
}

static void test_a_holder_can_ask_whether_it_is_wanted(void **state)
{
    unsigned id = acquire(MIB, 0, 0, NULL);
    pid_t pid;

    (void)state;
    assert_int_equal(HAP_compute_res_check_release_request(id), 0);
    pid = run_pd(5, wait_urgently);
    assert_true(hxt_until(is_wanted, &id, 10));
    assert_int_equal(HAP_compute_res_update_priority(id, 10), 0);
    /* More urgent than the waiter. */
    assert_int_equal(HAP_compute_res_check_release_request(id), 0);
    assert_int_equal(HAP_compute_res_update_priority(id, 0), 0);
    assert_int_equal(HAP_compute_res_check_release_request(id), 1);
    HAP_compute_res_release(id);
    end_pd(pid);
    hx_machine_reap(5);
}

/* --- the end of a PD */

static int hold_and_hang(void)
{
    unsigned id = acquire(4 * MIB, 1, 0, NULL);
    void *p;

    acquire_cache(MIB, release_cached, &p);
    if (!id || !HAP_request_VTCM(MIB, 1))
        return 1;
    shared->step = 1;
    for (;;)
        pause();
}

static void test_what_a_killed_pd_held_comes_back(void **state)
{
    pid_t pid = run_pd(5, hold_and_hang);
    int status;

    (void)state;
    wait_for_step(1);
    assert_int_equal(available(), 3 * MIB);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    hx_machine_reap(5); /* the root PD's part */
    assert_int_equal(available(), 8 * MIB);
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        assert_int_equal(hx_machine->crm->entry[i].client, 0);
}

static int wait_forever_then_never(void)
{
    acquire(8 * MIB, 0, PATIENCE_US, NULL);
    return 1;
}

static void test_a_waiting_pd_can_be_killed(void **state)
{
    unsigned id = acquire(MIB, 0, 0, NULL), again;
    pid_t pid = run_pd(5, wait_forever_then_never);
    int status, one = 1;

    (void)state;
    assert_true(hxt_until(are_waiting, &one, 10));
    kill(pid, SIGKILL); /* maybe with the machine's lock */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    hx_machine_reap(5);
    again = acquire(MIB, 0, 0, NULL);
    assert_int_not_equal(again, 0);
    HAP_compute_res_release(id);
    HAP_compute_res_release(again);
}

static void test_contexts_run_out(void **state)
{
    unsigned id[HX_CRM_ENTRIES];

    (void)state;
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++) {
        id[i] = acquire(0, 0, 0, NULL);
        assert_int_not_equal(id[i], 0);
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(id[i], id[j]);
    }
    log_begin();
    assert_int_equal(acquire(0, 0, 0, NULL), 0);
    log_end("64 contexts exist already");
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        assert_int_equal(HAP_compute_res_release(id[i]), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, each_test)
    const struct CMUnitTest tests[] = {
        TEST(test_what_fails_says_why),
        TEST(test_acquiring_costs_what_the_profile_says),
        TEST(test_releasing_vtcm_costs_what_the_profile_says),
        TEST(test_attributes_are_checked),
        TEST(test_less_will_do_when_the_attribute_says_so),
        TEST(test_a_pd_waits_for_another_in_virtual_time),
        TEST(test_a_wait_can_fail_by_the_virtual_clock_alone),
        TEST(test_the_most_urgent_pd_comes_first),
        TEST(test_serialized_contexts_take_turns),
        TEST(test_cached_contexts_share_an_address_and_a_callback_asks_for_it),
        TEST(test_a_holder_can_ask_whether_it_is_wanted),
        TEST(test_what_a_killed_pd_held_comes_back),
        TEST(test_a_waiting_pd_can_be_killed),
        TEST(test_contexts_run_out),
    };

    if (hx_machine_init(&profile))
        hxt_skip_all("no VTCM in this process");
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        hxt_skip_all("no shared memory");
    return HXT_RUN(tests);
}
