/* Protects every client from one whose memory never answers: a page that its userfaultfd, or the server of a FUSE file,
 * leaves unfilled.  Its call gets EFAULT, the rig and its DSP go on.  Raw ioctls on the FUSE device. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "driver_client.h"
#include "hole.h"
#include "hx_reach.h"
#include "mute_file.h"

enum { PAGE = HOLE_BYTES, PIECES = 256 << 10 /* of a copy that another process interrupts: copies.h */ };

/* --- a call that hangs ------------------------------------------------------------------------------------------- */

enum place { ARGS, IN, OUT, PLACES };

struct hanging {
    pthread_t thread;
    int fd;
    uint32_t handle;
    enum place place;
    uint8_t *page;
    size_t before; /* bytes of the buffer in front of the page */
    int result, error;
};

static int hang(int fd, uint32_t handle, enum place place, uint8_t *page, size_t before)
{
    const size_t n = before + 8;
    uint8_t *there = calloc(2, n);
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)),
                                       drv_arg(place == IN ? page - before : there, n),
                                       drv_arg(place == OUT ? page - before : there + n, n)};
    int rc = drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), place == ARGS ? (void *)page : a), error = errno;

    free(there);
    errno = error;
    return rc;
}

static void *run_hanging(void *arg)
{
    struct hanging *h = arg;

    h->result = hang(h->fd, h->handle, h->place, h->page, h->before);
    h->error = errno;
    return NULL;
}

static void start_hanging_behind(struct hanging *h, enum place place, uint8_t *page, size_t before)
{
    *h = (struct hanging){.place = place, .page = page, .before = before};
    h->fd = drv_connect(&h->handle);
    assert_int_equal(pthread_create(&h->thread, NULL, run_hanging, h), 0);
}

static void start_hanging(struct hanging *h, enum place place, uint8_t *page)
{
    start_hanging_behind(h, place, page, 0);
}

static void end_hanging(struct hanging *h)
{
    pthread_join(h->thread, NULL);
    if (h->result != -1 || h->error != EFAULT)
        fail_msg("place %d: result %d, %s", h->place, h->result, strerror(h->error));
}

static int serves_again(void *hanging)
{
    const struct hanging *h = hanging;

    return drv_call0(h->fd, h->handle, HXT_BLOCK, (struct hxt_in){6, 0}) == 6;
}

static void others_are_served(int fd, uint32_t handle)
{
    assert_int_equal(drv_call0(fd, handle, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
}

static void test_the_call_gets_efault_and_others_go_on(void **state)
{
    uint32_t handle;
    int fd = drv_connect(&handle), dsp = own_rig_dsp();

    (void)state;
    for (enum place p = ARGS; p < PLACES; p++) {
        struct hole hole = hole_make();
        struct hanging h;
        int threads;

        start_hanging(&h, p, hole.page);
        usleep(100000);
        others_are_served(fd, handle);
        end_hanging(&h);
        threads = own_rig_threads(); /* its page is not there yet: no other thread is spent on it */
        assert_int_equal(drv_call0(h.fd, h.handle, HXT_BLOCK, (struct hxt_in){6, 0}), -1);
        assert_int_equal(errno, EFAULT);
        assert_int_equal(own_rig_threads(), threads);
        hole_fill(&hole);
        assert_true(hxt_until(serves_again, &h, 10));
        close(h.fd);
    }
    assert_int_equal(own_rig_dsp(), dsp);
    close(fd);
}

static void test_several_hang_at_once(void **state)
{
    struct hole hole[PLACES];
    struct hanging h[PLACES];
    uint32_t handle;
    int fd = drv_connect(&handle);

    (void)state;
    for (enum place p = ARGS; p < PLACES; p++) {
        hole[p] = hole_make();
        start_hanging(&h[p], p, hole[p].page);
    }
    others_are_served(fd, handle);
    for (enum place p = ARGS; p < PLACES; p++)
        end_hanging(&h[p]);
    for (enum place p = ARGS; p < PLACES; p++) {
        hole_fill(&hole[p]);
        assert_true(hxt_until(serves_again, &h[p], 10));
        close(h[p].fd);
    }
    close(fd);
}

static void hold_session(int ready)
{
    uint32_t handle;

    drv_connect(&handle);
    if (write(ready, "", 1) == 1)
        pause();
}

static void *echo_large(void *result)
{
    uint8_t *bytes = malloc(2 * PIECES);
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(bytes, PIECES), drv_arg(bytes + PIECES, PIECES)};
    uint32_t handle;
    int fd = drv_connect(&handle);

    memset(bytes, 0x5a, PIECES);
    *(int *)result = drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a) || memcmp(bytes, bytes + PIECES, PIECES) != 0;
    free(bytes);
    close(fd);
    return NULL;
}

/* Beside another process large buffers are copied in pieces, in whatever round of the loop: the last piece hangs, those of other calls
 * are copied when it is given up. */
static void test_the_end_of_a_large_buffer_hangs(void **state)
{
    pid_t other = drv_fork(hold_session);

    (void)state;
    for (enum place p = IN; p < PLACES; p++) {
        struct hole hole = hole_make_behind(PIECES);
        struct hanging h;
        pthread_t t;
        int wrong;

        start_hanging_behind(&h, p, hole.page, PIECES);
        usleep(100000);
        assert_int_equal(pthread_create(&t, NULL, echo_large, &wrong), 0);
        end_hanging(&h);
        pthread_join(t, NULL);
        assert_int_equal(wrong, 0);
        hole_fill(&hole);
        assert_true(hxt_until(serves_again, &h, 10));
        close(h.fd);
    }
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
}

