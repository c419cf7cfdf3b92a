/* HAP_power on the DSP, what the driver makes of the votes, and the other small HAP services: heap, cache, messages. */
#include "hxt.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_mem.h"
#include "HAP_perf.h"
#include "HAP_power.h"
#include "pd/buffers.h"
#include "cost/cost.h"
#include "core/driver.h"
#include "base/farf.h"
#include "machine/hap_power.h"
#include "hexrig_hvx_count.h"
#include "base/machine.h"
#include "qurt_hvx.h"
#include "qurt_memory.h"
#include "cost/vtime.h"

static const struct hx_profile profile = {
    .clock_mhz = 1000,
    .clock_low_mhz = 500,
    .clock_levels = 6,
    .hvx_contexts = 2,
    .hw_threads = 4,
    .dsp_wake_us = 110,
    .cost = {.packet_pcycles = 1, .hvx_pcycles = 1, .vtcm_pcycles = 3, .l2_pcycles = 20,
             .ddr_pcycles = 100, .dma_bytes_per_pcycle = 8, .l1_kib = 1, .l2_kib = 64},
};

static int a, b; /* two voters */

static int setup(void **state)
{
    (void)state;
    return hx_machine ? 0 : hx_machine_init(&profile);
}

static int teardown(void **state)
{
    (void)state;
    HAP_power_destroy(&a);
    HAP_power_destroy(&b);
    return 0;
}

/* --- votes ------------------------------------------------------------------------------------------------------- */

static void expect(unsigned corner, unsigned mhz, unsigned latency, unsigned awake)
{
    struct hx_power_vote v = hx_power_vote();

    assert_int_equal(v.corner, corner);
    assert_int_equal(v.clock_mhz, mhz);
    assert_int_equal(v.latency_us, latency);
    assert_int_equal(v.awake, awake);
}

static void test_votes_of_contexts_are_combined_and_end_with_them(void **state)
{
    (void)state;
    expect(0, 0, 0, 0);
    assert_int_equal(HAP_power_set_core_corner(&a, HAP_DCVS_VCORNER_SVS, 0, 0), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_core_corner(&b, HAP_DCVS_VCORNER_MAX, 0, 0), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_sleep_latency(&a, 100), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_sleep_latency(&b, 3), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_sleep_mode(&b, TRUE), AEE_SUCCESS);
    expect(HX_CORNER_TURBO, 0, 10, 1); /* 10 us is the least */
    assert_int_equal(HAP_power_destroy(&b), AEE_SUCCESS);
    expect(HX_CORNER_SVS, 0, 100, 0);
    assert_int_equal(HAP_power_destroy(&b), HAP_POWER_ERR_INVALID_PARAM);
    assert_int_equal(HAP_power_destroy(&a), AEE_SUCCESS);
    expect(0, 0, 0, 0);
}

static void test_v3_keeps_what_is_not_set_and_v2_does_not(void **state)
{
    HAP_power_request_t r = {.type = HAP_power_set_DCVS_v3};

    (void)state;
    r.dcvs_v3.set_core_params = TRUE;
    r.dcvs_v3.core_params.target_corner = HAP_DCVS_VCORNER_NOM;
    r.dcvs_v3.core_params.max_corner = HAP_DCVS_VCORNER_TURBO_PLUS;
    assert_int_equal(HAP_power_set(&a, &r), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_sleep_latency(&a, 40), AEE_SUCCESS);
    expect(HX_CORNER_NOM, 0, 40, 0);
    assert_int_equal(HAP_power_set_dcvs_option(&a, TRUE, HAP_DCVS_V2_PERFORMANCE_MODE),
                     AEE_SUCCESS);
    expect(HX_CORNER_TURBO, 0, 40, 0); /* up to its max_corner */
    assert_int_equal(HAP_power_set_sleep_latency(&a, 65535), AEE_SUCCESS);
    expect(HX_CORNER_TURBO, 0, 0, 0);
    r = (HAP_power_request_t){.type = HAP_power_set_DCVS_v2};
    assert_int_equal(HAP_power_set(&a, &r), AEE_SUCCESS);
    expect(0, 0, 0, 0);
}

