/* Protects: the prefetch buffer's start and end, real files, and the CPU of its reader. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "base/cpus.h"
#include "prefetch_gate.h"

enum { TMPFS = 0x01021994 };

/* --- life */

static void test_close_ends_the_thread_wherever_it_is(void **state)
{
    struct hx_prefetch *p;
    pthread_t opener;

    (void)state;
    assert_true(hxt_until(no_readers, NULL, 30));
    p = open_gate(ALL, four, 8);
    expect_reads(4);
    assert_int_equal(readers(), 1);
    hx_prefetch_close(p); /* it waited for a free slot */
    assert_true(hxt_until(no_readers, NULL, 30));

    p = open_gate(0, four, 8);
    pthread_create(&opener, NULL, opens_when_asked, NULL);
    hx_prefetch_close(p); /* it was in a read */
    pthread_join(opener, NULL);
    assert_true(hxt_until(no_readers, NULL, 30));
    hx_prefetch_close(NULL);
}

static void test_a_new_plan_replaces_the_old_one(void **state)
{
    struct hx_prefetch *p = open_gate(ALL, four, 8);
    const struct hx_prefetch_item large = {3 * ITEM, 3 * ITEM};
    const void *bytes = get(p, 0);
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_prefetch_plan(p, &large, 1, &err), -EBUSY);
    hx_prefetch_put(p, bytes);
    assert_int_equal(hx_prefetch_get(p, &large, &bytes, &err), -EINVAL); /* of the old slots */
    assert_int_equal(hx_prefetch_plan(p, &large, 1, &err), 0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(hx_prefetch_get(p, &large, &bytes, &err), 0);
        assert_int_equal(((const uint8_t *)bytes)[3 * ITEM - 1], byte_at(6 * ITEM - 1));
        hx_prefetch_put(p, bytes);
    }
    hx_prefetch_close(p);
}

static void test_what_cannot_be_is_refused(void **state)
{
    const struct hx_prefetch_item empty = {0, 0}, huge = {0, SIZE_MAX};
    struct hx_prefetch_cfg cfg = {.slots = 17, .read = gate_read, .arg = &gate};
    struct hx_prefetch *p = NULL;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_prefetch_open(&p, "gate", &cfg, &err), -EINVAL);
    assert_string_equal(err.text, "gate: 17 slots; 1 to 16 are legal");
    assert_null(p);
    cfg.read = NULL;
    cfg.slots = 0;
    assert_int_equal(hx_prefetch_open(&p, "/nowhere/file", &cfg, &err), -ENOENT);
    assert_int_equal(hx_prefetch_open(&p, "/tmp", &cfg, &err), -EINVAL);
    p = open_gate(ALL, four, 8);
    assert_int_equal(hx_prefetch_plan(p, NULL, 0, &err), -EINVAL);
    assert_int_equal(hx_prefetch_plan(p, &empty, 1, &err), -EINVAL);
    get_put(p, 0); /* the old plan lives */
    assert_int_equal(hx_prefetch_plan(p, &huge, 1, &err), -ENOMEM);
    get_fails(p, 0, -EINVAL, "fit a slot"); /* there is no plan any more */
    hx_prefetch_close(p);
}

static void test_a_cpu_that_is_not_there_is_refused(void **state)
{
    cpu_set_t last;
    struct hx_prefetch_cfg cfg = {.cpus = &last, .read = gate_read, .arg = &gate};
    const struct hx_prefetch_item it = item(0);
    struct hx_prefetch *p;
    struct hx_error err;

    (void)state;
    CPU_ZERO(&last);
    CPU_SET(CPU_SETSIZE - 1, &last);
    assert_int_equal(hx_prefetch_open(&p, "gate", &cfg, &err), 0);
    assert_int_equal(hx_prefetch_plan(p, &it, 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "no thread that reads ahead on CPU 1023"));
    hx_prefetch_close(p);
}

/* --- files */

static const char *make_file(size_t items)
{
    const char *path = hxt_path("%s/paged", hxt_tmpdir());
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (uint64_t i = 0; i < items * ITEM; i++)
        putc(byte_at(i), f);
    assert_int_equal(fflush(f), 0);
    assert_int_equal(fsync(fileno(f)), 0); /* the cache drops clean pages only */
    fclose(f);
    return path;
}

static struct hx_prefetch *open_path(const char *path, size_t n_items)
{
    struct hx_prefetch_item items[ITEMS];
    struct hx_prefetch *p;
    struct hx_error err = {""};

    for (size_t i = 0; i < n_items; i++)
        items[i] = item(i);
    assert_int_equal(hx_prefetch_open(&p, path, &four, &err), 0);
    if (hx_prefetch_plan(p, items, n_items, &err))
        fail_msg("%s", err.text);
    return p;
}

