/* Protects what happens in FastRPC beside a caller: threads, asynchronous calls, notifications and restarts, against a
 * real rig, on both front ends. */
#include <pthread.h>
#include <stdatomic.h>

#include "calculator_client.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

/* --- threads ---------------------------------------------------------------------------------------------------- */

static void *sum_in_a_loop(void *arg)
{
    remote_handle64 h = *(remote_handle64 *)arg;
    int32_t v[3] = {1, 2, 3};

    for (int i = 0; i < 200; i++) {
        int64_t s = 0;

        if (calc_sum(h, v, 3, &s) || s != 6)
            return (void *)1;
    }
    return NULL;
}

static void test_threads_in_both_modes(void **state)
{
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    pthread_t t[4];
    void *bad;

    (void)state;
    assert_int_equal(remote_set_mode(2), 0); /* as good as parallel */
    for (uint32_t mode = REMOTE_MODE_SERIAL + 1; mode-- > 0;) {
        assert_int_equal(remote_set_mode(mode), 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&t[i], NULL, sum_in_a_loop, &h), 0);
        for (int i = 0; i < 4; i++) {
            pthread_join(t[i], &bad);
            assert_null(bad);
        }
    }
    assert_int_equal(remote_handle64_close(h), 0);
}

/* --- asynchronous calls ------------------------------------------------------------------------------------------- */

static _Atomic int callbacks, bad_callbacks;

static void called_back(fastrpc_async_jobid id, void *context, int result)
{
    if (result || *(int64_t *)context != 60 || fastrpc_release_async_job(id))
        bad_callbacks++;
    callbacks++;
}

static int all_called(void *n)
{
    return callbacks == *(int *)n;
}

/* A handle with a job under way stays open. */
static int closes(void *h)
{
    return remote_handle64_close(*(remote_handle64 *)h) == AEE_SUCCESS;
}

/* A job is under way until the test opens its gate. */
static void poll_a_job(void)
{
    struct hxt_gate *gate = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    struct hxt_in in = {5, 600000};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {gate, sizeof(*gate)}}};
    fastrpc_async_descriptor_t d = {.type = FASTRPC_ASYNC_POLL};
    remote_handle64 h;
    int result = -1;

    assert_non_null(gate);
    memset(gate, 0, sizeof(*gate));
    assert_int_equal(remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &h), AEE_SUCCESS);
    assert_int_equal(remote_handle64_invoke_async(h, &d, REMOTE_SCALARS_MAKE(HXT_WAIT, 2, 0), pra), 0);
    assert_int_equal(fastrpc_async_get_status(d.jobid, 0, &result), AEE_EBUSY);
    assert_int_equal(fastrpc_async_get_status(d.jobid, 1000, &result), AEE_EBUSY);
    assert_int_equal(fastrpc_release_async_job(d.jobid), AEE_EBUSY);
    atomic_store((_Atomic uint32_t *)&gate->open, 1);
    assert_int_equal(fastrpc_async_get_status(d.jobid, -1, &result), AEE_SUCCESS);
    assert_int_equal(result, 5);
    assert_int_equal(fastrpc_release_async_job(d.jobid), AEE_SUCCESS);
    assert_int_equal(fastrpc_async_get_status(d.jobid, 0, &result), AEE_EBADPARM);
    assert_true(hxt_until(closes, &h, 10));
    rpcmem_free(gate);
}

static void test_async_calls_call_back_poll_and_need_no_answer(void **state)
{
    enum { N = 16 };
    remote_handle64 h = open_calculator(CDSP_DOMAIN);
    static int32_t v[3] = {10, 20, 30};
    static uint32_t n = 3;
    static int64_t s[N];
    static int32_t ms = 1; /* the job without answer borrows it for as long as it takes */
    int32_t done = N, result = -1;
    fastrpc_async_descriptor_t d = {.type = FASTRPC_ASYNC_CALLBACK, .cb = {called_back, NULL}};
    remote_arg wait = {.buf = {&ms, sizeof(ms)}};

    (void)state;
    for (int i = 0; i < N; i++) {
        remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {v, sizeof(v)}}, {.buf = {&s[i], 8}}};

        d.cb.context = &s[i];
        assert_int_equal(remote_handle64_invoke_async(h, &d, REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1), pra), 0);
        assert_true(d.jobid != 0);
    }
    assert_true(hxt_until(all_called, &done, 20));
    assert_int_equal(bad_callbacks, 0);
    assert_int_equal(fastrpc_release_async_job(d.jobid), AEE_EBADPARM);

    poll_a_job();

    d.type = FASTRPC_ASYNC_NO_SYNC;
    assert_int_equal(remote_handle64_invoke_async(h, &d, REMOTE_SCALARS_MAKE(CALC_SLEEP_MS, 1, 0), &wait), 0);
    assert_int_equal(fastrpc_async_get_status(d.jobid, 0, &result), AEE_EBADPARM);
    d.type = FASTRPC_ASYNC_CALLBACK;
    d.cb.fn = NULL;
    assert_int_equal(remote_handle64_invoke_async(h, &d, 0, NULL), AEE_EBADPARM);
    assert_int_equal(remote_handle64_invoke_async(0, &d, 0, NULL), AEE_EBADPARM);
    d.type = FASTRPC_ASYNC_POLL;
    assert_int_equal(remote_handle64_invoke_async(h + 1, &d, 0, NULL), AEE_EINVHANDLE);
    assert_int_equal(remote_handle_invoke_async(0, &d, 0, NULL), AEE_EINVHANDLE);
    assert_true(hxt_until(closes, &h, 10)); /* nobody tells when the job without an answer has ended */
}

