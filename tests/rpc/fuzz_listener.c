/* Fuzz target: the listener of the host (rpc/listen), as a DSP that may send anything meets it.
 *
 * It serves what the input has, one request after the other, on a folder that is made for it.  A second reading of each request, written
 * from hx_reverse.h, says whether it is one, and how long the answer is; no answer has a byte of a file outside of the folder, which keeps
 * its own; what is said is plain text; nothing is left open.
 *
 * The input is a sequence of requests: u8 handle, method, in buffers, out buffers; u8 lie; u16 bytes; the bytes. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "fake_session.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);

enum { HEAD = 7, FILE_BYTES_MAX = 1 << 20, REQUEST_BYTES_MAX = 64 << 20, ANSWER_BYTES_MAX = 64 << 20 };
enum lie { HONEST, HUGE_REQUEST, HANDLES, NO_REST, LIES };
#define SECRET "a secret of the host's"

static struct {
    const uint8_t *data; /* of the input that is left */
    size_t left;
    const uint8_t *request; /* the one that is served */
    size_t bytes;
    uint32_t sc, handle;
    enum lie lie;
    uint32_t ctx; /* 0: there was none */
    unsigned maps;
    char folder[256], outside[272];
} f;

static void must(int is_so, const char *what)
{
    if (is_so)
        return;
    dprintf(2, "fuzz: not so: %s (handle %u, scalars 0x%x)\n", what, f.handle, f.sc);
    abort();
}

/* --- the second reading ----------------------------------------------------------------------------------------- */

/* 0: it is a request, whose answer has *answer bytes. */
static int read_request(uint64_t *answer)
{
    const unsigned n_in = REMOTE_SCALARS_INBUFS(f.sc), n = n_in + REMOTE_SCALARS_OUTBUFS(f.sc);
    uint64_t at = 0;

    *answer = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t length;

        if (at + sizeof(length) > f.bytes)
            return -1;
        memcpy(&length, f.request + at, sizeof(length));
        at += sizeof(length);
        if (i >= n_in) {
            *answer += sizeof(length);
            if (length)
                *answer = (*answer + 7) / 8 * 8 + length;
        } else if (length) {
            at = (at + 7) / 8 * 8 + length;
            if (at > f.bytes)
                return -1;
        }
    }
    return 0;
}

static int contains(const uint8_t *bytes, size_t n, const char *text)
{
    return n && memmem(bytes, n, text, strlen(text)) != NULL;
}

static void check_answer(const struct hx_next_in *in, const uint8_t *answer)
{
    uint64_t bytes = 0;
    const int is_request = f.lie == HONEST && read_request(&bytes) == 0;

    must(in->ctx == f.ctx, "an answer is one to the request");
    if (!is_request)
        must(in->result != 0, "what is no request has no answer");
    else if (bytes > ANSWER_BYTES_MAX)
        must(in->result == AEE_ENOMEMORY, "an answer has a limit");
    else if (!in->result)
        must(in->answer_bytes == bytes, "an answer has the bytes that were asked for");
    must(!in->result || !in->answer_bytes, "an error has no answer");
    must(!contains(answer, in->answer_bytes, SECRET), "no answer has what is outside");
}

/* --- the DSP ---------------------------------------------------------------------------------------------------- */

/* The next of the input: 0, or -1 when there is none. */
static int take_request(void)
{
    uint16_t bytes;

    if (f.left < HEAD)
        return -1;
    f.handle = f.data[0] == 0xff ? UINT32_MAX : f.data[0];
    f.sc = REMOTE_SCALARS_MAKE(f.data[1] & 31u, f.data[2], f.data[3]);
    f.lie = f.data[4] % LIES;
    memcpy(&bytes, f.data + 5, sizeof(bytes));
    f.bytes = bytes < f.left - HEAD ? bytes : f.left - HEAD;
    f.request = f.data + HEAD;
    f.data += HEAD + f.bytes;
    f.left -= HEAD + f.bytes;
    return 0;
}

static int next2(const struct hx_next_in *in, const uint8_t *answer, struct hx_next_out *out, uint8_t *request)
{
    if (f.ctx)
        check_answer(in, answer);
    if (take_request())
        return (int)AEE_DSP(AEE_EBADSTATE);
    f.ctx++;
    *out = (struct hx_next_out){f.ctx, f.handle, f.sc, (uint32_t)f.bytes};
    if (f.lie == HUGE_REQUEST)
        out->request_bytes = REQUEST_BYTES_MAX + 1 + (uint32_t)f.bytes;
    if (f.lie == HANDLES)
        out->sc |= 0x10;
    if (f.lie == NO_REST)
        out->request_bytes = in->room + 1;
    memset(request, 0xee, in->room);
    memcpy(request, f.request, f.bytes < in->room ? f.bytes : in->room);
    return AEE_SUCCESS;
}

