/* Protects the host from its DSP: a listener that is asked for what no honest PD asks for says so, gives no more memory than it may, and
 * goes on.  The PD's side is the DSP's own code in this process; what it sends is spoiled on its way. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "base/machine.h"
#include "fake_session.h"
#include "hxt.h"
#include "reverse/host_calls.h"

/* Handles and methods by their published numbers. */
enum { APPS_STD = 1, APPS_MEM, ADSPMSGD_APPS, NO_HANDLE };
enum { FOPEN = 0, FCLOSE = 3, FREAD = 4, FWRITE = 5 };
enum { REQUEST_MAP64 = 2, REQUEST_UNMAP64 = 3 };

static const struct hx_profile profile = {.dispatch_us = 100, .clock_mhz = 1000, .hvx_contexts = 2, .hw_threads = 6,
                                         .cost = {.packet_pcycles = 1, .hvx_pcycles = 1}};

/* What becomes of the next request on its way; NULL: nothing. */
static void (*spoil)(struct hx_next_out *out, uint8_t *request);
static int fetch_result; /* of get_in_bufs2 */
static unsigned n_maps;

static int next2(const struct hx_next_in *in, const uint8_t *answer, struct hx_next_out *out, uint8_t *request)
{
    int rc = hx_host_next(in, answer, out, request);

    if (!rc && spoil)
        spoil(out, request);
    spoil = NULL;
    return rc;
}

static int get_in_bufs2(const struct hx_in_bufs_in *in, uint32_t *bytes, uint8_t *request)
{
    if (fetch_result)
        return fetch_result;
    memset(request, 0, in->room);
    return hx_host_get_in_bufs(in, bytes, request);
}

static int map(const struct fastrpc_mem_map *want, uint64_t *vaddrout)
{
    n_maps++;
    *vaddrout = UINT64_C(0x10000000) + (uint64_t)want->fd * 4096;
    return AEE_SUCCESS;
}

static int unmap(int fd)
{
    (void)fd;
    n_maps--;
    return AEE_SUCCESS;
}

static int start(void **state)
{
    static const struct fake_session session = {next2, get_in_bufs2, hx_host_end, map, unmap};

    (void)state;
    setenv("DSP_LIBRARY_PATH", "/nowhere", 1);
    setenv("HEXRIG_HOST_FILES", hxt_tmpdir(), 1);
    return hx_machine_init(&profile) || hx_host_listen() || fake_session_open(&session);
}

static int stop(void **state)
{
    (void)state;
    fake_session_close();
    return n_maps != 0;
}

/* --- honest calls --------------------------------------------------------------------------------------------------- */

static int open_file(const char *name, const char *mode, int32_t *file)
{
    uint32_t lengths[2] = {(uint32_t)strlen(name) + 1, (uint32_t)strlen(mode) + 1};
    remote_arg pra[] = {{.buf = {lengths, sizeof(lengths)}}, {.buf = {(char *)name, lengths[0]}}, {.buf = {(char *)mode, lengths[1]}},
                        {.buf = {file, sizeof(*file)}}};

    return hx_host_call(APPS_STD, REMOTE_SCALARS_MAKE(FOPEN, 3, 1), pra);
}

static int close_file(int32_t file)
{
    remote_arg pra[] = {{.buf = {&file, sizeof(file)}}};

    return hx_host_call(APPS_STD, REMOTE_SCALARS_MAKE(FCLOSE, 1, 0), pra);
}

static int write_file(int32_t file, const char *text)
{
    int32_t in[2] = {file, (int32_t)strlen(text)}, out[2];
    remote_arg pra[] = {{.buf = {in, sizeof(in)}}, {.buf = {(char *)text, (size_t)in[1]}}, {.buf = {out, sizeof(out)}}};

    return hx_host_call(APPS_STD, REMOTE_SCALARS_MAKE(FWRITE, 2, 1), pra);
}

/* *n of `room` bytes. */
static int read_file(int32_t file, void *to, uint32_t room, int32_t *n, int32_t *at_end)
{
    int32_t in[2] = {file, (int32_t)room}, out[2] = {-1, -1};
    remote_arg pra[] = {{.buf = {in, sizeof(in)}}, {.buf = {out, sizeof(out)}}, {.buf = {to, room}}};
    int rc = hx_host_call(APPS_STD, REMOTE_SCALARS_MAKE(FREAD, 1, 2), pra);

    *n = out[0];
    *at_end = out[1];
    return rc;
}

