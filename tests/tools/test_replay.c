/* Protects `hexrig trace --replay`: recordings of either kind are read as they are meant or refused by line, and what is priced again
 * follows the cost model's formulas.  Against a rig: tests/fuse/test_trace_rig.c. */
#include <errno.h>
#include <math.h>

#include "hxt.h"
#include "replay/replay.h"

static int read_text(struct hx_recording *r, const char *text, struct hx_error *err)
{
    const char *file = hxt_path("%s/calls", hxt_tmpdir());

    *err = (struct hx_error){""};
    hxt_write_file(file, text, strlen(text));
    return hx_recording_read(r, file, err);
}

static void load(struct hx_recording *r, const char *text)
{
    struct hx_error err;

    if (read_text(r, text, &err))
        fail_msg("%s", err.text);
}

static struct hx_profile profile_of(const char *name)
{
    struct hx_profile p;
    char why[300];

    if (hx_profile_load(&p, HXT_SRC "/dsp/profiles", name, why, sizeof(why)))
        fail_msg("%s", why);
    return p;
}

/* --- reading */

#define TEXT                                                                                                     \
    "# by hand\nversion=1\nprofile=s22u-sync\nclock_mhz=600\n\n"                                               \
    "call method=calc.sum at_us=1000 total_us=400 exec_us=100 marshal_us=20 copied_bytes=2048 shared_buffers=2\n" \
    "call method=calc.open at_us=0 total_us=900.5 exec_us=0 service=1   # opens\n"                               \
    "call method=calc.sum at_us=1400 total_us=300 exec_us=100 queue_us=50.25 thread=1 session=1\n"

static void test_lines_of_text_become_calls_by_their_begin(void **state)
{
    struct hx_recording r;

    (void)state;
    load(&r, TEXT);
    assert_int_equal(r.n, 3);
    assert_string_equal(r.profile, "s22u-sync");
    assert_true(r.clock_mhz == 600);
    assert_string_equal(r.at[0].method, "calc.open");
    assert_true(r.at[0].service && r.at[0].line == 7 && r.at[0].dispatch_ns == 900500);
    assert_true(r.at[1].dispatch_ns == 280000 && r.at[1].marshal_ns == 20000 && r.at[1].exec_ns == 100000);
    assert_true(r.at[1].copied_bytes == 2048 && r.at[1].shared_buffers == 2);
    assert_true(r.at[2].queue_ns == 50250 && r.at[2].dispatch_ns == 149750);
    hx_recording_free(&r);
}

#define HEAD "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
#define SLICE(name, ts, dur, more) \
    "{\"ph\": \"X\", \"cat\": \"model\", \"pid\": 1, \"tid\": 1, \"name\": \"" name "\", \"ts\": " ts ", \"dur\": " dur more "}"
#define PART(name, ts, dur) SLICE(name, ts, dur, "")
#define ARGS "\"handle\": \"0x10100\", \"method\": 2, \"result\": \"0x0\", \"copied_bytes\": 64, \"shared_bytes\": 9, \"shared_buffers\": 1"
#define CALL(args) SLICE("calc.sum", "5.5", "10.0", ", \"args\": {" args "}") ",\n"
#define END                                                                                     \
    "\n], \"otherData\": {\"version\": 1, \"clock\": \"modelled\", \"lost_events\": 0, " \
    "\"profile\": \"s22u-577\", \"clock_mhz\": 1200.000}}\n"

static void test_a_trace_becomes_calls_with_their_parts(void **state)
{
    struct hx_recording r;

    (void)state;
    load(&r, HEAD "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"x\"}},\n" CALL(ARGS)
                 PART("lock", "5.5", "1.0") ",\n" PART("dispatch", "6.5", "2.0") ",\n" PART("marshal", "8.5", "0.5") ",\n"
                 PART("queue", "9.0", "1.5") ",\n" PART("exec", "10.5", "4.0") ",\n" PART("return", "14.5", "1.0") END);
    assert_int_equal(r.n, 1);
    assert_string_equal(r.profile, "s22u-577");
    assert_string_equal(r.at[0].method, "calc.sum");
    assert_false(r.at[0].service);
    assert_true(r.at[0].at_ns == 5500 && r.at[0].queue_ns == 2500 && r.at[0].dispatch_ns == 3000 && r.at[0].marshal_ns == 500 &&
                r.at[0].exec_ns == 4000);
    assert_true(r.at[0].copied_bytes == 64 && r.at[0].shared_bytes == 9 && r.at[0].shared_buffers == 1);
    hx_recording_free(&r);
}

