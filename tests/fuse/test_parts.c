/* Protects the small parts of driver and DSP that need no rig: arena bookkeeping, filters, profiles, URIs, low memory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "core/driver.h"
#include "filter/filter.h"
#include "filter/filter_match.h"
#include "hx_profile.h"
#include "hxt.h"
#include "hexrig_hvx_count.h"
#include "base/low_memory.h"
#include "base/machine.h"
#include "cost/vtime.h"
#include "pd/module.h"
#include "qurt_hvx.h"
#include "remote_scalars.h"

/* --- arena -------------------------------------------------------------------------------------------------------- */

static void test_arena_pieces_never_overlap_and_all_come_back(void **state)
{
    struct hx_arena a = {.size = 1 << 20};
    struct {
        uint64_t at, n;
    } piece[64] = {{0}};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int round = 0; round < 20000; round++) {
        unsigned i = (unsigned)hxt_below(&rng, HXT_LEN(piece));

        if (piece[i].n) {
            hx_arena_give(&a, piece[i].at);
            piece[i].n = 0;
            continue;
        }
        piece[i].n = 1 + hxt_below(&rng, 40000);
        piece[i].at = hx_arena_take(&a, piece[i].n);
        if (piece[i].at == UINT64_MAX) {
            piece[i].n = 0;
            continue;
        }
        assert_true(piece[i].at % FASTRPC_ALIGN == 0 && piece[i].at + piece[i].n <= a.size);
        for (unsigned j = 0; j < HXT_LEN(piece); j++)
            assert_true(j == i || !piece[j].n || piece[j].at + piece[j].n <= piece[i].at ||
                        piece[i].at + piece[i].n <= piece[j].at);
    }
    for (unsigned i = 0; i < HXT_LEN(piece); i++)
        if (piece[i].n)
            hx_arena_give(&a, piece[i].at);
    assert_int_equal(a.n_used, 0);
    assert_true(hx_arena_take(&a, a.size) == 0); /* one gap again */
}