/* What the rig's thread still writes when the page comes must not hit the next session's memory. */
static void test_a_session_may_be_closed_meanwhile(void **state)
{
    struct hole hole = hole_make();
    struct hanging h;
    uint32_t handle;
    int fd;

    (void)state;
    start_hanging(&h, IN, hole.page);
    end_hanging(&h);
    close(h.fd);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    fd = drv_connect(&handle);
    hole_fill(&hole);
    for (int i = 0; i < 50; i++) {
        others_are_served(fd, handle);
        usleep(10000);
    }
    close(fd);
}

static void hang_for_ever(int ready)
{
    struct hole hole;
    uint32_t handle;
    int fd = drv_connect(&handle);

    if (hole_try(&hole) || write(ready, "", 1) != 1)
        return;
    for (;;)
        hang(fd, handle, IN, hole.page, 0);
}

static void test_a_client_that_hangs_can_be_killed(void **state)
{
    struct hole probe = hole_make();
    pid_t pid = drv_fork(hang_for_ever);

    (void)state;
    usleep(300000);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    hole_fill(&probe);
}

static int another_dsp(void *old)
{
    int pid = own_rig_dsp();

    return pid && pid != *(int *)old && access(own_rig_path("fastrpc-cdsp"), F_OK) == 0;
}

/* The DSP ends with the thread of the rig that made it, so that must not be one that hangs and ends. */
static void test_the_dsp_outlives_the_thread_that_hung(void **state)
{
    struct hole hole = hole_make();
    struct hanging h;
    int dsp = own_rig_dsp();

    (void)state;
    assert_true(dsp > 1);
    assert_int_equal(kill(dsp, SIGKILL), 0);
    assert_true(hxt_until(another_dsp, &dsp, 10));
    start_hanging(&h, IN, hole.page);
    end_hanging(&h);
    dsp = own_rig_dsp();
    hole_fill(&hole);
    assert_true(hxt_until(serves_again, &h, 10));
    usleep(200000);
    assert_int_equal(own_rig_dsp(), dsp);
    assert_true(serves_again(&h));
    close(h.fd);
}

/* --- other ways in ----------------------------------------------------------------------------------------------- */

static void test_the_question_whether_the_rig_reaches_a_client(void **state)
{
    struct hole hole = hole_make();
    struct hx_reach r = {.addr = (uintptr_t)hole.page};
    int fd = open(own_rig_path("status"), O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ioctl(fd, HX_IOCTL_REACH, &r), -1);
    assert_int_equal(errno, EFAULT);
    close(fd);
    hole_fill(&hole);
}

/* --- a file whose server never answers --------------------------------------------------------------------------- */

static int is_unmounted(void *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

static void test_a_file_whose_server_hangs(void **state)
{
    char dir[512], file[520];
    struct hanging h;
    uint32_t handle;
    uint8_t *page;
    pid_t server;
    int fd, mute;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/mute", hxt_tmpdir());
    snprintf(file, sizeof(file), "%s/x", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    server = drv_fork(mute_file_serve);
    mute = open(file, O_RDONLY | O_CLOEXEC);
    assert_true(mute >= 0);
    page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, mute, 0);
    assert_true(page != MAP_FAILED);
    fd = drv_connect(&handle);
    start_hanging(&h, IN, page);
    usleep(100000);
    others_are_served(fd, handle);
    end_hanging(&h);
    mute_file_end(server); /* the page is an error now */
    assert_true(hxt_until(serves_again, &h, 10));
    munmap(page, PAGE);
    close(mute);
    close(h.fd);
    close(fd);
    assert_true(hxt_until(is_unmounted, file, 10));
    rmdir(dir);
}

/* The rig takes a duplicate, sees that it is no memory, and must not wait for its close(). */
static void test_a_descriptor_whose_server_hangs(void **state)
{
    char dir[512], file[520];
    uint32_t handle;
    pid_t server;
    int fd, mute;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/mute", hxt_tmpdir());
    snprintf(file, sizeof(file), "%s/x", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    server = drv_fork(mute_file_serve);
    mute = open(file, O_RDWR | O_CLOEXEC);
    assert_true(mute >= 0);
    fd = drv_connect(&handle);
    for (int i = 0; i < 3; i++) {
        struct fastrpc_mem_map m = {.fd = mute, .length = PAGE};

        assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &m), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(drv_call0(fd, handle, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    }
    mute_file_end(server);
    close(mute);
    close(fd);
    assert_true(hxt_until(is_unmounted, file, 10));
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_call_gets_efault_and_others_go_on),
        cmocka_unit_test(test_several_hang_at_once),
        cmocka_unit_test(test_the_end_of_a_large_buffer_hangs),
        cmocka_unit_test(test_a_session_may_be_closed_meanwhile),
        cmocka_unit_test(test_a_client_that_hangs_can_be_killed),
        cmocka_unit_test(test_the_dsp_outlives_the_thread_that_hung),
        cmocka_unit_test(test_the_question_whether_the_rig_reaches_a_client),
        cmocka_unit_test(test_a_file_whose_server_hangs),
        cmocka_unit_test(test_a_descriptor_whose_server_hangs),
    };

    return DRV_RUN(tests);
}
