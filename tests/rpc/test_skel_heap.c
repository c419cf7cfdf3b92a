/* Protects: where a skel's memory lies, and with it which lines and pages the cost model sees, does not depend on when the threads begin
 * that serve its calls and packets, nor on the length of the path that the skel has. */
#include <sys/mman.h>

#include "queue_client.h"

enum { BYTES = 4096, PDS = 4 };

static uint32_t *where; /* [PDS] of one rig, in its page; shared with the process that asks there */

/* With a queue whose packets a callback serves: its thread has a part of the heap, too. */
static uint32_t place_in_a_new_pd(void)
{
    uint32_t out[2] = {0, 0};
    uint64_t id;
    dspqueue_t q;

    assert_int_equal(open_queue_skel(NULL), 0);
    q = open_queue(BYTES, BYTES, HXQ_ECHO, &id);
    assert_int_equal(call_queue_skel(HXQ_HEAP, id, 0, out), 0);
    close_queue(q, id);
    close_queue_skel(NULL);
    return out[1];
}

static int ask(const char *front_end)
{
    own_rig_front_end = front_end;
    own_rig_start(NULL);
    for (int i = 0; i < PDS; i++)
        where[i] = place_in_a_new_pd();
    own_rig_stop(NULL);
    return 0;
}

static void ask_both(uint32_t *to, int late)
{
    static const char *const front_ends[] = {"socket", "fuse"};
    const size_t n = access("/dev/fuse", R_OK | W_OK) == 0 ? 2 : 1;

    for (size_t i = 0; i < n; i++) {
        if (late)
            setenv("LD_PRELOAD", HXT_BUILD "/tests/libhxt_late.so", 1);
        assert_int_equal(own_rig_run(ask, front_ends[i]), 0);
        unsetenv("LD_PRELOAD");
        for (int k = 0; k < PDS; k++)
            if (where[k] != *to && *to != UINT32_MAX)
                fail_msg("%s, threads begin %s, PD %d: at %u of its page, elsewhere at %u", front_ends[i], late ? "late" : "as they do", k,
                         where[k], *to);
            else
                *to = where[k];
    }
}

static void test_memory_lies_at_one_place_in_its_page(void **state)
{
    uint32_t at = UINT32_MAX;

    (void)state;
    where = mmap(NULL, PDS * sizeof(*where), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(where != MAP_FAILED);
    ask_both(&at, 0);
    ask_both(&at, 1);
}

/* The loader keeps paths on the heap. */
static void test_it_lies_there_whatever_the_path(void **state)
{
    static const char slashes[] = "////////////////////////////////////////////////////////////////////////////////";
    static const int lengths[] = {1, 17, 40, sizeof(slashes) - 1};
    uint32_t at = UINT32_MAX;

    (void)state;
    where = mmap(NULL, PDS * sizeof(*where), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(where != MAP_FAILED);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        setenv("DSP_LIBRARY_PATH", hxt_path(HXT_BUILD "%.*stests", lengths[i], slashes), 1);
        ask_both(&at, 0);
    }
    unsetenv("DSP_LIBRARY_PATH");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_memory_lies_at_one_place_in_its_page),
    cmocka_unit_test(test_it_lies_there_whatever_the_path),
};

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    hxt_skip_all("the sanitizer has a heap of its own");
#endif
    return HXT_RUN(tests);
}