static void test_arena_refuses_what_cannot_fit(void **state)
{
    struct hx_arena a = {.size = 4096};

    (void)state;
    assert_true(hx_arena_take(&a, 4097) == UINT64_MAX);
    assert_true(hx_arena_take(&a, UINT64_MAX) == UINT64_MAX);
    assert_true(hx_arena_take(&a, 4000) == 0);
    assert_true(hx_arena_take(&a, 128) == UINT64_MAX);
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

static const struct hx_profile profile = {.name = "t", .dispatch_us = 100, .marshal_us_per_kib = 2,
                                          .share_us_per_buffer = 3, .clock_mhz = 1000};

static void test_cost_follows_the_profile(void **state)
{
    struct hx_filter_stack s = {0};
    struct hx_session session = {0};
    struct hx_driver driver = {.profile = profile};
    struct hx_call call = {.driver = &driver, .session = &session};
    char err[200];
    int result = 0;

    (void)state;
    assert_int_equal(hx_filter_push(&s, "count", &profile, err, sizeof(err)), 0);
    assert_int_equal(hx_filter_push(&s, "cost", &profile, err, sizeof(err)), 0);
    call.inv = (struct hx_invoke_view){.bytes_in = 1024, .bytes_out = 2048, .n_shared = 2, .bytes_shared = 5000};
    hx_filter_send(&s, &call);
    assert_true(call.inv.arrive_ns == 100000 + 3 * 2000 + 2 * 3000); /* dispatch + copies + buffers */
    call.inv.exec_pcycles = 7000;
    call.inv.queue_pcycles = 1000;
    call.inv.hvx_ops = 6000;
    call.inv.traffic.bytes[HX_PURPOSE_KV][HX_PLACE_L2] = 640;
    call.inv.traffic.miss_bytes = 3;
    result = 5;
    hx_filter_end(&s, &call, &result);
    assert_int_equal(result, 5);
    assert_true(session.stats.dispatch_ns == 100000 && session.stats.marshal_ns == 12000);
    assert_true(session.stats.exec_ns == 7000 && session.stats.queue_ns == 1000);
    assert_true(session.stats.clock_ns == 120000);
    assert_true(session.stats.invokes == 1 && session.stats.errors == 1);
    assert_true(session.stats.bytes_copied == 3072 && session.stats.bytes_shared == 5000);
    assert_true(session.stats.hvx_ops == 6000);
    assert_true(session.stats.traffic.bytes[HX_PURPOSE_KV][HX_PLACE_L2] == 640 && session.stats.traffic.miss_bytes == 3);
    hx_filter_unload(&s);
}

static void test_error_filter_hits_the_nth_call_of_its_method_only(void **state)
{
    struct hx_filter_stack s = {0};
    char err[200];
    static const struct {
        uint32_t handle, method;
        int expected;
    } calls[] = {{8, 6, 0}, {0x100, 5, 0}, {0x100, 6, 0}, {0x100, 6, -EPIPE}, {0x100, 6, 0}};

    (void)state;
    assert_int_equal(hx_filter_push(&s, "error:method=6,nth=2,code=EPIPE", &profile, err, sizeof(err)), 0);
    for (size_t i = 0; i < HXT_LEN(calls); i++) {
        struct hx_call call = {.cmd = FASTRPC_IOCTL_INVOKE,
                               .inv = {.handle = calls[i].handle,
                                       .sc = REMOTE_SCALARS_MAKE(calls[i].method, 1, 1),
                                       .method = calls[i].method}};
        int result = 0;
        hx_filter_end(&s, &call, &result);
        assert_int_equal(result, calls[i].expected);
    }
    hx_filter_unload(&s);
}

static void test_rate_chooses_about_its_share_and_always_the_same_calls(void **state)
{
    struct hx_filter_match m[2];
    struct hx_call call = {.cmd = FASTRPC_IOCTL_INVOKE};
    int hits = 0;

    (void)state;
    for (int i = 0; i < 2; i++) {
        hx_filter_match_init(&m[i]);
        assert_int_equal(hx_filter_match_key(&m[i], "rate", "10%"), 1);
    }
    for (int i = 0; i < 10000; i++) {
        int hit = hx_filter_matches(&m[0], &call);
        assert_int_equal(hx_filter_matches(&m[1], &call), hit);
        hits += hit;
    }
    assert_in_range(hits, 800, 1200);
}

static void test_bad_filters_are_named(void **state)
{
    static const struct {
        const char *spec, *says;
    } bad[] = {{"nope", "count"}, {"error", "code="}, {"error:nth=0,code=1", "nth=0"},
               {"error:code=EFOO", "EFOO"}, {"error:colour=red", "colour=red"}, {"delay", "us="},
                 {"delay:us=0", "us=0"}, {"delay:us=5,ops=MAP", "ops=MAP"}, {"log:rate=101%", "rate=101%"},
                 {"log:ops=FOO", "ops=FOO"}, {"trace", "file="}, {"trace:file=/nonexistent/x", "/nonexistent/x"}, {"count:x=1", "x=1"}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        struct hx_filter_stack s = {0};
        char err[300] = "";
        assert_int_not_equal(hx_filter_push(&s, bad[i].spec, &profile, err, sizeof(err)), 0);
        if (!strstr(err, bad[i].says))
            fail_msg("%s: '%s' does not name '%s'", bad[i].spec, err, bad[i].says);
        assert_int_equal(s.n, 0);
    }
}

/* --- profiles ----------------------------------------------------------------------------------------------------- */

static void test_shipped_profiles_load(void **state)
{
    struct hx_profile p;
    char err[300] = "";

    (void)state;
    assert_int_equal(hx_profile_load(&p, HXT_SRC "/dsp/profiles", "s22u-577", err, sizeof(err)), 0);
    assert_string_equal(p.name, "s22u-577");
    assert_true(p.dispatch_us > 1e6 / 577 * 0.99 && p.dispatch_us < 1e6 / 577 * 1.01);
    assert_true(p.marshal_us_per_kib == 0.47 && p.clock_mhz == 1200); /* row R07 of docs/timing.md */
    assert_int_equal(hx_profile_load(&p, HXT_SRC "/dsp/profiles", "s22u-sync", err, sizeof(err)), 0);
    assert_int_equal(hx_profile_load(&p, HXT_SRC "/dsp/profiles", "s99", err, sizeof(err)), -ENOENT);
    assert_non_null(strstr(err, "s99"));
}

static void test_bad_profiles_are_refused_with_file_line_and_limit(void **state)
{
    static const char good[] = "include = v69.inc\ndispatch_us = 1\ndsp_wake_us = 0\nhost_cold_us = 0\nhost_sleep_us = 0\n";
    static const struct {
        const char *more, *says;
    } bad[] = {{"hvx_contexts = 17", ":6: hvx_contexts = '17', legal is 1..16"},
               {"hvx_contexts = 1.5", "hvx_contexts"}, {"speed = 3", "unknown key 'speed'"},
               {"wake_us = 3", ":6: key 'wake_us' is now dsp_wake_us"}, {"nap_us = 3", "'nap_us' is now linger_ratio"},
               {"dsp_wake_tau_us = 0", "dsp_wake_tau_us"}, {"linger_ratio = -1", "linger_ratio"},
               {"clock_mhz = nan", "clock_mhz"}, {"what", "'what'"}, {"sessions = -1", "sessions"},
               {"packet_pcycles = 0", "packet_pcycles"}, {"include = none.inc", "none.inc"},
               {"clock_low_mhz = 2000", "clock_low_mhz is above clock_mhz"},
               {"throttle_c = 70", "recover_c is above throttle_c"}, {"clock_levels = 0", "legal is 1..64"},
               {"dispatch_contains_us = 1", "dispatch_contains_us is not below dispatch_us"},
               {"include = /etc/passwd", "/etc/passwd"}, {"include = p.conf", "p.conf"}};
    const char *path = hxt_path("%s/p.conf", hxt_tmpdir());
    struct hx_profile p;
    char text[512], err[300];

    (void)state;
    assert_int_equal(symlink(HXT_SRC "/dsp/profiles/v69.inc", hxt_path("%s/v69.inc", hxt_tmpdir())), 0);
    hxt_write_file(path, good, sizeof(good) - 1);
    assert_int_equal(hx_profile_load(&p, ".", path, err, sizeof(err)), 0);
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        int n = snprintf(text, sizeof(text), "%s%s\n", good, bad[i].more);
        hxt_write_file(path, text, (size_t)n);
        assert_int_equal(hx_profile_load(&p, ".", path, err, sizeof(err)), -EINVAL);
        if (!strstr(err, bad[i].says))
            fail_msg("'%s' does not say '%s'", err, bad[i].says);
    }
    hxt_write_file(path, good, 18); /* keys are missing */
    assert_int_equal(hx_profile_load(&p, ".", path, err, sizeof(err)), -EINVAL);
    assert_non_null(strstr(err, "missing"));
}

