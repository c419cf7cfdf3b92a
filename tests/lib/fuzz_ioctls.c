/* What clients of the driver's core do in a fuzz target: see fuzz_ioctls.h. */
#include "fuzz_rounds.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "AEEStdErr.h"
#include "remote_scalars.h"

enum { HUGE_LEN = 300 << 20 }; /* more than an arena, or a file */

struct hx_driver fuzz_driver;
struct fuzz_dsp fuzz_dsp;
struct fuzz_call fuzz_calls[FUZZ_CALLS];
struct fuzz_mapped fuzz_mapped[FUZZ_MAPPED];
const struct hx_front_ops *fuzz_front;
static const uint8_t *input, *input_end;

void fuzz_input(const uint8_t *data, size_t n)
{
    input = data;
    input_end = data + n;
}

bool fuzz_input_ends(void)
{
    return input >= input_end;
}

unsigned fuzz_byte(void)
{
    return input < input_end ? *input++ : 0;
}

unsigned fuzz_word(void)
{
    unsigned low = fuzz_byte();

    return low | fuzz_byte() << 8;
}

void fuzz_forget_answered(void)
{
    for (int i = 0; i < FUZZ_CALLS; i++)
        if (fuzz_calls[i].client && fuzz_calls[i].answers)
            fuzz_calls[i].client = NULL;
}

void fuzz_forget_maps(uint32_t number)
{
    for (int i = 0; i < FUZZ_MAPPED; i++)
        if (fuzz_mapped[i].number == number)
            fuzz_mapped[i].client = NULL;
}

static struct fuzz_pd *pd_of(const struct fuzz_client *c)
{
    return &fuzz_dsp.pd[c->session->client_id - 1];
}

/* --- ioctls ----------------------------------------------------------------------------------------------------- */

static struct fuzz_call *new_call(struct fuzz_client *c, uint32_t cmd)
{
    struct fuzz_call *fc = fuzz_calls;

    while (fc < fuzz_calls + FUZZ_CALLS && fc->client)
        fc++;
    if (fc == fuzz_calls + FUZZ_CALLS || !c->session)
        return NULL;
    memset(fc, 0, sizeof(*fc));
    fc->client = c;
    fc->call = (struct hx_call){.driver = &fuzz_driver, .session = c->session, .front = fuzz_front, .request = fc, .tid = 1,
                                .cmd = cmd, .arg_bytes = _IOC_SIZE(cmd)};
    return fc;
}

void fuzz_open(struct fuzz_client *c)
{
    unsigned b = fuzz_byte(), taken = 0, closing = 0;
    int rc;

    if (c->session)
        return;
    for (int i = 0; i < FUZZ_SESSIONS; i++) {
        taken += fuzz_driver.session[i] != NULL;
        closing += fuzz_driver.session[i] && fuzz_driver.session[i]->state == HX_SESSION_CLOSING;
    }
    rc = hx_session_open(&c->session, &fuzz_driver, fuzz_driver.copy_bytes ? 1 + (int)(c - fuzz_client) / 2 : 0,
                         1000 + (unsigned)(c - fuzz_client), b & 1);
    fuzz_must(rc == (taken < FUZZ_SESSIONS ? 0 : closing ? -EAGAIN : -EBUSY), "a session can be opened while there is room");
}

void fuzz_close(struct fuzz_client *c)
{
    if (!c->session)
        return;
    for (int i = 0; i < FUZZ_CALLS; i++) /* as the socket front end does */
        if (fuzz_calls[i].client == c && !fuzz_calls[i].answers)
            hx_call_finish(&fuzz_calls[i].call, -EPIPE);
    fuzz_forget_answered();
    fuzz_forget_maps(c->session->number);
    hx_session_close(c->session);
    c->session = NULL;
}