static int take_memory(int64_t bytes, uint64_t *address)
{
    struct {
        int32_t heapid;
        uint32_t lflags, rflags, hole;
        uint64_t vin;
        int64_t len;
    } in = {.heapid = 25, .rflags = 0x1000, .len = bytes};
    uint64_t out[2] = {0, 0};
    remote_arg pra[] = {{.buf = {&in, sizeof(in)}}, {.buf = {out, sizeof(out)}}};
    int rc = hx_host_call(APPS_MEM, REMOTE_SCALARS_MAKE(REQUEST_MAP64, 1, 1), pra);

    *address = out[1];
    return rc;
}

static int give_memory(uint64_t address)
{
    uint64_t in[2] = {address, 0};
    remote_arg pra[] = {{.buf = {in, sizeof(in)}}};

    return hx_host_call(APPS_MEM, REMOTE_SCALARS_MAKE(REQUEST_UNMAP64, 1, 0), pra);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(hxt_path("%s/%s", hxt_tmpdir(), name), "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* It still serves. */
static void expect_service(void)
{
    char text[16] = "";
    int32_t file = -1, n, at_end;

    put("plain.txt", "plain");
    assert_int_equal(open_file("plain.txt", "r", &file), 0);
    assert_int_equal(read_file(file, text, sizeof(text), &n, &at_end), 0);
    assert_int_equal(n, 5);
    assert_true(at_end);
    assert_string_equal(text, "plain");
    assert_int_equal(close_file(file), 0);
}

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* Nothing is written to it, so it costs none. */
static void test_memory_ends_at_4_gib_and_comes_back(void **state)
{
    const int64_t piece = (int64_t)1 << 30;
    uint64_t at[4], more;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(at); i++)
        assert_int_equal(take_memory(piece, &at[i]), 0);
    assert_int_equal(take_memory(4096, &more), AEE_ENOMORE);
    assert_int_equal(give_memory(at[1]), 0);
    assert_int_equal(give_memory(at[1]), AEE_ENOSUCHMAP);
    assert_int_equal(take_memory(piece + 1, &more), AEE_ENOMORE);
    assert_int_equal(take_memory(piece, &at[1]), 0);
    assert_int_equal(n_maps, HXT_LEN(at));
    for (size_t i = 0; i < HXT_LEN(at); i++)
        assert_int_equal(give_memory(at[i]), 0);
    assert_int_equal(n_maps, 0);
}

static void test_pieces_of_memory_end_at_256(void **state)
{
    uint64_t at[256], more;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(at); i++)
        assert_int_equal(take_memory(4096, &at[i]), 0);
    assert_int_equal(take_memory(4096, &more), AEE_ENOMORE);
    for (size_t i = 0; i < HXT_LEN(at); i++)
        assert_int_equal(give_memory(at[i]), 0);
    assert_int_equal(take_memory(0, &more), AEE_EBADPARM);
    assert_int_equal(take_memory(-1, &more), AEE_EBADPARM);
    assert_int_equal(take_memory(INT64_MAX, &more), AEE_EBADPARM);
}

/* --- requests that are none ----------------------------------------------------------------------------------------- */

static void claim_4_gib(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->request_bytes = UINT32_MAX;
}

static void claim_more_than_64_mib(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->request_bytes = (64u << 20) + 1;
}

/* It may be as long, but the length of its first argument then lies in zeros. */
static void claim_64_mib(struct hx_next_out *out, uint8_t *request)
{
    memset(request, 0, 64);
    out->request_bytes = 64u << 20;
}

static void claim_nothing(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->request_bytes = 0;
}

static void cut(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->request_bytes--;
}

static void claim_all_buffers(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->sc = REMOTE_SCALARS_MAKE(FOPEN, 255, 255);
}

static void claim_handles(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->sc |= 0x11;
}

static void claim_4_gib_of_name(struct hx_next_out *out, uint8_t *request)
{
    const uint32_t length = UINT32_MAX;

    (void)out;
    memcpy(request + 16, &length, sizeof(length));
}

static void claim_4_gib_of_answer(struct hx_next_out *out, uint8_t *request)
{
    const uint32_t length = UINT32_MAX;

    memcpy(request + out->request_bytes - sizeof(length), &length, sizeof(length));
}

static void claim_another_method(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->sc = REMOTE_SCALARS_MAKE(31, 3, 1);
}

static void claim_no_handle(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->handle = NO_HANDLE;
}

