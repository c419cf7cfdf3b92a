/* The driver reads what a PD has written about uncosted code (fuse/core/uncosted.h): bounded, and as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver.h"
#include "hxt.h"

static struct hx_session *session_with(struct hx_uncosted_table **table)
{
    struct hx_session *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->client_id = 3;
    s->pid = 42;
    s->channel.rings = aligned_alloc(128, sizeof(struct hx_rings));
    assert_non_null(s->channel.rings);
    memset(s->channel.rings, 0, sizeof(struct hx_rings));
    *table = &s->channel.rings->uncosted;
    return s;
}

static void drop(struct hx_session *s)
{
    free(s->channel.rings);
    free(s);
}

static char *printed(const struct hx_session *s)
{
    size_t bytes;
    char *text;
    FILE *f = open_memstream(&text, &bytes);

    assert_non_null(f);
    hx_uncosted_print(s, f);
    fclose(f);
    return text;
}

static void test_an_entry_is_a_line(void **state)
{
    struct hx_uncosted_table *t;
    struct hx_session *s = session_with(&t);
    char *text;

    (void)state;
    assert_int_equal(hx_uncosted_count(s), 0);
    strcpy(t->entry[0].name, "libx_skel.so:copy");
    strcpy(t->entry[0].reason, "no listing: estimated");
    t->entry[0].pcycles = 7;
    t->entry[0].hvx_ops = 8;
    t->entry[0].host_ns = 9000;
    t->n = 1;
    text = printed(s);
    assert_string_equal(text, "session=3 pid=42 name=libx_skel.so:copy pcycles=7 hvx_ops=8 host_us=9 reason=no listing: estimated\n");
    free(text);
    drop(s);
}

/* Names without an end, control characters, and a number that no table has. */
static void test_whatever_a_pd_writes(void **state)
{
    struct hx_uncosted_table *t;
    struct hx_session *s = session_with(&t);
    unsigned lines = 0;
    char *text;

    (void)state;
    memset(t->entry, 'x', sizeof(t->entry));
    memcpy(t->entry[0].name, "a b\nsession=1", 13);
    memcpy(t->entry[0].reason, "\x1b[31m\n", 6);
    t->n = UINT32_MAX;
    assert_int_equal(hx_uncosted_count(s), HX_UNCOSTED_MAX);
    text = printed(s);
    for (const char *p = text; *p; p++) {
        assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
        lines += *p == '\n';
    }
    assert_int_equal(lines, HX_UNCOSTED_MAX);
    assert_non_null(strstr(text, "name=a?b?session=1x"));
    free(text);
    drop(s);
}

static void test_closed_sessions_add_up(void **state)
{
    static struct hx_uncosted_sums sums;
    struct hx_uncosted_table *t;
    struct hx_session *s = session_with(&t);

    (void)state;
    t->n = HX_UNCOSTED_MAX;
    for (int i = 0; i < HX_UNCOSTED_MAX; i++) {
        snprintf(t->entry[i].name, sizeof(t->entry[i].name), "f%d", i);
        t->entry[i].pcycles = 10;
    }
    hx_uncosted_add(&sums, s);
    hx_uncosted_add(&sums, s);
    assert_int_equal(hx_uncosted_count_sums(&sums), HX_UNCOSTED_MAX);
    assert_int_equal(sums.line[5].pcycles, 20);
    for (s->pid = 43; s->pid < 47; s->pid++) /* others, of which the last takes the place of the first */
        hx_uncosted_add(&sums, s);
    assert_int_equal(hx_uncosted_count_sums(&sums), HX_UNCOSTED_CLOSED);
    assert_int_equal(sums.line[5].pid, 46);
    assert_int_equal(sums.line[5].pcycles, 10);
    drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_is_a_line),
        cmocka_unit_test(test_whatever_a_pd_writes),
        cmocka_unit_test(test_closed_sessions_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