static size_t key(const char *name)
{
    size_t k = 0;

    while (k < hx_profile_n_keys() && strcmp(hx_profile_key(k), name) != 0)
        k++;
    assert_true(k < hx_profile_n_keys());
    return k;
}

static void test_profiles_can_be_read_and_changed_key_by_key(void **state)
{
    static const char more[] = "\nshare_us_per_buffer=0#  zero  \npacket_us = 1\ndispatch_us = 1 # first\n"
                               "dispatch_us = 2 # second, # and more\nl1_kib = 16\n";
    const char *path = hxt_path("%s/notes.conf", hxt_tmpdir());
    size_t bytes;
    char *text = hxt_read_file(HXT_SRC "/dsp/profiles/s22u-sync.conf", &bytes);
    char notes[hx_profile_n_keys()][HX_PROFILE_NOTE], err[300];
    struct hx_profile p;

    (void)state;
    text = realloc(text, bytes + sizeof(more));
    assert_non_null(text);
    memcpy(text + bytes, more, sizeof(more));
    hxt_write_file(path, text, bytes + sizeof(more) - 1);
    free(text);
    assert_int_equal(hx_profile_load_notes(&p, notes, HXT_SRC "/dsp/profiles", path, err, sizeof(err)), 0);
    assert_string_equal(notes[key("share_us_per_buffer")], "zero");
    assert_string_equal(notes[key("packet_us")], "");
    assert_string_equal(notes[key("dispatch_us")], "second, # and more");
    assert_string_equal(notes[key("l1_kib")], "");
    assert_true(strncmp(notes[key("clock_mhz")], "fitted ", 7) == 0);
    assert_true(hx_profile_get(&p, key("dispatch_us")) == 2 && p.dispatch_us == 2);
    assert_true(hx_profile_get(&p, key("hvx_contexts")) == p.hvx_contexts);
    hx_profile_set(&p, key("share_us_per_buffer"), -3);
    hx_profile_set(&p, key("hvx_contexts"), 2.6);
    hx_profile_set(&p, key("hw_threads"), 100);
    assert_true(p.share_us_per_buffer == 0 && p.hvx_contexts == 3 && p.hw_threads == 16);
    assert_true(hx_profile_is_count(key("hw_threads")) && !hx_profile_is_count(key("share_us_per_buffer")));
}

