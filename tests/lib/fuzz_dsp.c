/* The DSP's end of the driver's channels, for fuzz targets: see fuzz_dsp.h for what it answers. */
#include "fuzz_dsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote_scalars.h"

static struct hx_driver *driver;

void fuzz_must(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

/* --- PDs come and go ------------------------------------------------------------------------------------------ */

static void join(struct fuzz_pd *pd, const int *fd, uint32_t number)
{
    memset(pd, 0, sizeof(*pd));
    memcpy(pd->fd, fd, sizeof(pd->fd));
    pd->number = number;
    for (int i = 0; i < FUZZ_MAPS; i++)
        pd->map[i].fd = -1;
    pd->rings = mmap(NULL, sizeof(*pd->rings), PROT_READ | PROT_WRITE, MAP_SHARED, fd[HX_FD_RINGS], 0);
    pd->arena = mmap(NULL, HX_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd[HX_FD_ARENA], 0);
    fuzz_must(pd->rings != MAP_FAILED && pd->arena != MAP_FAILED, "a PD's channel can be mapped");
}

void fuzz_pd_die(struct fuzz_pd *pd)
{
    if (!pd->rings)
        return;
    munmap(pd->rings, sizeof(*pd->rings));
    munmap(pd->arena, HX_ARENA_BYTES);
    pd->rings = NULL;
    for (int i = 0; i < HX_PD_FDS; i++)
        close(pd->fd[i]);
    for (int i = 0; i < FUZZ_MAPS; i++)
        if (pd->map[i].fd >= 0)
            close(pd->map[i].fd);
    pd->n_held = 0;
}

void fuzz_dsp_forget(struct fuzz_dsp *dsp)
{
    fuzz_pd_die(&dsp->root);
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        fuzz_pd_die(&dsp->pd[i]);
}

static void root_replies(void *arg)
{
    (void)arg;
    hx_context_replies(driver, &driver->dsp.channel, HX_RING_SLOTS);
}

static void root_control(void *arg)
{
    struct hx_ctl ctl;
    ssize_t n = recv(driver->dsp.channel.ctl, &ctl, sizeof(ctl), MSG_DONTWAIT);

    (void)arg;
    if (n <= 0)
        hx_dsp_fail(driver, "it is gone");
    else if (n == (ssize_t)sizeof(ctl) && ctl.op == HX_CTL_EXIT)
        hx_session_pd_ended(driver, ctl.id, ctl.seq);
}

void fuzz_dsp_up(struct fuzz_dsp *dsp, struct hx_driver *d)
{
    struct hx_dsp_process *p = &d->dsp;
    int fd[HX_PD_FDS];
    siginfo_t info;

    driver = d;
    fuzz_must(hx_channel_create(&p->channel, &d->loop, 0, fd) == 0, "there is a channel to the root PD");
    p->channel.rings_bell = true;
    p->replies = (struct hx_ring_watch){.bell = {p->channel.rep_bell, root_replies, NULL},
                                        .ring = &p->channel.rings->reply,
                                        .expected = &p->channel.in_flight};
    p->control = (struct hx_watch){p->channel.ctl, root_control, NULL};
    fuzz_must(hx_loop_add_ring(&d->loop, &p->replies) == 0 && hx_loop_add(&d->loop, &p->control) == 0, "it is watched");
    p->pid = vfork(); /* stays a zombie until the driver tears the DSP down, so its number is nobody else's */
    if (p->pid == 0)
        _exit(0);
    /* until it is dead it has copies of our descriptors */
    fuzz_must(p->pid > 0 && waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT) == 0, "there is a process that has ended");
    p->gone = hx_session_ssr_all;
    join(&dsp->root, fd, 0);
}

/* --- control messages ----------------------------------------------------------------------------------------- */

static void unmap(struct fuzz_pd *pd, int32_t id)
{
    for (int i = 0; i < FUZZ_MAPS; i++)
        if (pd->map[i].fd >= 0 && pd->map[i].id == id) {
            close(pd->map[i].fd);
            pd->map[i].fd = -1;
            return;
        }
    fuzz_must(false, "a buffer that is taken back was there");
}