void fuzz_create(struct fuzz_client *c)
{
    static const uint32_t cmds[] = {FASTRPC_IOCTL_INIT_CREATE, FASTRPC_IOCTL_INIT_CREATE, FASTRPC_IOCTL_INIT_CREATE,
                                    FASTRPC_IOCTL_INIT_ATTACH, FASTRPC_IOCTL_INIT_ATTACH_SNS,
                                    FASTRPC_IOCTL_INIT_CREATE_STATIC};
    unsigned b = fuzz_byte();
    struct fuzz_call *fc = new_call(c, cmds[b % 6]);

    if (!fc)
        return;
    if (fc->call.cmd == FASTRPC_IOCTL_INIT_CREATE_STATIC)
        fc->call.arg.create_static = (struct fastrpc_init_create_static){.namelen = b & 0x40 ? 200 : 16, .name = FUZZ_MEMORY_AT};
    else
        fc->call.arg.create = (struct fastrpc_init_create){
            .filelen = b & 0x40 ? 64 : 0, .filefd = b & 0x20 ? FUZZ_FD : 0,
            .attrs = b & 0x80 ? 0 : FASTRPC_MODE_UNSIGNED_MODULE, .file = b & 0x10 ? 1 : FUZZ_MEMORY_AT};
    hx_call_begin(&fc->call);
}

/* A buffer: its kind and where it lies, its length.  Handles have descriptors alone. */
static void choose_buffer(struct fuzz_client *c, struct fuzz_buf *b, struct fastrpc_invoke_args *arg, bool handle)
{
    unsigned kind = fuzz_byte(), at = fuzz_word(), len = fuzz_word();
    unsigned i = (kind >> 2) % FUZZ_FDS;

    arg->fd = kind & 4 ? 0 : -1;
    arg->ptr = FUZZ_MEMORY_AT + at % (FUZZ_MEMORY + 512); /* now and then beyond */
    arg->length = len == 0xffff ? HUGE_LEN : len % 2100;
    if ((kind & 3) >= 2 || handle) {
        arg->fd = kind == 0xff ? FUZZ_FD + FUZZ_FDS : (int)(FUZZ_FD + i);
        arg->ptr = kind & 0x80 ? arg->ptr : FUZZ_FILES_AT + i * (uint64_t)FUZZ_FILE_STEP + at % 8192;
        if (!(kind & 0x40))
            fuzz_file_open(c, i);
    }
    b->ptr = arg->ptr;
    b->len = arg->length;
}

/* What is behind it once all files are open that will be. */
static void look_up(const struct fuzz_client *c, struct fuzz_buf *b, const struct fastrpc_invoke_args *arg, bool is_input)
{
    if (arg->fd >= FUZZ_FD && arg->fd < FUZZ_FD + FUZZ_FDS && arg->length)
        b->file = c->file[arg->fd - FUZZ_FD];
    if (b->file)
        b->offset = fuzz_offset(c, b);
    else if (is_input && (!b->len || fuzz_memory_has(b->ptr, b->len)))
        b->sum = fuzz_sum(b->len ? c->memory + (b->ptr - FUZZ_MEMORY_AT) : NULL, b->len);
}

/* The session has the file mapped under this number: how long it is has been looked at. */
static bool is_mapped(const struct hx_session *s, int fd, const struct fuzz_file *file)
{
    struct stat st;

    fuzz_must(fstat(file->fd, &st) == 0, "files have a number");
    for (const struct hx_buffer *b = s->buffers; b; b = b->next)
        if (b->client_fd == fd && b->refs && b->inode == st.st_ino)
            return true;
    return false;
}

/* Bit i: buffer i is mapped when its turn comes, by another call, MEM_MAP, or an earlier buffer of this one. */
static unsigned mapped_before(const struct fuzz_call *fc, const struct fastrpc_invoke_args *arg, unsigned n)
{
    unsigned mapped = 0;

    for (unsigned i = 0; i < n; i++) {
        bool is = fc->buf[i].file && is_mapped(fc->call.session, arg[i].fd, fc->buf[i].file);

        for (unsigned k = 0; k < i; k++)
            is |= fc->buf[k].file && fc->buf[k].file == fc->buf[i].file && arg[k].fd == arg[i].fd;
        mapped |= (unsigned)is << i;
    }
    return mapped;
}

/* Without a PD buffers are looked at, and none is mapped. */
static bool any_cannot_be_mapped(const struct fuzz_call *fc, const struct fastrpc_invoke_args *arg, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (arg[i].fd > 0 && arg[i].length && (!fc->buf[i].file || arg[i].length == HUGE_LEN))
            return true;
    return false;
}

