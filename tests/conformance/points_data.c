/* Buffers. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

static void check_alignment(struct file f)
{
    static const size_t lengths[] = {1, 127, 128, 129, 3, 4095, 77};
    enum { N = sizeof(lengths) / sizeof(lengths[0]) };
    static uint8_t in[N][4104], out[N][4104];
    struct fastrpc_invoke_args a[2 * N + 1];
    struct hxt_any any = {0};
    uint32_t sum = 1;

    a[N] = arg(&any, sizeof(any));
    for (int i = 0; i < N; i++) {
        memset(in[i], i + 1, lengths[i]);
        a[i] = arg(in[i] + 1, lengths[i]);
        a[N + 1 + i] = arg(out[i] + 3, lengths[i]);
        sum = hxt_any_sum(sum, in[i] + 1, lengths[i]);
    }
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ANY, N, N + 1), a), 0, "HXT_ANY");
    need_is(any.misaligned, 0, "number of buffers that do not start at a multiple of 128");
    need_is(any.sum, sum, "sum over the in buffers");
    for (int i = 0; i < N; i++)
        need(out[i][2] == 0 && out[i][3] == hxt_any_byte((unsigned)i + 1) && out[i][3 + lengths[i]] == 0,
             "out buffer of %zu bytes: wrong bytes were written", lengths[i]);
}

/* out[i] = in[i] + 1 upwards, with out `shift` bytes after in: a ripple that needs both to be one memory. */
static void check_ripple(struct file f, size_t shift, size_t n)
{
    struct hxt_in head = {0};
    uint8_t b[600] = {0};
    struct fastrpc_invoke_args a[3] = {arg(&head, sizeof(head)), arg(b, n), arg(b + shift, n)};

    for (size_t i = 0; i < shift; i++)
        b[i] = (uint8_t)(10 + i);
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a), 0, "HXT_RIPPLE");
    for (size_t i = 0; i < shift + n; i++)
        need(b[i] == (uint8_t)(10 + i % shift + i / shift),
             "out buffer %zu bytes after the in buffer: byte %zu is %u", shift, i, b[i]);
}

void point_13_overlaps_alias_and_buffers_are_aligned(void)
{
    struct file f = open_skel();
    static const size_t shifts[] = {1, 8, 127, 200};

    check_alignment(f);
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
        check_ripple(f, shifts[i], 300);
    close_file(f);
}

void point_14_fd_buffers_are_shared_others_copied(void)
{
    enum { HEAD = sizeof(struct hxt_in), N = 1000 };
    struct file f = open_skel();
    struct shared *s = shared_get(3 * 4096), *gate = gate_get();
    struct hxt_in in = {.value = 50};
    struct hxt_gate copy = {0};
    struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg(&copy, sizeof(copy))};
    char from[N] = {0}, to[N] = {1};
    struct hx_session_stats s0, s1, s2;
    struct waiter w;

    s0 = stats(f);
    memset(s->p, 7, s->bytes);
    need_is(echo(f, 0, arg_fd(s, 4000, N), arg_fd(s, 8000, N)), 0, "HXT_ECHO on shared buffers");
    s1 = stats(f);
    need_is((long long)(s1.bytes_shared - s0.bytes_shared), 2 * N, "bytes_shared");
    need_is((long long)(s1.bytes_copied - s0.bytes_copied), HEAD, "bytes_copied of the same call");
    need_is(echo(f, 0, arg(from, N), arg(to, N)), 0, "HXT_ECHO on inline buffers");
    s2 = stats(f);
    need_is((long long)(s2.bytes_shared - s1.bytes_shared), 0, "bytes_shared of inline buffers");
    need_is((long long)(s2.bytes_copied - s1.bytes_copied), HEAD + 2 * N, "bytes_copied");

    /* shared means: what the client writes while the call runs is seen; a copy is not */
    waiter_start(&w, f, gate, 21);
    need_inside(gate, 1);
    gate_open(gate);
    waiter_join(&w);
    need_is(w.result, 21, "the call whose gate is opened in shared memory");
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_WAIT, 2, 0), a), HXT_TIMED_OUT,
            "the call whose gate is a copy");
    need_is(copy.inside, 0, "what the skel wrote into a copied in buffer");
    close_file(f);
}

void point_15_outputs_are_copied_even_on_error(void)
{
    static const int codes[] = {5, (int)0x80000401, -EIO};
    struct file f = open_skel();

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        char from[] = "hexagon", to[8] = "";
        int rc = echo(f, codes[i], arg(from, 8), arg(to, 8));

        need(rc == codes[i] || (rc == -1 && errno == EIO), "result 0x%x", (unsigned)rc);
        need(strcmp(to, "hexagon") == 0, "result 0x%x: the out buffer was not written", (unsigned)rc);
    }
    close_file(f);
}

/* First byte of the buffer that the driver takes for descriptor s->fd. */
static int first_byte(struct file f, const struct shared *s)
{
    uint8_t out = 0;

    need_is(echo(f, 0, arg_fd(s, 0, 1), arg(&out, 1)), 0, "HXT_ECHO from a descriptor");
    return out;
}