static void claim_the_last_handle(struct hx_next_out *out, uint8_t *request)
{
    (void)request;
    out->handle = UINT32_MAX;
}

/* The name's length in the first argument is not that of the buffer, and the string does not end. */
static void claim_a_longer_name(struct hx_next_out *out, uint8_t *request)
{
    const uint32_t length = 1000;

    (void)out;
    memcpy(request + 8, &length, sizeof(length));
}

static void test_what_is_no_request_is_refused(void **state)
{
    static const struct {
        void (*spoil)(struct hx_next_out *out, uint8_t *request);
        int result;
    } lies[] = {
        {claim_4_gib, AEE_ENOMEMORY},          {claim_more_than_64_mib, AEE_ENOMEMORY}, {claim_64_mib, AEE_EBADPARM},
        {claim_nothing, AEE_EBADPARM},         {cut, AEE_EBADPARM},                     {claim_all_buffers, AEE_EBADPARM},
        {claim_handles, AEE_EBADPARM},         {claim_4_gib_of_name, AEE_EBADPARM},     {claim_4_gib_of_answer, AEE_ENOMEMORY},
        {claim_another_method, AEE_EUNSUPPORTED}, {claim_no_handle, AEE_EINVHANDLE},       {claim_the_last_handle, AEE_EINVHANDLE},
        {claim_a_longer_name, AEE_EBADPARM},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(lies); i++) {
        int32_t file;
        int rc;

        spoil = lies[i].spoil;
        rc = open_file("plain.txt", "r", &file);
        if ((rc & 0xff) != lies[i].result)
            print_error("lie %zu: 0x%x\n", i, (unsigned)rc);
        assert_int_equal(rc & 0xff, lies[i].result); /* a skel's own codes have the DSP's offset */
        expect_service();
    }
}

static void test_the_rest_of_a_request_may_not_come(void **state)
{
    char name[8000] = "";
    int32_t file;

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    fetch_result = (int)AEE_DSP(AEE_EBADPARM);
    assert_int_equal(open_file(name, "r", &file), fetch_result);
    fetch_result = 0;
    assert_int_equal(open_file(name, "r", &file), ENAMETOOLONG);
    expect_service();
}

/* Room for many bytes gets those that there are, again and again. */
static void test_reading_ends_with_the_file(void **state)
{
    enum { ROOM = 1 << 20 };
    char *text = malloc(ROOM);
    int32_t file = -1, n, at_end;

    (void)state;
    put("short.txt", "0123456789");
    assert_int_equal(open_file("short.txt", "r", &file), 0);
    for (int i = 0; i < 20; i++) {
        memset(text, 0x55, ROOM);
        assert_int_equal(read_file(file, text, ROOM, &n, &at_end), 0);
        assert_int_equal(n, i ? 0 : 10);
        assert_true(at_end);
        assert_int_equal(text[10], 0); /* nothing of the host's memory comes with it */
        assert_int_equal(text[ROOM - 1], 0);
    }
    assert_int_equal(read_file(file, text, 0, &n, &at_end), 0);
    assert_int_equal(n, 0);
    assert_int_equal(read_file(file + 1, text, 10, &n, &at_end), EBADF);
    assert_int_equal(read_file(INT32_MIN, text, 10, &n, &at_end), EBADF);
    assert_int_equal(close_file(file), 0);
    assert_int_equal(close_file(file), EBADF);
    free(text);
}

/* exit() of a child that the client has forked writes what lies in streams of the client's. */
static void test_a_childs_end_writes_nothing(void **state)
{
    int32_t file = -1;
    int status = -1;
    char *text;
    pid_t pid;

    (void)state;
    assert_int_equal(open_file("once.txt", "w", &file), 0);
    assert_int_equal(write_file(file, "once"), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        fflush(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(close_file(file), 0);
    text = hxt_read_file(hxt_path("%s/once.txt", hxt_tmpdir()), NULL);
    assert_string_equal(text, "once");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_ends_at_4_gib_and_comes_back),
        cmocka_unit_test(test_pieces_of_memory_end_at_256),
        cmocka_unit_test(test_the_rest_of_a_request_may_not_come), /* before there is room for it */
        cmocka_unit_test(test_what_is_no_request_is_refused),
        cmocka_unit_test(test_reading_ends_with_the_file),
        cmocka_unit_test(test_a_childs_end_writes_nothing),
    };

    return HXT_RUN_FIXTURE(tests, start, stop);
}