/* --- notifications ------------------------------------------------------------------------------------------------ */

static _Atomic unsigned events; /* one hex digit each, oldest on top */

static int heard(void *context, int domain, int session, remote_rpc_status_flags_t status)
{
    if (context != &events || domain != CDSP_DOMAIN_ID || session != 2)
        status = 15;
    events = events << 4 | (status + 1);
    return 0;
}

static int events_are(void *want)
{
    return events == *(unsigned *)want;
}

static void expect_events(unsigned want)
{
    if (!hxt_until(events_are, &want, 10))
        fail_msg("events 0x%x, want 0x%x (1 up, 2 exit, 3 kill, 4 exception, 5 SSR)", events, want);
    events = 0;
}

static void test_what_happens_to_a_pd_is_told(void **state)
{
    remote_rpc_notif_register_t r = {&events, CDSP_DOMAIN_ID + 16, heard};
    remote_rpc_process_exception x = {CDSP_DOMAIN_ID + 16};
    struct remote_rpc_session_close c = {CDSP_DOMAIN_ID + 16};
    remote_handle64 h;
    int32_t v[2];

    (void)state;
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_EXCEPTION, &x, sizeof(x)), AEE_ENOSESSION);
    assert_int_equal(remote_session_control(FASTRPC_REGISTER_STATUS_NOTIFICATIONS, &r, sizeof(r)), 0);
    h = open_calculator(CDSP_DOMAIN "&_session=2");
    expect_events(0x1);
    expect_sum(h, v, 2);
    assert_int_equal(remote_handle64_close(h), 0);
    expect_events(0x2);

    h = open_calculator(CDSP_DOMAIN "&_session=2");
    assert_int_equal(calc_crash(h), AEE_DSP(AEE_ECPUEXCEPTION));
    assert_int_equal(calc_crash(h), AEE_DSP(AEE_ECPUEXCEPTION));
    expect_events(0x14);
    remote_handle64_close(h);

    h = open_calculator(CDSP_DOMAIN "&_session=2");
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_EXCEPTION, &x, sizeof(x)), 0);
    expect_events(0x14);
    assert_int_equal(calc_sum(h, v, 2, (int64_t[1]){0}), AEE_DSP(AEE_ECPUEXCEPTION));
    remote_handle64_close(h);

    h = open_calculator(CDSP_DOMAIN "&_session=2");
    assert_int_equal(remote_session_control(FASTRPC_REMOTE_PROCESS_KILL, &x, sizeof(x)), 0);
    expect_events(0x13);
    assert_int_equal(calc_sum(h, v, 2, (int64_t[1]){0}), AEE_EINVHANDLE);

    h = open_calculator(CDSP_DOMAIN "&_session=2");
    assert_int_equal(remote_session_control(FASTRPC_SESSION_CLOSE, &c, sizeof(c)), 0);
    expect_events(0x12);
    assert_int_equal(remote_handle64_close(h), AEE_EINVHANDLE);
}

static int opens_again(void *h)
{
    return remote_handle64_open(calculator_URI CDSP_DOMAIN "&_session=2", h) == AEE_SUCCESS;
}

static void test_a_restart_of_the_dsp_is_told_and_got_over(void **state)
{
    remote_handle64 h = open_calculator(CDSP_DOMAIN "&_session=2");
    int dsp = own_rig_dsp();
    int32_t v[5];
    int64_t s;

    (void)state;
    expect_events(0x1); /* registered by the test before */
    assert_true(dsp > 1);
    assert_int_equal(kill(dsp, SIGKILL), 0);
    while (calc_sum(h, v, 0, &s) == AEE_SUCCESS) /* the driver may not have noticed yet */
        usleep(1000);
    assert_int_equal(calc_sum(h, v, 0, &s), AEE_ECONNRESET);
    expect_events(0x5);
    remote_handle64_close(h);
    assert_true(hxt_until(opens_again, &h, 10));
    expect_sum(h, v, 5);
    assert_int_equal(remote_handle64_close(h), 0);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_in_both_modes),
        cmocka_unit_test(test_async_calls_call_back_poll_and_need_no_answer),
        cmocka_unit_test(test_what_happens_to_a_pd_is_told),
        cmocka_unit_test(test_a_restart_of_the_dsp_is_told_and_got_over),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
