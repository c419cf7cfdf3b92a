/* Protects the figures by interface and method (fuse/core/methods.h): every call is in one line, whatever PDs write into their
 * tables and however many methods a client calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver.h"
#include "hxt.h"

static struct hx_session *session_with(struct hx_interface_table **table)
{
    struct hx_session *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->client_id = 3;
    s->pid = 42;
    s->channel.rings = aligned_alloc(128, sizeof(struct hx_rings));
    assert_non_null(s->channel.rings);
    memset(s->channel.rings, 0, sizeof(struct hx_rings));
    *table = &s->channel.rings->interfaces;
    return s;
}

static void add_calculator(struct hx_interface_table *t)
{
    static const char names[] = "open\0close\0sum\0";

    strcpy(t->entry[0].name, "calculator");
    strcpy(t->entry[0].library, "libcalculator_skel.so");
    memcpy(t->names, names, sizeof(names) - 1);
    t->entry[0].names_bytes = sizeof(names) - 1;
    t->n = 1;
}

static void drop(struct hx_session *s)
{
    free(s->channel.rings);
    free(s);
}

static void count(struct hx_session *s, uint32_t handle, uint16_t interface, uint32_t method, int result)
{
    struct hx_call call = {.session = s,
                           .inv = {.handle = handle, .interface = interface, .method = method, .bytes_in = 3, .bytes_out = 4,
                                   .bytes_shared = 50, .hvx_ops = 60, .dispatch_ns = 700, .return_ns = 1, .marshal_ns = 800,
                                   .queue_ns = 900, .lock_ns = 2, .exec_ns = 1000}};

    hx_methods_count(&call, result);
}

static char *printed(const struct hx_session *s, const struct hx_methods_closed *closed)
{
    size_t bytes;
    char *text;
    FILE *f = open_memstream(&text, &bytes);

    assert_non_null(f);
    if (s)
        hx_methods_print(s, f);
    if (closed)
        hx_methods_print_closed(closed, f);
    fclose(f);
    return text;
}

static void test_a_method_is_a_line(void **state)
{
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    add_calculator(t);
    count(s, 0x10100, 1, 2, 0);
    count(s, 0x10100, 1, 2, -5);
    count(s, 8, 0, 2, 0);
    count(s, 0x10777, 0, 2, 0);
    count(s, 0x10200, 1, 99, 0);
    text = printed(s, NULL);
    assert_string_equal(text,
        "session=3 pid=42 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=2 errors=1 bytes_copied=14 "
        "bytes_shared=100 hvx_ops=120 model_dispatch_ns=1402 model_marshal_ns=1600 model_queue_ns=1804 model_exec_ns=2000\n"
        "session=3 pid=42 interface=remotectl1 library= method=2 name=open1 calls=1 errors=0 bytes_copied=7 "
        "bytes_shared=50 hvx_ops=60 model_dispatch_ns=701 model_marshal_ns=800 model_queue_ns=902 model_exec_ns=1000\n"
        "session=3 pid=42 interface=handle:0x10777 library= method=2 name= calls=1 errors=0 bytes_copied=7 "
        "bytes_shared=50 hvx_ops=60 model_dispatch_ns=701 model_marshal_ns=800 model_queue_ns=902 model_exec_ns=1000\n"
        "session=3 pid=42 interface=calculator library=libcalculator_skel.so method=99 name= calls=1 errors=0 bytes_copied=7 "
        "bytes_shared=50 hvx_ops=60 model_dispatch_ns=701 model_marshal_ns=800 model_queue_ns=902 model_exec_ns=1000\n");
    free(text);
    drop(s);
}

static void test_titles(void **state)
{
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    struct hx_call call = {.session = s, .inv = {.handle = 0x10100, .interface = 1, .method = 2}};
    char title[HX_METHOD_TITLE];

    (void)state;
    add_calculator(t);
    hx_method_title(&call, title);
    assert_string_equal(title, "calculator.sum");
    call.inv.method = 3;
    hx_method_title(&call, title);
    assert_string_equal(title, "calculator method 3");
    call.inv.interface = 2; /* the PD has named one only */
    hx_method_title(&call, title);
    assert_string_equal(title, "handle 0x10100 method 3");
    call.inv.interface = 0;
    call.inv.handle = FASTRPC_HANDLE_LISTENER1;
    hx_method_title(&call, title);
    assert_string_equal(title, "adsp_listener1 method 3");
    drop(s);
}

/* The calls of all lines of a text. */
static unsigned long long calls_of(const char *text)
{
    unsigned long long sum = 0;

    for (const char *p = text; (p = strstr(p, " calls=")); p++)
        sum += strtoull(p + 7, NULL, 10);
    return sum;
}