static void test_what_is_wrong_is_refused_by_its_line(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"version=2\n", ":1: version '2'; legal: 1"},
        {"profile=x\n", "version is missing; legal: 1"},
        {"version=1\n", "no calls"},
        {"version=1\nprofil=x\n", ":2: unknown key 'profil'; legal: version, profile, clock_mhz, call"},
        {"version=1\nclock_mhz=0\n", ":2: clock_mhz: '0' is no number; legal: more than 0, to 100000"},
        {"version=1\nfoo\n", ":2: 'foo' is no line of a recording"},
        {"call method=a at_us=0 total_us=1 exec_us=0\n", ":1: a call before version=1"},
        {"version=1\ncall method=a at_us=0 total_us=1\n", ":2: exec_us is missing; legal: 0 to 1000000000000"},
        {"version=1\ncall at_us=0 total_us=1 exec_us=0\n", ":2: method is missing"},
        {"version=1\ncall method=a at=0\n", ":2: unknown key 'at' of a call; legal: method, at_us,"},
        {"version=1\ncall method=a at_us=-1\n", ":2: at_us: '-1' is no number; legal: 0 to"},
        {"version=1\ncall method=a at_us=nan\n", ":2: at_us: 'nan' is no number"},
        {"version=1\ncall method=a shared_buffers=1.5\n", ":2: shared_buffers: '1.5' is no integer; legal: 0 to 255"},
        {"version=1\ncall method=a method=b\n", ":2: method for the second time"},
        {"version=1\ncall method=a at_us=0 total_us=1 exec_us=2\n", ":2: a: what it executed"},
        {"version=1\ncall method=a at_us=0 total_us=9 exec_us=2\ncall method=b at_us=8 total_us=1 exec_us=0\n",
         ":3: b begins at 8.000 us, before the call of line 2"},
        {HEAD CALL(ARGS ", \"bytes\": 1") "{}" END, ":2: unknown key 'bytes' of a call's args; legal: handle, result, copied_bytes,"},
        {HEAD CALL("\"handle\": \"0x10100\"") "{}" END, ":2: copied_bytes is missing; legal: 0 to"},
        {HEAD "{\"ph\": \"M\"},\n" PART("exec", "\"x\"", "1") END, ":3: ts: '\"x\"' is no number; legal: 0 to"},
        {HEAD CALL(ARGS) PART("exec", "5.5", "11") END, ":3: exec: 11.000 us are more than is left of its call, line 2"},
        {HEAD "{\"ph\": \"B\"}" END, ":2: ph: 'B'; legal: X, M"},
        {HEAD CALL(ARGS) "{", ":3: "},
        {HEAD CALL(ARGS) "{\"ph\": \"M\"}\n", ":3: the trace has no end"},
        {HEAD CALL(ARGS) "{\"ph\": \"M\"}\n], \"otherData\": {\"version\": 2}}\n", ":4: version '2'; legal: 1"},
        {HEAD CALL(ARGS) "{\"ph\": \"M\"}\n], \"otherData\": {\"clock\": \"modelled\"}}\n", "version is missing; legal: 1"},
        {"{}\n", ":1: no trace as hexrig trace writes it"},
    };
    struct hx_recording r;
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(wrong); i++) {
        assert_int_equal(read_text(&r, wrong[i].text, &err), -EINVAL);
        if (!strstr(err.text, wrong[i].why))
            fail_msg("'%s' instead of '%s'", err.text, wrong[i].why);
        hx_recording_free(&r);
    }
    assert_int_equal(hx_recording_read(&r, "/nonexistent", &err), -ENOENT);
    hx_recording_free(&r);
}

/* --- prices */

/* n calls back to back, each 1000 us long, of which it executes for 200. */
static char *calls_text(size_t n, double pause_us)
{
    static char text[16384];

    snprintf(text, sizeof(text), "version=1\n");
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "call method=a.b at_us=%.3f total_us=1000 exec_us=200 copied_bytes=4096 shared_buffers=1\n",
                 (double)i * (1000 + pause_us));
    return text;
}

static struct hx_replay_sum after_of(const char *text, const struct hx_profile *p, size_t batch, int packets)
{
    const struct hx_replay_how how = {p, batch, packets};
    struct hx_recording r;
    struct hx_replay out;
    struct hx_replay_sum sum;

    load(&r, text);
    assert_int_equal(hx_replay_price(&out, &r, &how), 0);
    sum = out.total.after;
    hx_replay_free(&out);
    hx_recording_free(&r);
    return sum;
}

static int near(uint64_t ns, double us)
{
    return fabs((double)ns - us * 1e3) < 20;
}