static int get_in_bufs2(const struct hx_in_bufs_in *in, uint32_t *bytes, uint8_t *request)
{
    must(in->ctx == f.ctx, "the rest is one of the request");
    if (f.lie == NO_REST)
        return (int)AEE_DSP(AEE_EBADPARM);
    must(in->offset <= f.bytes && in->room >= f.bytes - in->offset, "the rest is fetched at once");
    *bytes = (uint32_t)f.bytes;
    memcpy(request, f.request + in->offset, f.bytes - in->offset);
    return AEE_SUCCESS;
}

static void end(void)
{
}

/* Every third map is refused. */
static int map(const struct fastrpc_mem_map *want, uint64_t *vaddrout)
{
    if (++f.maps % 3 == 0)
        return AEE_ENOMEMORY;
    *vaddrout = UINT64_C(0x1000) * (uint64_t)want->fd;
    return AEE_SUCCESS;
}

static int unmap(int fd)
{
    must(fd > 0, "what was mapped has a descriptor");
    return AEE_SUCCESS;
}

/* --- the host --------------------------------------------------------------------------------------------------- */

static ssize_t hear(void *cookie, const char *text, size_t n)
{
    (void)cookie;
    for (size_t i = 0; i < n; i++)
        must(text[i] == '\n' || (text[i] >= ' ' && text[i] < 0x7f), "what is said is plain text");
    return (ssize_t)n;
}

static void write_secret(void)
{
    FILE *out = fopen(f.outside, "w");

    must(out && fputs(SECRET, out) >= 0 && fclose(out) == 0, "there is a file outside");
}

static void expect_secret(void)
{
    char text[64] = "";
    FILE *in = fopen(f.outside, "r");

    must(in && fgets(text, sizeof(text), in) && fclose(in) == 0 && strcmp(text, SECRET) == 0, "what is outside stays as it is");
}

static int take_away(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    return ftw->level == 0 ? 0 : kind == FTW_DP || kind == FTW_DNR ? rmdir(path) : unlink(path);
}

static void empty_folder(void)
{
    nftw(f.folder, take_away, 8, FTW_DEPTH | FTW_PHYS);
}

static void fill_folder(void)
{
    char path[300];
    FILE *out;

    snprintf(path, sizeof(path), "%s/a", f.folder);
    out = fopen(path, "w");
    must(out && fputs("0123456789\nabcdefghi", out) >= 0 && fclose(out) == 0, "there is a file");
    snprintf(path, sizeof(path), "%s/d", f.folder);
    must(mkdir(path, 0700) == 0, "there is a folder");
    snprintf(path, sizeof(path), "%s/l", f.folder);
    must(symlink(f.outside, path) == 0, "there is a link that leads out");
}

static void remove_all(void)
{
    empty_folder();
    rmdir(f.folder);
    unlink(f.outside);
}

static void set_up(void)
{
    static const cookie_io_functions_t ear = {.write = hear};
    const struct rlimit small = {FILE_BYTES_MAX, FILE_BYTES_MAX};
    const char *tmp = getenv("TMPDIR");

    if (*f.folder)
        return;
    snprintf(f.folder, sizeof(f.folder), "%.200s/fuzzXXXXXX", tmp ? tmp : "/tmp");
    must(mkdtemp(f.folder) != NULL, "there is room for a folder");
    snprintf(f.outside, sizeof(f.outside), "%s.out", f.folder);
    atexit(remove_all);
    write_secret();
    setenv("HEXRIG_HOST_FILES", f.folder, 1);
    setenv("DSP_LIBRARY_PATH", f.folder, 1);
    signal(SIGXFSZ, SIG_IGN);
    must(setrlimit(RLIMIT_FSIZE, &small) == 0, "files and memory have a limit");
    stderr = fopencookie(NULL, "w", ear);
    must(stderr != NULL, "there is an ear");
    setvbuf(stderr, NULL, _IONBF, 0);
}

/* The lowest number that is free: nothing was left open below it. */
static int free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static const struct fake_session session = {next2, get_in_bufs2, end, map, unmap};
    static int was_free; /* the listener's descriptor of its end lives on */

    set_up();
    fill_folder();
    f.data = data;
    f.left = n;
    f.ctx = 0;
    f.maps = 0;
    must(fake_session_open(&session) == AEE_SUCCESS, "a listener starts");
    fake_session_close();
    must(!was_free || free_descriptor() == was_free, "nothing is left open");
    was_free = free_descriptor();
    expect_secret();
    empty_folder();
    return 0;
}