static void test_bytes_come_from_the_file(void **state)
{
    struct hx_prefetch *p = open_path(make_file(ITEMS), ITEMS);
    struct hx_prefetch_stats s;

    (void)state;
    for (uint64_t i = 0; i < 3 * ITEMS; i++)
        get_put(p, i % ITEMS);
    hx_prefetch_stats(p, &s);
    assert_int_equal(s.gets, 3 * ITEMS);
    assert_int_equal(s.hits + s.late, 3 * ITEMS);
    hx_prefetch_close(p);
}

static void test_a_plan_beyond_the_file_and_a_file_that_shrinks_are_errors(void **state)
{
    const char *path = make_file(8);
    struct hx_prefetch *p = open_path(path, 8);
    const struct hx_prefetch_item beyond = {7 * ITEM, ITEM + 1};
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_prefetch_plan(p, &beyond, 1, &err), -EINVAL);
    if (!strstr(err.text, "item 0 of the plan needs 5001 bytes at 35000, the file has 40000"))
        fail_msg("%s", err.text);
    assert_int_equal(truncate(path, 6 * ITEM), 0);
    for (uint64_t i = 0; i < 6; i++)
        get_put(p, i);
    get_fails(p, 6, -EIO, "paged: truncated: 5000 bytes at 30000 are needed, the file ends at 30000");
    hx_prefetch_close(p);
}

static size_t resident(const char *path, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    unsigned char *in = calloc(pages, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    size_t n = 0;

    assert_true(map != MAP_FAILED);
    assert_int_equal(mincore(map, bytes, in), 0);
    for (size_t i = 0; i < pages; i++)
        n += in[i] & 1;
    munmap(map, bytes);
    close(fd);
    free(in);
    return n;
}

static void test_what_was_read_leaves_the_page_cache(void **state)
{
    const size_t bytes = 4 << 20;
    const struct hx_prefetch_item whole = {0, bytes};
    struct hx_prefetch_cfg cfg = {.no_reader = 1};
    const char *path = make_file(bytes / ITEM + 1);
    struct hx_prefetch *p;
    const void *got;
    struct statfs fs;
    struct hx_error err;

    (void)state;
    assert_int_equal(statfs(path, &fs), 0);
    if (fs.f_type == TMPFS)
        hxt_skip_test("%s lies on tmpfs, which is its own page cache", path);
    assert_true(resident(path, bytes) > bytes / 4096 / 2); /* it was just written */
    assert_int_equal(hx_prefetch_open(&p, path, &cfg, &err), 0);
    assert_int_equal(hx_prefetch_plan(p, &whole, 1, &err), 0);
    assert_int_equal(hx_prefetch_get(p, &whole, &got, &err), 0);
    assert_true(resident(path, bytes) < bytes / 4096 / 8);
    hx_prefetch_close(p);
}

/* --- CPU */

/* In a thread of its own, because it loses a CPU for good. */
static void *pinned_run(void *arg)
{
    struct hx_prefetch_cfg cfg = four;
    struct hx_error err = {""};
    struct hx_prefetch *p;
    cpu_set_t mine, own;
    int cpu;

    (void)arg;
    cpu = hx_cpus_part(-1, &err);
    if (cpu < 0)
        return strstr(err.text, "one CPU alone") ? "skip" : "no CPU";
    CPU_ZERO(&own);
    CPU_SET((unsigned)cpu, &own);
    cfg.cpus = &own;
    p = open_gate(ALL, cfg, 8);
    get_put(p, 0);
    expect_reads(5);
    hx_prefetch_close(p);
    sched_getaffinity(0, sizeof(mine), &mine);
    if (CPU_ISSET((unsigned)cpu, &mine))
        return "the computing thread may still use the reader's CPU";
    if (CPU_COUNT(&gate.cpus) != 1 || !CPU_ISSET((unsigned)cpu, &gate.cpus))
        return "the reader is not pinned to its CPU";
    return hx_cpus_part(cpu, &err) == -EINVAL ? NULL : "a CPU that is not ours was parted";
}

static void test_the_reader_is_pinned_apart_from_who_computes(void **state)
{
    pthread_t t;
    void *what;

    (void)state;
    assert_int_equal(pthread_create(&t, NULL, pinned_run, NULL), 0);
    pthread_join(t, &what);
    if (what && strcmp(what, "skip") == 0)
        hxt_skip_test("this process may use one CPU alone");
    if (what)
        fail_msg("%s", (char *)what);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_close_ends_the_thread_wherever_it_is),
    cmocka_unit_test(test_a_new_plan_replaces_the_old_one),
    cmocka_unit_test(test_what_cannot_be_is_refused),
    cmocka_unit_test(test_a_cpu_that_is_not_there_is_refused),
    cmocka_unit_test(test_bytes_come_from_the_file),
    cmocka_unit_test(test_a_plan_beyond_the_file_and_a_file_that_shrinks_are_errors),
    cmocka_unit_test(test_what_was_read_leaves_the_page_cache),
    cmocka_unit_test(test_the_reader_is_pinned_apart_from_who_computes),
};

int main(void)
{
    return HXT_RUN(tests);
}