/* What INVOKE has to give at once; 1: it goes to the DSP. */
static int expect_begin(const struct fuzz_call *fc, const struct fastrpc_invoke_args *arg, unsigned n)
{
    const unsigned was_mapped = mapped_before(fc, arg, n);
    static const int by_state[] = {AEE_DSP(AEE_EBADSTATE), AEE_DSP(AEE_EBADSTATE), 0, AEE_DSP(AEE_ECPUEXCEPTION), -EPIPE, -EPIPE};
    enum hx_session_state state = fc->call.session->state;
    const struct fuzz_pd *pd = pd_of(fc->client);

    if (fc->call.arg.invoke.args != FUZZ_ARGS_AT && n)
        return -EFAULT;
    if (fc->call.arg.invoke.handle == FASTRPC_HANDLE_KERNEL && by_state[state] != -EPIPE)
        return -EPERM;
    if (by_state[state] < -4095 && any_cannot_be_mapped(fc, arg, n))
        return -EINVAL;
    if (by_state[state])
        return by_state[state];
    if (!hx_context_is_free(&fuzz_driver)) /* calls that were interrupted or timed out have them */
        return -ENOSPC;
    for (unsigned i = 0; i < n; i++)
        if (arg[i].fd > 0 && arg[i].length &&
            (!fc->buf[i].file ||
             (arg[i].length == HUGE_LEN && (i >= fc->n_bufs || !(was_mapped & 1u << i)))))
            return -EINVAL;
    for (unsigned i = 0; i < fc->n_bufs; i++)
        if (arg[i].length == HUGE_LEN && !fc->buf[i].file)
            return -ENOMEM;
    for (unsigned i = 0; i < fc->n_in; i++)
        if (arg[i].length && !fc->buf[i].file && !fuzz_memory_has(arg[i].ptr, arg[i].length))
            return -EFAULT;
    return pd->broken ? 0 : 1;
}

void fuzz_invoke(struct fuzz_client *c)
{
    struct fuzz_call *fc = new_call(c, FASTRPC_IOCTL_INVOKE);
    unsigned shape = fuzz_byte(), more = fuzz_byte(), n_handles = more >> 6;
    struct fastrpc_invoke_args arg[FUZZ_BUFS] = {0};
    int want;

    if (!fc)
        return;
    fc->n_in = shape % 5;
    fc->n_bufs = fc->n_in + shape / 5 % 5;
    fc->call.arg.invoke = (struct fastrpc_invoke){
        .handle = more & 0x20 ? FASTRPC_HANDLE_KERNEL : 0x10000 + (more & 7),
        .sc = REMOTE_SCALARS_MAKEX(0, more & 31, fc->n_in, fc->n_bufs - fc->n_in, n_handles, 0),
        .args = shape >= 250 ? FUZZ_ARGS_AT + 4096 : FUZZ_ARGS_AT};
    for (unsigned i = 0; i < fc->n_bufs + n_handles; i++)
        choose_buffer(c, &fc->buf[i], &arg[i], i >= fc->n_bufs);
    for (unsigned i = 0; i < fc->n_bufs + n_handles; i++)
        look_up(c, &fc->buf[i], &arg[i], i < fc->n_in);
    memcpy(c->args, arg, sizeof(arg));
    want = expect_begin(fc, arg, fc->n_bufs + n_handles);
    hx_call_begin(&fc->call);
    if (fc->answers && fc->result == -ENOMEM && c->session->n_buffers == fuzz_driver.maps_max)
        return;
    fc->faulty = want == -EFAULT && fuzz_is_copied_in(fc);
    if (fc->faulty)
        return;
    if (want < 0 || (want && want != 1))
        fuzz_must(fc->answers == 1 && fc->result == want, "a bad call gets its error at once");
    else
        fuzz_must(want == 0 || !fc->answers, "a good call goes to the DSP");
}