static void test_mips_are_a_clock_and_stand_beside_dcvs(void **state)
{
    HAP_power_request_t r = {.type = HAP_power_set_mips_bw};

    (void)state;
    r.mips_bw.set_mips = TRUE;
    r.mips_bw.mipsPerThread = 150;
    r.mips_bw.mipsTotal = 2400; /* on four threads */
    r.mips_bw.set_latency = TRUE;
    r.mips_bw.latency = 1000;
    assert_int_equal(HAP_power_set(&a, &r), AEE_SUCCESS);
    expect(0, 600, 1000, 0);
    assert_int_equal(HAP_power_set_sleep_latency(&a, 500), AEE_SUCCESS);
    expect(0, 600, 500, 0);
    HAP_power_set_dcvs_v3_init(&r);
    assert_int_equal(HAP_power_set(&a, &r), AEE_SUCCESS);
    expect(0, 600, 1000, 0); /* DCVS does not cancel it */
}

static void test_what_cannot_be_is_refused(void **state)
{
    HAP_power_request_t r = {.type = HAP_power_set_HMX};

    (void)state;
    r.hmx.power_up = TRUE;
    assert_int_equal(HAP_power_set(&a, &r), HAP_POWER_ERR_UNSUPPORTED_API);
    r.hmx.power_up = FALSE;
    assert_int_equal(HAP_power_set(&a, &r), AEE_SUCCESS);
    assert_int_equal(HAP_power_set(NULL, &r), AEE_ENULLCONTEXT);
    assert_int_equal(HAP_power_destroy(NULL), AEE_ENULLCONTEXT);
    r.type = (HAP_Power_request_type)99;
    assert_int_equal(HAP_power_set(&a, &r), HAP_POWER_ERR_INVALID_PARAM);
    assert_int_equal(HAP_power_set(&a, NULL), HAP_POWER_ERR_INVALID_PARAM);
    assert_int_equal(HAP_power_set_core_corner(&a, HAP_DCVS_VCORNER_NOM, HAP_DCVS_VCORNER_TURBO, 0),
                     HAP_POWER_ERR_INVALID_PARAM); /* target below min */
    assert_int_equal(HAP_power_set_bus_corner(&a, HAP_DCVS_VCORNER_NOM, 0, HAP_DCVS_VCORNER_SVS),
                     HAP_POWER_ERR_INVALID_PARAM); /* above max */
    expect(0, 0, 0, 0);
}

static void set_hvx(void *context, boolean up)
{
    HAP_power_request_t r = {.type = HAP_power_set_HVX};

    r.hvx.power_up = up;
    assert_int_equal(HAP_power_set(context, &r), AEE_SUCCESS);
}

static void test_hvx_without_power_cannot_be_locked(void **state)
{
    (void)state;
    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), QURT_HVX_LOCK_SUCCESS); /* powered by default */
    assert_int_equal(qurt_hvx_unlock(), QURT_HVX_LOCK_SUCCESS);
    set_hvx(&a, FALSE);
    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), QURT_HVX_LOCK_ERROR);
    assert_int_equal(qurt_hvx_try_lock(QURT_HVX_MODE_128B), QURT_HVX_LOCK_ERROR);
    set_hvx(&b, TRUE); /* somebody else needs it */
    assert_int_equal(qurt_hvx_lock(QURT_HVX_MODE_128B), QURT_HVX_LOCK_SUCCESS);
    assert_int_equal(qurt_hvx_unlock(), QURT_HVX_LOCK_SUCCESS);
}