/* Buffers with these descriptors, each byte of each = `fill`. */
static void fill_fds(struct shared **s, int first, int n, uint8_t fill)
{
    for (int i = 0; i < n; i++) {
        s[i] = shared_get_at(4096, first + i);
        memset(s[i]->p, fill, s[i]->bytes);
    }
}

void point_16_fdlist_gives_maps_back(void)
{
    enum { FIRST = 300, N = 15 };
    struct file f = open_skel();
    struct hxt_in in = {0};
    struct fastrpc_invoke_args a[1 + N] = {arg(&in, sizeof(in))};
    struct shared *s[N];

    fill_fds(s, FIRST, N, 'a');
    for (int i = 0; i < N; i++) /* DMA handles: the DSP keeps them */
        a[1 + i] = (struct fastrpc_invoke_args){0, 4096, s[i]->fd, 0};
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKEX(0, HXT_KEEP, 1, 0, N, 0), a), 'a', "HXT_KEEP");
    for (int i = 0; i < N; i++)
        shared_put(s[i]);
    fill_fds(s, FIRST, N, 'b');
    for (int i = 0; i < N; i++)
        need_is(first_byte(f, s[i]), 'b', "while the DSP holds the old map, the byte behind the number");
    need_is(call0(f, HXT_GIVE_BACK, FIRST, N), N, "HXT_GIVE_BACK, of the old maps");
    for (int i = 0; i < N; i++)
        need_is(first_byte(f, s[i]), 'b', "after the DSP gave it back, the byte behind the number");
    close_file(f);
}

static void check_fd_0(struct file f)
{
    struct fastrpc_invoke_args in, out;
    struct hx_session_stats before = stats(f);
    char from[8] = "abc", to[8] = "";

    in = arg(from, 8);
    out = arg(to, 8);
    in.fd = out.fd = 0;
    need_is(echo(f, 0, in, out), 0, "descriptor 0");
    need(strcmp(to, "abc") == 0, "descriptor 0 was used");
    need_is((long long)(stats(f).bytes_shared - before.bytes_shared), 0, "bytes shared by descriptor 0");
    in.fd = 999;
    need_errno(echo(f, 0, in, out), EINVAL, "a number that is no descriptor");
}

void point_17_fd_0_is_none_and_a_number_means_its_file(void)
{
    enum { NUMBER = 200 };
    struct file f = open_skel();
    struct fastrpc_mem_map m = {.fd = NUMBER, .length = 4096};
    struct fastrpc_mem_unmap u = {.fd = NUMBER};
    struct shared *s;

    check_fd_0(f);
    fill_fds(&s, NUMBER, 1, 'a');
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, &m), 0, "MEM_MAP");
    shared_put(s);
    fill_fds(&s, NUMBER, 1, 'b');
    need_is(first_byte(f, s), 'b', "while the old map lives, the byte behind the reused number");
    u.vaddr = m.vaddrout;
    need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_UNMAP, &u), 0, "MEM_UNMAP");
    need_is(first_byte(f, s), 'b', "after MEM_UNMAP, the byte behind the number");
    close_file(f);
}

static void check_540(struct file f, const struct shared *s)
{
    enum { N = 255, H = 15 };
    static uint8_t in[N][300], out[N][40];
    struct fastrpc_invoke_args a[2 * N + 2 * H];
    struct hxt_any any = {0};
    uint32_t sum = 1, offsets = 0;

    for (int i = 0; i < N; i++) {
        size_t n = (size_t)i % 3 ? (size_t)i + 1 : 0;

        memset(in[i], i, n);
        a[i] = arg(in[i], n);
        sum = hxt_any_sum(sum, in[i], n);
        a[N + i] = i ? arg(out[i], (size_t)i % 40) : arg(&any, sizeof(any));
    }
    for (int i = 0; i < 2 * H; i++) {
        a[2 * N + i] = (struct fastrpc_invoke_args){(uint64_t)i * 16, 64, s->fd, 0};
        offsets += i < H ? (uint32_t)i * 16 : 0;
    }
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKEX(0, HXT_ANY, N, N, H, H), a), 0, "540 arguments");
    need_is(any.sum, sum, "sum over 255 in buffers");
    need_is(any.handles, 2 * H, "handles");
    need_is(any.offsets, offsets, "sum of the in handles' offsets");
    for (int i = 1; i < N; i++)
        for (int k = 0; k < 40; k++)
            need_is(out[i][k], k < i % 40 ? hxt_any_byte((unsigned)i) : 0, "a byte of an out buffer");
}

void point_18_540_arguments_and_empty_ones(void)
{
    struct file f = open_skel();

    check_540(f, shared_get(4096));
    need_is(echo(f, 0, arg(NULL, 0), arg((void *)16, 0)), 0, "buffers of length 0");
    close_file(f);
}