void fuzz_map_memory(struct fuzz_client *c)
{
    unsigned kind = fuzz_byte();
    struct fuzz_call *fc = new_call(c, kind & 1 ? FASTRPC_IOCTL_MMAP : FASTRPC_IOCTL_MEM_MAP);

    if (!fc)
        return;
    if (kind & 1) {
        fc->call.arg.mmap = (struct fastrpc_req_mmap){.flags = kind & 0x80 ? kind : ADSP_MMAP_ADD_PAGES,
                                                      .size = kind & 0x40 ? 0 : 4096 * (kind >> 1 & 3)};
    } else {
        if (!(kind & 0x80))
            fuzz_file_open(c, kind / 2 % FUZZ_FDS);
        fc->call.arg.map = (struct fastrpc_mem_map){.fd = (int)(FUZZ_FD + kind / 2 % FUZZ_FDS), .length = 4096};
    }
    hx_call_begin(&fc->call);
}

void fuzz_unmap_memory(struct fuzz_client *c)
{
    unsigned which = fuzz_byte();
    struct fuzz_mapped *m = &fuzz_mapped[which % FUZZ_MAPPED];
    bool known = m->client == c && c->session && m->number == c->session->number, made = known && m->fd < 0;
    struct fuzz_call *fc = new_call(c, made || which & 0x80 ? FASTRPC_IOCTL_MUNMAP : FASTRPC_IOCTL_MEM_UNMAP);
    int want;

    if (!fc)
        return;
    known &= made || !(which & 0x80);
    want = !known || (made && m->is_stranded) ? -EINVAL : hx_session_error(c->session);
    if (fc->call.cmd == FASTRPC_IOCTL_MUNMAP)
        fc->call.arg.munmap = (struct fastrpc_req_munmap){.vaddrout = known ? m->vaddr : 0x1234, .size = known ? m->size : 4096};
    else
        fc->call.arg.unmap = (struct fastrpc_mem_unmap){.fd = known && which & 0x40 ? m->fd : -1,
                                                        .vaddr = known ? m->vaddr : 0x1234, .length = 4096};
    hx_call_begin(&fc->call);
    fuzz_must(fc->answers == 1 && fc->result == want, "UNMAP ends a map, or says that there is none");
    if (known && want == 0)
        m->client = NULL;
}

void fuzz_other_ioctl(struct fuzz_client *c)
{
    static const uint32_t cmds[] = {FASTRPC_IOCTL_GET_DSP_INFO, FASTRPC_IOCTL_SET_OPTION, HX_IOCTL_SESSION_STATS,
                                    FASTRPC_IOCTL_ALLOC_DMA_BUFF, 0x1234};
    unsigned b = fuzz_byte();
    struct fuzz_call *fc = new_call(c, cmds[b % 5]);

    if (!fc)
        return;
    fc->call.arg.capability = (struct fastrpc_ioctl_capability){.domain = b & 0x40 ? b >> 4 : FASTRPC_CDSP_DOMAIN,
                                                                .attribute_id = b >> 3};
    hx_call_begin(&fc->call);
    fuzz_must(fc->answers || fc->call.cmd == FASTRPC_IOCTL_GET_DSP_INFO, "the driver answers by itself");
}

void fuzz_strand(const struct fuzz_client *c)
{
    for (int i = 0; i < FUZZ_MAPPED; i++)
        fuzz_mapped[i].is_stranded |= fuzz_mapped[i].client == c;
}

void fuzz_interrupt(struct fuzz_client *c)
{
    struct fuzz_call *fc = &fuzz_calls[fuzz_byte() % FUZZ_CALLS];
    bool invoke = fc->call.cmd == FASTRPC_IOCTL_INVOKE;

    if (fc->client != c || fc->answers)
        return;
    hx_call_interrupt(&fc->call);
    if (invoke)
        fuzz_strand(c);
    fuzz_must(fc->answers == invoke && (!invoke || fc->result == -HX_ERESTARTSYS), "a signal ends an INVOKE");
}

/* --- the client's own doings --------------------------------------------------------------------------------------- */

void fuzz_write_memory(struct fuzz_client *c)
{
    unsigned at = fuzz_word(), n = fuzz_byte(), fill = fuzz_byte();

    fuzz_memory_changes(c);
    for (unsigned i = 0; i < n; i++)
        c->memory[(at + i) % FUZZ_MEMORY] = c->want[(at + i) % FUZZ_MEMORY] = (uint8_t)(fill + i);
}

void fuzz_close_file(struct fuzz_client *c)
{
    fuzz_file_close(c, fuzz_byte() % FUZZ_FDS);
}