static void test_get_tells_about_clock_and_class(void **state)
{
    HAP_power_response_t get = {.type = HAP_power_get_clk_Freq};
    HAP_power_request_t r = {.type = HAP_power_set_apptype};
    void *c = HAP_utils_create_context();

    (void)state;
    hx_vt_call_begin(0, 600000);
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.clkFreqHz, 600000000);
    hx_vt_call_begin(0, 0);
    get.type = HAP_power_get_max_mips;
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.max_mips, 1000);
    get.type = HAP_power_get_max_bus_bw;
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.max_bus_bw, 8000000000ull);
    r.apptype = HAP_POWER_COMPUTE_CLIENT_CLASS;
    assert_int_equal(HAP_power_set(c, &r), AEE_SUCCESS);
    assert_int_equal(HAP_power_set_dcvs_option(c, TRUE, HAP_DCVS_V2_POWER_SAVER_MODE), AEE_SUCCESS);
    get.type = HAP_power_get_client_class;
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.client_class, HAP_POWER_COMPUTE_CLIENT_CLASS);
    get.type = HAP_power_get_dcvsEnabled;
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.dcvsEnabled, TRUE);
    assert_int_equal(HAP_power_destroy_client(c), AEE_SUCCESS);
    assert_int_equal(HAP_utils_destroy_context(c), AEE_SUCCESS);
    assert_int_equal(HAP_power_get(NULL, &get), AEE_SUCCESS);
    assert_int_equal(get.dcvsEnabled, FALSE);
    get.type = (HAP_power_response_type)77;
    assert_int_equal(HAP_power_get(NULL, &get), HAP_POWER_ERR_INVALID_PARAM);
}

/* --- the driver's side ------------------------------------------------------------------------------------------- */

static void test_the_highest_vote_wins_and_heat_caps_it(void **state)
{
    struct hx_session s[2] = {{.client_id = 1}, {.client_id = 2}};
    struct hx_driver d = {.profile = profile};

    (void)state;
    assert_int_equal(hx_clock_khz(&d), 1000000); /* nobody votes */
    d.session[0] = &s[0];
    d.session[1] = &s[1];
    s[0].state = s[1].state = HX_SESSION_UP;
    assert_int_equal(hx_clock_level(&d), 5);
    s[0].vote.corner = HX_CORNER_SVS2;
    assert_int_equal(hx_clock_level(&d), 5); /* the other has the driver's vote */
    s[1].vote.clock_mhz = 650;
    assert_int_equal(hx_clock_khz(&d), 700000); /* levels are 500, 600, 700, ... */
    s[0].vote.corner = HX_CORNER_NOM_PLUS;
    assert_int_equal(hx_clock_khz(&d), 900000);
    s[0].vote.corner = 200; /* nonsense from a PD */
    assert_int_equal(hx_clock_level(&d), 5);
    d.thermal.taken = 2;
    assert_int_equal(hx_clock_khz(&d), 800000);
    s[0].state = HX_SESSION_EXITED; /* its vote died with its PD */
    assert_int_equal(hx_clock_khz(&d), 700000);
    s[1].vote.clock_mhz = 60000;
    assert_int_equal(hx_clock_khz(&d), 800000);
}

static void test_an_exec_takes_the_longer_the_lower_the_clock_was(void **state)
{
    struct hx_filter_stack f = {0};
    struct hx_session s = {.state = HX_SESSION_UP, .vote.corner = HX_CORNER_SVS2};
    struct hx_driver d = {.profile = profile};
    struct hx_call c = {.driver = &d, .session = &s};
    char err[200];
    int result = 0;

    (void)state;
    d.session[0] = &s;
    assert_int_equal(hx_filter_push(&f, "cost", &d.profile, err, sizeof(err)), 0);
    hx_filter_send(&f, &c);
    assert_int_equal(c.inv.clock_khz, 500000);
    c.inv.exec_pcycles = 1000;
    c.inv.queue_pcycles = 500;
    s.vote.corner = HX_CORNER_TURBO; /* counts from the next call on */
    hx_filter_end(&f, &c, &result);
    assert_int_equal(c.inv.exec_ns, 2000);
    assert_int_equal(c.inv.queue_ns, 1000);
    hx_filter_unload(&f);
}