static void test_calls_that_become_one_are_dispatched_once(void **state)
{
    const struct hx_profile p = profile_of("s22u-sync");
    struct hx_replay_sum each, by3, all;

    (void)state;
    each = after_of(calls_text(10, 0), &p, 1, 0);
    by3 = after_of(calls_text(10, 0), &p, 3, 0);
    all = after_of(calls_text(10, 0), &p, 100, 0);
    assert_int_equal(each.calls, 10);
    assert_int_equal(by3.calls, 4);
    assert_int_equal(all.calls, 1);
    assert_true(each.exec_ns == 2000000 && by3.exec_ns == 2000000 && all.exec_ns == 2000000);
    assert_true(near(each.marshal_ns, 10 * (4 * p.marshal_us_per_kib + p.share_us_per_buffer)));
    assert_true(near(all.marshal_ns, 40 * p.marshal_us_per_kib + p.share_us_per_buffer));
    assert_true(each.dispatch_ns > by3.dispatch_ns && by3.dispatch_ns > all.dispatch_ns);
    assert_true((double)all.dispatch_ns >= (p.dispatch_us - p.dispatch_contains_us) * 1e3);
}

/* Another method between two calls, or another thread's calls: the former ends a group, the latter do not. */
static void test_only_calls_that_follow_each_other_become_one(void **state)
{
    const struct hx_profile p = profile_of("s22u-sync");
    static const char between[] = "version=1\ncall method=a at_us=0 total_us=10 exec_us=1\ncall method=b at_us=10 total_us=10 exec_us=1\n"
                                  "call method=a at_us=20 total_us=10 exec_us=1\n";
    static const char beside[] = "version=1\ncall method=a at_us=0 total_us=10 exec_us=1\n"
                                 "call method=b at_us=5 total_us=10 exec_us=1 thread=2\ncall method=a at_us=20 total_us=10 exec_us=1\n";
    static const char service[] = "version=1\ncall method=a at_us=0 total_us=10 exec_us=1 service=1\n"
                                  "call method=a at_us=20 total_us=10 exec_us=1 service=1\n";

    (void)state;
    assert_int_equal(after_of(between, &p, 9, 0).calls, 3);
    assert_int_equal(after_of(beside, &p, 9, 0).calls, 2);
    assert_int_equal(after_of(service, &p, 9, 0).calls, 2);
}

static void test_packets_cost_what_the_profile_says(void **state)
{
    const struct hx_profile p = profile_of("dspqueue");
    struct hx_replay_sum s = after_of(calls_text(10, 0), &p, 1, 1);

    (void)state;
    assert_int_equal(s.calls, 10);
    assert_true(near(s.dispatch_ns, 10 * p.packet_us));
    assert_true(s.exec_ns == 2000000);
    s = after_of("version=1\ncall method=a at_us=0 total_us=10 exec_us=1 service=1\n", &p, 1, 1);
    assert_true((double)s.dispatch_ns > p.packet_us * 1e3); /* still a call */
}

static void test_who_pauses_pays_for_waking_the_dsp(void **state)
{
    const struct hx_profile p = profile_of("s22u-sync");
    const uint64_t busy = after_of(calls_text(10, 0), &p, 1, 0).dispatch_ns, idle = after_of(calls_text(10, 20000), &p, 1, 0).dispatch_ns;

    (void)state;
    assert_true((double)(idle - busy) > 9 * 1e3 * (p.dsp_wake_us + p.host_cold_us) * 0.5);
    assert_true((double)(idle - busy) < 9 * 1e3 * (p.dsp_wake_us + p.host_cold_us) * 1.01);
}

static void test_pcycles_take_longer_on_a_slower_clock(void **state)
{
    struct hx_profile p = profile_of("s22u-sync");
    struct hx_replay_sum s;

    (void)state;
    p.clock_mhz = 300;
    s = after_of(TEXT, &p, 1, 0); /* recorded at 600 MHz */
    assert_int_equal(s.exec_ns, 400000);
    assert_int_equal(s.queue_ns, 50250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_text_become_calls_by_their_begin),
        cmocka_unit_test(test_a_trace_becomes_calls_with_their_parts),
        cmocka_unit_test(test_what_is_wrong_is_refused_by_its_line),
        cmocka_unit_test(test_calls_that_become_one_are_dispatched_once),
        cmocka_unit_test(test_only_calls_that_follow_each_other_become_one),
        cmocka_unit_test(test_packets_cost_what_the_profile_says),
        cmocka_unit_test(test_who_pauses_pays_for_waking_the_dsp),
        cmocka_unit_test(test_pcycles_take_longer_on_a_slower_clock),
    };

    return HXT_RUN(tests);
}