static struct fuzz_map *find(struct fuzz_pd *pd, int32_t id)
{
    for (int i = 0; i < FUZZ_MAPS; i++)
        if (pd->map[i].fd >= 0 && pd->map[i].id == id)
            return &pd->map[i];
    return NULL;
}

static void map(struct fuzz_pd *pd, const struct hx_ctl *ctl, int fd)
{
    int i = 0;

    fuzz_must(!find(pd, ctl->id), "a buffer's id is new");
    while (i < FUZZ_MAPS && pd->map[i].fd >= 0)
        i++;
    fuzz_must(i < FUZZ_MAPS, "the driver forgets buffers that nobody uses");
    pd->map[i] = (struct fuzz_map){ctl->id, fd, ctl->size};
}

/* Reads one message and its descriptors; false: there is none. */
static bool read_control(struct fuzz_dsp *dsp, struct fuzz_pd *pd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * HX_PD_FDS)];
        struct cmsghdr align;
    } cbuf;
    struct hx_ctl ctl;
    struct iovec iov = {&ctl, sizeof(ctl)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cbuf, .msg_controllen = sizeof(cbuf)};
    struct cmsghdr *h;
    int fd[HX_PD_FDS], n = 0;

    if (recvmsg(pd->fd[HX_FD_CTL], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return false;
    h = CMSG_FIRSTHDR(&m);
    if (h) {
        n = (int)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fd, CMSG_DATA(h), (size_t)n * sizeof(int));
    }
    fuzz_must(ctl.seq == ++pd->ctl_seq, "control messages are numbered");
    switch (ctl.op) {
    case HX_CTL_MAP:
        fuzz_must(n == 1, "a buffer has its descriptor");
        map(pd, &ctl, fd[0]);
        break;
    case HX_CTL_UNMAP:
        unmap(pd, ctl.id);
        break;
    case HX_CTL_PD:
        fuzz_must(n == HX_PD_FDS && pd == &dsp->root, "a PD has its descriptors");
        fuzz_pd_die(&dsp->pd[ctl.id - 1]);
        join(&dsp->pd[ctl.id - 1], fd, (uint32_t)ctl.size);
        break;
    case HX_CTL_UNBIND:
        fuzz_must(find(pd, ctl.id) != NULL, "what is unbound is there");
        break;
    default:
        fuzz_must(ctl.op == HX_CTL_PING, "no other control message comes");
    }
    return true;
}

void fuzz_dsp_control(struct fuzz_dsp *dsp)
{
    while (dsp->root.rings && read_control(dsp, &dsp->root))
        ;
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        while (dsp->pd[i].rings && read_control(dsp, &dsp->pd[i]))
            ;
}

/* --- requests and replies --------------------------------------------------------------------------------------- */

void fuzz_pd_take(struct fuzz_pd *pd)
{
    while (pd->rings && !pd->broken && pd->n_held < FUZZ_HELD &&
           hx_ring_pop(&pd->rings->request, &pd->held[pd->n_held]) == 0)
        pd->n_held++;
}

void fuzz_pd_reply(struct fuzz_pd *pd, uint64_t ctx, int32_t result)
{
    const struct hx_reply reply = {.ctx = ctx, .retval = result, .exec_pcycles = 1000, .active = 65536};
    const uint64_t one = 1;

    if (pd->rings && hx_ring_push(&pd->rings->reply, &reply) == 0)
        fuzz_must(write(pd->fd[HX_FD_REP_BELL], &one, sizeof(one)) == sizeof(one), "the bell rings");
}

void fuzz_pd_answer(struct fuzz_pd *pd, unsigned which, int32_t result)
{
    uint64_t ctx = pd->held[which].ctx;

    pd->held[which] = pd->held[--pd->n_held];
    fuzz_pd_reply(pd, ctx, result);
}

uint64_t fuzz_sum(const uint8_t *bytes, size_t n)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum ^ n;
}