/* DDR takes its time whatever the core's clock is. */
static void test_ddr_latency_in_pcycles_goes_with_the_clock(void **state)
{
    static _Alignas(128) uint8_t line[128];

    (void)state;
    hx_vt_call_begin(0, 1000000);
    hx_cost_access(line, 4, 0);
    assert_int_equal(hx_vtime_spent().exec_pcycles, 100);
    hx_vt_call_begin(0, 500000);
    hx_cost_access(line, 4, 0);
    assert_int_equal(hx_vtime_spent().exec_pcycles, 50);
}

/* --- heap, cache, time --------------------------------------------------------------------------------------------- */

static void test_heap_figures_move_with_allocations(void **state)
{
    struct HAP_mem_stats before, held;
    void *p;

    (void)state;
    assert_int_equal(HAP_mem_get_stats(&before), AEE_SUCCESS);
    assert_int_equal(HAP_malloc(100000, &p), AEE_SUCCESS);
    assert_int_equal(HAP_mem_get_stats(&held), AEE_SUCCESS);
    assert_true(held.bytes_used >= before.bytes_used + 100000);
    assert_int_equal(HAP_free(p), AEE_SUCCESS);
    assert_int_equal(HAP_mem_get_stats(NULL), AEE_EBADPARM);
    assert_int_equal(before.min_grow_bytes, 512 << 10);
    assert_int_equal(HAP_mem_set_grow_size(0x1000000, UINT64_MAX), AEE_SUCCESS);
    assert_int_equal(HAP_mem_get_stats(&held), AEE_SUCCESS);
    assert_int_equal(held.min_grow_bytes, 0x1000000);
    assert_int_equal(HAP_mem_set_grow_size(2, 1), AEE_EBADPARM);
}

static void test_a_client_buffer_is_mapped_by_its_descriptor(void **state)
{
    struct hx_ctl ctl = {.op = HX_CTL_MAP, .seq = 1, .id = 0, .client_fd = 7, .size = 8192};
    int fd = memfd_create("buffer", 0);
    uint64_t returned[2];
    uint8_t *p, *q;

    (void)state;
    assert_int_equal(ftruncate(fd, 8192), 0);
    assert_int_equal(hx_buffers_apply(&ctl, fd), 0);
    assert_ptr_equal(HAP_mmap2(NULL, 8193, HAP_PROT_READ, 0, 7, 0), (void *)-1);
    assert_ptr_equal(HAP_mmap2(NULL, 4096, HAP_PROT_READ, 0, 7, 4097), (void *)-1);
    assert_ptr_equal(HAP_mmap(NULL, -1, HAP_PROT_READ, 0, 7, 0), (void *)-1);
    assert_ptr_equal(HAP_mmap(NULL, 1, HAP_PROT_EXEC, 0, 7, 0), (void *)-1);
    assert_ptr_equal(HAP_mmap(NULL, 1, HAP_PROT_READ, 0, 8, 0), (void *)-1);
    p = HAP_mmap(NULL, 8192, HAP_PROT_READ | HAP_PROT_WRITE, 0, 7, 0);
    q = HAP_mmap2(NULL, 4096, HAP_PROT_READ, 0, 7, 4096);
    assert_ptr_equal(q, p + 4096);
    assert_int_equal(HAP_munmap2(p + 1, 8192), AEE_ENOSUCHMAP);
    assert_int_equal(HAP_munmap(q, 4096), AEE_SUCCESS);
    assert_int_equal(hx_buffers_returned(returned, 2), 0); /* p is still in use */
    assert_int_equal(HAP_munmap2(p, 8192), AEE_SUCCESS);
    assert_int_equal(HAP_munmap2(p, 8192), AEE_ENOSUCHMAP);
    assert_int_equal(hx_buffers_returned(returned, 2), 1);
    assert_int_equal(returned[0], 7);
}