/* --- the DSP's side ------------------------------------------------------------------------------------------------- */

static void test_uris_split_or_are_refused(void **state)
{
    static const char *const bad[] = {"", "libx.so", "file:///", "file:///?sym", "file:///libx.so",
                                      "file:///libx.so?", "file:///libx.so?&_dom=cdsp",
                                      "file:///../libx.so?sym", "file:////etc/x.so?sym",
                                      "http:///libx.so?sym"};
    char lib[16], symbol[16];

    (void)state;
    assert_int_equal(hx_module_parse_uri("file:///libx_skel.so?x_invoke&_modver=1.0&_dom=cdsp", lib,
                                         sizeof(lib), symbol, sizeof(symbol)), 0);
    assert_string_equal(lib, "libx_skel.so");
    assert_string_equal(symbol, "x_invoke");
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_module_parse_uri(bad[i], lib, sizeof(lib), symbol, sizeof(symbol)), -1);
    assert_int_equal(hx_module_parse_uri("file:///libmuchtoolonganame.so?s", lib, sizeof(lib), symbol,
                                         sizeof(symbol)), -1);
}

static void test_missing_skel_and_missing_symbol_say_so(void **state)
{
    uint32_t h;
    char err[300] = "";

    (void)state;
    hx_module_set_path("/nonexistent:" HXT_BUILD "/lib");
    assert_int_equal((unsigned)hx_module_open("file:///libnope.so?x", &h, err, sizeof(err)), 0x80000406);
    assert_non_null(strstr(err, "libnope.so"));
    assert_int_equal((unsigned)hx_module_open("file:///libcdsprpc.so?no_such_symbol", &h, err, sizeof(err)),
                     0x80000442);
    assert_non_null(strstr(err, "no_such_symbol"));
}

enum { HVX_THREADS = 8, HOLDS = 200, HOLD_OPS = 1000 };

struct holder {
    pthread_t thread;
    uint64_t worked, queued; /* pcycles */
};

static void *hold_hvx(void *arg)
{
    struct holder *h = arg;

    for (int i = 0; i < HOLDS; i++) {
        hx_vt_call_begin(0, 0);
        if (qurt_hvx_lock(QURT_HVX_MODE_128B))
            return NULL;
        hx_hvx_counts.op[0] += HOLD_OPS;
        sched_yield(); /* gives the others a chance to find the contexts taken */
        qurt_hvx_unlock();
        h->worked += hx_vtime_spent().exec_pcycles;
        h->queued += hx_vtime_spent().queue_pcycles;
        hx_vt_call_end();
    }
    return h;
}

/* A caller waits at most for what the others did; it once waited for the end of their virtual days. */
static void test_waiting_for_hvx_costs_what_the_others_did_and_nothing_alone(void **state)
{
    struct hx_profile p = {.clock_mhz = 1000, .hvx_contexts = 2, .cost = {.packet_pcycles = 1, .hvx_pcycles = 1.5}};
    struct holder alone = {0}, holder[HVX_THREADS] = {{0}};
    uint64_t worked = 0;

    (void)state;
    if (!hx_machine)
        assert_int_equal(hx_machine_init(&p), 0);
    assert_non_null(hold_hvx(&alone));
    assert_true(alone.worked >= HOLDS * HOLD_OPS);
    assert_int_equal(alone.queued, 0);
    for (int i = 0; i < HVX_THREADS; i++)
        assert_int_equal(pthread_create(&holder[i].thread, NULL, hold_hvx, &holder[i]), 0);
    for (int i = 0; i < HVX_THREADS; i++) {
        void *ok;
        pthread_join(holder[i].thread, &ok);
        assert_non_null(ok);
        assert_int_equal(holder[i].worked, alone.worked);
        worked += holder[i].worked;
    }
    for (int i = 0; i < HVX_THREADS; i++)
        assert_in_range(holder[i].queued, 0, worked - holder[i].worked);
}