static unsigned lines_of(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Handles and methods as many as a client likes, among them numbers that mean other lines inside. */
static void test_no_client_makes_it_grow(void **state)
{
    static struct hx_methods_closed closed;
    static const uint32_t handles[] = {0, 20, 21, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    enum { METHODS = 500, SESSIONS = 20 };
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    for (size_t h = 0; h < HXT_LEN(handles); h++)
        for (uint32_t m = 0; m < METHODS; m++)
            count(s, handles[h], 0, m, 0);
    text = printed(s, NULL);
    assert_int_equal(lines_of(text), HX_METHODS_MAX);
    assert_int_equal(calls_of(text), HXT_LEN(handles) * METHODS);
    assert_non_null(strstr(text, "interface=others library= method=0 name= calls="));
    free(text);
    for (s->pid = 1; s->pid <= SESSIONS; s->pid++)
        hx_methods_close(&closed, s);
    text = printed(NULL, &closed);
    assert_int_equal(lines_of(text), HX_METHODS_CLOSED + 1);
    assert_int_equal(calls_of(text), SESSIONS * HXT_LEN(handles) * METHODS);
    free(text);
    drop(s);
}

static void test_closed_sessions_of_a_process_add_up(void **state)
{
    static struct hx_methods_closed closed;
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    add_calculator(t);
    count(s, 0x10100, 1, 2, 0);
    hx_methods_close(&closed, s);
    hx_methods_close(&closed, s);
    s->pid = 43;
    hx_methods_close(&closed, s);
    text = printed(NULL, &closed);
    assert_int_equal(lines_of(text), 2);
    assert_non_null(strstr(text, "session=0 pid=42 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=2 "));
    assert_non_null(strstr(text, "session=0 pid=43 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=1 "));
    free(text);
    drop(s);
}

/* Names without an end, control characters, places and numbers that no table has. */
static void test_whatever_a_pd_writes(void **state)
{
    static const uint32_t numbers[] = {0, 1, HX_METHOD_NAMES - 1, HX_METHOD_NAMES, HX_METHOD_NAMES + 1, UINT32_MAX};
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    memset(t->entry, 'x', sizeof(t->entry));
    memset(t->names, 'y', sizeof(t->names));
    memcpy(t->entry[0].name, "a b\nsession=1", 13);
    memcpy(t->entry[0].library, "\x1b[31m\"\\\n", 8);
    t->n = UINT32_MAX;
    for (size_t at = 0; at < HXT_LEN(numbers); at++)
        for (size_t n = 0; n < HXT_LEN(numbers); n++) {
            t->entry[0].names_at = numbers[at];
            t->entry[0].names_bytes = numbers[n];
            count(s, 0x10100, 1, (uint32_t)(at * 10 + n), 0);
        }
    count(s, 0x10100, HX_INTERFACES_MAX, 0, 0);
    count(s, 0x10100, HX_INTERFACES_MAX + 1, 0, 0);
    count(s, 0x10100, UINT16_MAX, 0, 0);
    text = printed(s, NULL);
    for (const char *p = text; *p; p++)
        assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
    assert_non_null(strstr(text, " interface=a?b?session=1x"));
    assert_non_null(strstr(text, " library=?[31m???x"));
    assert_non_null(strstr(text, " interface=handle:0x10100 library= method=0 name= calls=2 "));
    free(text);
    drop(s);
}

/* The whole node, with all that can be in it. */
static void test_the_node_holds_all_there_can_be(void **state)
{
    static struct hx_driver driver;
    struct hx_interface_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    memset(t->entry, 'x', sizeof(t->entry));
    memset(t->names, 'y', sizeof(t->names));
    t->n = HX_INTERFACES_MAX;
    for (uint32_t m = 0; m < HX_METHODS_MAX; m++)
        count(s, 0x10100, 1, UINT32_MAX - m, -1);
    for (unsigned i = 0; i < s->methods.n; i++) {
        struct hx_method_line *l = &s->methods.line[i];

        memset(&l->calls, 0xff, sizeof(*l) - offsetof(struct hx_method_line, calls));
        memset(l->name, 'z', sizeof(l->name) - 1);
    }
    for (s->pid = 1 << 22; s->pid < (1 << 22) + 8; s->pid++)
        hx_methods_close(&driver.closed_methods, s);
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        driver.session[i] = s;
    text = hx_driver_node_text(&driver, "methods");
    assert_non_null(text);
    assert_int_equal(lines_of(text), FASTRPC_MAX_SESSIONS * HX_METHODS_MAX + HX_METHODS_CLOSED + 1);
    free(text);
    drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_method_is_a_line),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_no_client_makes_it_grow),
        cmocka_unit_test(test_closed_sessions_of_a_process_add_up),
        cmocka_unit_test(test_whatever_a_pd_writes),
        cmocka_unit_test(test_the_node_holds_all_there_can_be),
    };

    return HXT_RUN(tests);
}