static void test_a_request_maps_and_unmaps_a_client_buffer(void **state)
{
    struct hx_ctl ctl = {.op = HX_CTL_MAP, .seq = 2, .id = 1, .client_fd = 9, .size = 8192};
    HAP_mem_req_payload_t map = {.request_id = HAP_MEM_MAP,
                                 .mmap = {.len = 4096, .prot = HAP_PROT_READ | HAP_MEM_CACHE_NON_SHARED, .fd = 9}};
    HAP_mem_req_payload_t unmap = {.request_id = HAP_MEM_UNMAP, .munmap = {.len = 4096}}, marker = {.request_id = HAP_MEM_SET_MARKER};
    int fd = memfd_create("buffer", 0);
    void *whole;

    (void)state;
    assert_int_equal(ftruncate(fd, 8192), 0);
    assert_int_equal(hx_buffers_apply(&ctl, fd), 0);
    whole = HAP_mmap(NULL, 8192, HAP_PROT_READ, 0, 9, 0);
    map.mmap.dsp_pa = 4096;
    assert_int_equal(HAP_mem_request(&map), AEE_SUCCESS);
    assert_true(map.mmap.dsp_va == (uintptr_t)whole + 4096);
    unmap.munmap.dsp_va = map.mmap.dsp_va;
    assert_int_equal(HAP_mem_request(&unmap), AEE_SUCCESS);
    map.mmap.dsp_pa = 4097;
    assert_int_equal(HAP_mem_request(&map), AEE_ENOSUCHMAP);
    map.mmap.addr = 0x40000000;
    assert_int_equal(HAP_mem_request(&map), AEE_EUNSUPPORTED);
    assert_int_equal(HAP_mem_request(&marker), AEE_EUNSUPPORTED);
    assert_int_equal(HAP_mem_request(NULL), AEE_EBADPARM);
    assert_int_equal(HAP_munmap(whole, 8192), AEE_SUCCESS);
    assert_int_equal(HAP_mem_request(&unmap), AEE_ENOSUCHMAP);
}

static uint64_t stack_left_deeper(void)
{
    volatile char room[10000];

    room[0] = 0;
    return HAP_mem_available_stack() + (uint64_t)room[0];
}

static void test_what_is_left_of_a_stack(void **state)
{
    const uint64_t left = HAP_mem_available_stack();

    (void)state;
    assert_true(left > 100000 && left < 1ull << 32);
    assert_true(stack_left_deeper() <= left - 10000 && stack_left_deeper() >= left - 20000);
    assert_int_equal(HAP_mem_set_heap_thresholds(1, 2), AEE_SUCCESS);
    assert_int_equal(HAP_mem_set_heap_thresholds(2, 1), AEE_EBADPARM);
}

static void test_cache_maintenance_checks_its_arguments(void **state)
{
    (void)state;
    assert_int_equal(qurt_mem_cache_clean(0x1000, 128, QURT_MEM_CACHE_FLUSH, QURT_MEM_DCACHE),
                     QURT_EOK);
    assert_int_equal(qurt_mem_cache_clean(0, 0, QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL,
                                          QURT_MEM_DCACHE), QURT_EOK);
    assert_int_equal(qurt_mem_cache_clean(0x1000, 4, QURT_MEM_CACHE_INVALIDATE, QURT_MEM_ICACHE),
                     QURT_EOK);
    assert_int_equal(qurt_mem_cache_clean(0x1000, 4, QURT_MEM_CACHE_FLUSH, QURT_MEM_ICACHE),
                     QURT_EVAL);
    assert_int_equal(qurt_mem_cache_clean(0x1000, 4, (qurt_mem_cache_op_t)9, QURT_MEM_DCACHE),
                     QURT_EVAL);
    assert_int_equal(qurt_mem_cache_clean(0xfffff000, 0x1001, QURT_MEM_CACHE_FLUSH,
                                          QURT_MEM_DCACHE), QURT_EVAL);
}