static bool in_range(const struct hx_msg *m, struct fuzz_pd *pd, const struct hx_arg *a)
{
    const struct fuzz_map *map = a->kind == HX_ARG_MAP ? find(pd, a->map) : NULL;

    if (a->kind == HX_ARG_MAP)
        return map && a->addr <= map->size && a->len <= map->size - a->addr;
    return !a->len || (a->addr >= m->addr && a->addr - m->addr <= m->size && a->len <= m->size - (a->addr - m->addr));
}

/* Bytes of an argument that is in range, at *room when they have to be fetched. */
static uint8_t *bytes_of(struct fuzz_pd *pd, const struct hx_arg *a, uint8_t **room)
{
    if (a->kind != HX_ARG_MAP)
        return pd->arena + a->addr;
    *room = malloc(a->len + 1);
    fuzz_must(*room && pread(find(pd, a->map)->fd, *room, a->len, (off_t)a->addr) == (ssize_t)a->len, "a buffer can be read");
    return *room;
}

int fuzz_pd_execute(struct fuzz_pd *pd, unsigned which)
{
    const struct hx_msg *m = &pd->held[which];
    unsigned n_in = REMOTE_SCALARS_INBUFS(m->sc), n_bufs = n_in + REMOTE_SCALARS_OUTBUFS(m->sc);
    const struct hx_invoke *head = (void *)(pd->arena + m->addr);
    const struct hx_arg *arg = (const void *)(head + 1);
    uint64_t sum = m->handle ^ m->sc;

    fuzz_must(head->n_args == REMOTE_SCALARS_LENGTH(m->sc), "the number of arguments is that of the scalars");
    fuzz_must(head->ctl_seq <= pd->ctl_seq, "buffers are announced before the call");
    for (unsigned i = 0; i < n_bufs; i++)
        if (!in_range(m, pd, &arg[i]))
            return FUZZ_REFUSED;
    for (unsigned i = 0; i < n_in; i++) {
        uint8_t *room = NULL;
        sum = fuzz_chain(sum, fuzz_sum(bytes_of(pd, &arg[i], &room), arg[i].len));
        free(room);
    }
    for (unsigned i = n_in; i < n_bufs; i++) {
        uint8_t *room = NULL, *out = bytes_of(pd, &arg[i], &room);
        for (size_t j = 0; j < arg[i].len; j++)
            out[j] = fuzz_out(sum, i, j);
        if (room)
            fuzz_must(pwrite(find(pd, arg[i].map)->fd, out, arg[i].len, (off_t)arg[i].addr) == (ssize_t)arg[i].len,
                      "a buffer can be written");
        free(room);
    }
    return 0;
}

/* --- the root PD ------------------------------------------------------------------------------------------------ */

void fuzz_root_exit(struct fuzz_dsp *dsp, int32_t client_id, uint32_t number)
{
    const struct hx_ctl ctl = {.op = HX_CTL_EXIT, .seq = number, .id = client_id};

    if (dsp->root.rings)
        (void)!send(dsp->root.fd[HX_FD_CTL], &ctl, sizeof(ctl), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The kernel call's in buffer. */
static const void *input_of(const struct fuzz_pd *pd, unsigned which)
{
    const struct hx_arg *arg = (const void *)(pd->arena + pd->held[which].addr + sizeof(struct hx_invoke));

    return pd->arena + arg->addr;
}

void fuzz_root_serve(struct fuzz_dsp *dsp, unsigned which, int32_t result, bool slow)
{
    struct fuzz_pd *root = &dsp->root;
    struct hx_kcreate in;

    memcpy(&in, input_of(root, which), sizeof(in));
    if (root->held[which].handle == FASTRPC_HANDLE_KERNEL && in.client_id > 0 && in.client_id <= FASTRPC_MAX_SESSIONS) {
        bool release = REMOTE_SCALARS_METHOD(root->held[which].sc) == FASTRPC_RMID_RELEASE;
        if (release || result)
            fuzz_pd_die(&dsp->pd[in.client_id - 1]);
        if (release)
            result = slow ? HX_RELEASE_ENDS : 0;
    }
    fuzz_pd_answer(root, which, result);
}