static void *hold_often(void *origin)
{
    hx_vt_thread_begin(origin);
    for (int i = 0; i < HOLDS; i++) {
        if (qurt_hvx_lock(QURT_HVX_MODE_128B))
            return NULL;
        hx_vt_spend(HX_VT_CODE, HOLD_OPS);
        qurt_hvx_unlock();
    }
    return (void *)(uintptr_t)(1 + hx_vtime_spent().queue_pcycles);
}

/* Two threads of a call have a context each, also when this machine runs one after the other. */
static void test_threads_do_not_wait_for_contexts_that_were_free_at_their_time(void **state)
{
    struct hx_vt_origin origin;
    pthread_t t;
    void *waited;

    (void)state;
    hx_vt_call_begin(0, 0);
    origin = hx_vt_origin();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&t, NULL, hold_often, &origin), 0);
        pthread_join(t, &waited);
        assert_int_equal((uintptr_t)waited, 1);
    }
    hx_vt_call_end();
}

static void test_low_maps_lie_below_4_gib_until_they_run_out(void **state)
{
    void *p[64] = {NULL};
    const size_t bytes = 256 << 20;
    int n = 0;

    (void)state;
    while (n < 64 && (p[n] = hx_low_map(bytes, -1))) {
        assert_true((uintptr_t)p[n] + bytes <= 1ull << 32);
        n++;
    }
    assert_true(n >= 2 && n < 16);
    assert_int_equal(errno, ENOMEM);
    for (int i = 0; i < n; i++)
        hx_low_unmap(p[i], bytes);
    p[0] = hx_low_map(bytes, -1);
    assert_non_null(p[0]);
    hx_low_unmap(p[0], bytes);
    assert_null(hx_low_map(0, -1));
    assert_null(hx_low_map(SIZE_MAX, -1));
}

static void test_low_maps_leave_512_mib_to_the_heap(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("the sanitizer has a heap of its own");
#else
    const size_t bytes = 64 << 20;
    uintptr_t heap, heap_end;
    void *p[64] = {NULL};
    int n = 0;

    hx_low_heap();
    heap = (uintptr_t)sbrk(0);
    heap_end = heap + (512u << 20);
    while (n < 64 && (p[n] = hx_low_map(bytes, -1)))
        n++;
    assert_true(n > 16 && n < 64);
    for (int i = 0; i < n; i++) {
        assert_true((uintptr_t)p[i] + bytes <= heap || (uintptr_t)p[i] >= heap_end);
        hx_low_unmap(p[i], bytes);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_pieces_never_overlap_and_all_come_back),
        cmocka_unit_test(test_arena_refuses_what_cannot_fit),
        cmocka_unit_test(test_cost_follows_the_profile),
            cmocka_unit_test(test_error_filter_hits_the_nth_call_of_its_method_only),
        cmocka_unit_test(test_rate_chooses_about_its_share_and_always_the_same_calls),
        cmocka_unit_test(test_bad_filters_are_named),
        cmocka_unit_test(test_shipped_profiles_load),
        cmocka_unit_test(test_bad_profiles_are_refused_with_file_line_and_limit),
        cmocka_unit_test(test_profiles_can_be_read_and_changed_key_by_key),
        cmocka_unit_test(test_uris_split_or_are_refused),
        cmocka_unit_test(test_missing_skel_and_missing_symbol_say_so),
        cmocka_unit_test(test_waiting_for_hvx_costs_what_the_others_did_and_nothing_alone),
        cmocka_unit_test(test_threads_do_not_wait_for_contexts_that_were_free_at_their_time),
        cmocka_unit_test(test_low_maps_lie_below_4_gib_until_they_run_out),
        cmocka_unit_test(test_low_maps_leave_512_mib_to_the_heap),
    };

    return HXT_RUN(tests);
}