static void test_a_sleep_takes_virtual_time(void **state)
{
    uint64_t start;

    (void)state;
    hx_vt_call_begin(0, 0);
    start = HAP_perf_get_time_us();
    assert_int_equal(HAP_timer_sleep(2500), 0);
    assert_int_equal(HAP_perf_get_time_us() - start, 2500);
}

/* --- messages ------------------------------------------------------------------------------------------------------ */

#undef FARF_MEDIUM
#define FARF_MEDIUM 1 /* as a skel would before the include */
#define FARF_MINE 1
#define FARF_MINE_LEVEL HAP_LEVEL_LOW

/* What `say` leaves on stderr. */
static const char *stderr_of(void (*say)(void))
{
    static char text[4096];
    FILE *f = tmpfile();
    int saved = dup(2);
    size_t n;

    fflush(stderr);
    assert_true(f && dup2(fileno(f), 2) == 2);
    say();
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void say_plain(void)
{
    FARF(LOW, "low");
    FARF(MEDIUM, "medium %d", 5);
    FARF(HIGH, "high");
    FARF(ERROR, "error");
    FARF(ALWAYS, "always");
    FARF(MINE, "mine");
    HAP_debug("debug", HAP_LEVEL_FATAL, "x/y.c", 7);
}

static void say_runtime(void)
{
    FARF(RUNTIME_LOW, "low");
    FARF(RUNTIME_HIGH, "high");
    FARF(RUNTIME_ERROR, "error");
    HAP_debug_runtime(HAP_LEVEL_FATAL, "folder/other.c", 1, "fatal");
}

static int has(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

static void test_messages_that_are_compiled_in_appear(void **state)
{
    const char *t = stderr_of(say_plain);

    (void)state;
    assert_false(has(t, ": low") || has(t, ": high"));
    assert_true(has(t, "MEDIUM: test_power.c:") && has(t, ": medium 5\n"));
    assert_true(has(t, "ERROR: test_power.c:") && has(t, "ALWAYS: test_power.c:"));
    assert_true(has(t, ": mine\n") && has(t, "FATAL: y.c:7: debug\n"));
    setenv("HEXRIG_FARF", "HIGH", 1);
    t = stderr_of(say_plain);
    assert_true(has(t, ": high\n") && !has(t, ": low"));
    unsetenv("HEXRIG_FARF");
}

static void test_the_mask_lets_runtime_messages_pass(void **state)
{
    const char *files[] = {"other.c", "test_power.c"};
    const char *t = stderr_of(say_runtime);

    (void)state;
    assert_string_equal(t, "");
    assert_int_equal(HAP_setFARFRuntimeLoggingParams(0x1c, NULL, 0), AEE_SUCCESS); /* HIGH, ERROR, FATAL */
    t = stderr_of(say_runtime);
    assert_true(!has(t, ": low") && has(t, ": high") && has(t, ": error") &&
                has(t, "other.c:1: fatal"));
    assert_int_equal(HAP_setFARFRuntimeLoggingParams(0x1f, files, 1), AEE_SUCCESS);
    t = stderr_of(say_runtime);
    assert_true(!has(t, "test_power.c") && has(t, "other.c:1: fatal"));
    assert_int_equal(HAP_setFARFRuntimeLoggingParams(0x1f, files, 17), AEE_EBADPARM);
    assert_int_equal(HAP_setFARFRuntimeLoggingParams(0, NULL, 0), AEE_SUCCESS);
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_a_mask_file_is_found_by_the_programs_name(void **state)
{
    static const char *const bad[] = {"", "31\n", "0x\n", "0x1g\n", "hello\n"};
    char path[1024];
    const char *file = hxt_path("%s/prog.farf", hxt_tmpdir());

    (void)state;
    snprintf(path, sizeof(path), "/nonexistent;%s:/", hxt_tmpdir());
    assert_int_equal(hx_farf_load(path, "other"), -ENOENT);
    put_file(file, "0x8 test_power.c,more.c\n");
    assert_int_equal(hx_farf_load(path, "prog"), 0);
    assert_true(has(stderr_of(say_runtime), ": error") && !has(stderr_of(say_runtime), "other.c"));
    put_file(file, "0x001f001f0000001f\n"); /* the upper half is the client's */
    assert_int_equal(hx_farf_load(path, "prog"), 0);
    assert_true(has(stderr_of(say_runtime), ": low") && has(stderr_of(say_runtime), "other.c"));
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        put_file(file, bad[i]);
        assert_int_equal(hx_farf_load(path, "prog"), -EINVAL);
    }
    unlink(file);
    HAP_setFARFRuntimeLoggingParams(0, NULL, 0);
}

/* --- VTCM in sight -------------------------------------------------------------------------------------------------- */

static void test_the_vtcm_node_leaves_out_what_makes_no_sense(void **state)
{
    struct hx_vtcm_table t = {0};
    struct hx_vtcm_view v = {.table = &t};
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    t.grain[2] = (struct hx_vtcm_grain){.client = 3, .first = 2, .bytes = 300000, .context = 9};
    t.grain[3] = (struct hx_vtcm_grain){.client = 3, .first = 2};
    t.grain[5] = (struct hx_vtcm_grain){.client = 4, .first = 1000};
    t.grain[31] = (struct hx_vtcm_grain){.client = 5, .first = 31, .bytes = 1};
    hx_vtcm_view_print(&v, 0, f);
    fclose(f);
    assert_string_equal(
        text, "total_bytes=8388608\nfree_bytes=7340032\n"
              "session=3 offset=0x80000 held_bytes=524288 asked_bytes=300000 context=9\n"
              "session=5 offset=0x7c0000 held_bytes=262144 asked_bytes=1 context=0\n");
    free(text);
}

static void test_the_table_cannot_be_shortened_by_who_writes_it(void **state)
{
    struct hx_vtcm_view v = {0};
    int fd;

    (void)state;
    assert_int_equal(hx_vtcm_view_make(&v, &fd), 0);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(errno, EPERM);
    close(fd);
    hx_vtcm_view_close(&v);
    hx_vtcm_view_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_votes_of_contexts_are_combined_and_end_with_them, teardown),
        cmocka_unit_test_teardown(test_v3_keeps_what_is_not_set_and_v2_does_not, teardown),
        cmocka_unit_test_teardown(test_mips_are_a_clock_and_stand_beside_dcvs, teardown),
        cmocka_unit_test_teardown(test_what_cannot_be_is_refused, teardown),
        cmocka_unit_test_teardown(test_hvx_without_power_cannot_be_locked, teardown),
        cmocka_unit_test_teardown(test_get_tells_about_clock_and_class, teardown),
        cmocka_unit_test(test_the_highest_vote_wins_and_heat_caps_it),
        cmocka_unit_test(test_an_exec_takes_the_longer_the_lower_the_clock_was),
        cmocka_unit_test(test_ddr_latency_in_pcycles_goes_with_the_clock),
        cmocka_unit_test(test_heap_figures_move_with_allocations),
        cmocka_unit_test(test_a_client_buffer_is_mapped_by_its_descriptor),
        cmocka_unit_test(test_a_request_maps_and_unmaps_a_client_buffer),
        cmocka_unit_test(test_what_is_left_of_a_stack),
        cmocka_unit_test(test_cache_maintenance_checks_its_arguments),
        cmocka_unit_test(test_a_sleep_takes_virtual_time),
        cmocka_unit_test(test_messages_that_are_compiled_in_appear),
        cmocka_unit_test(test_the_mask_lets_runtime_messages_pass),
        cmocka_unit_test(test_a_mask_file_is_found_by_the_programs_name),
        cmocka_unit_test(test_the_vtcm_node_leaves_out_what_makes_no_sense),
        cmocka_unit_test(test_the_table_cannot_be_shortened_by_who_writes_it),
    };

    return HXT_RUN_FIXTURE(tests, setup, NULL);
}
