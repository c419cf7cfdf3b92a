/* The node as a file: opening, closing, what is no ioctl, and structs that cannot be written back. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

void point_48_neither_read_nor_write_nor_mmap(void)
{
    int h = open_node("fastrpc-cdsp");
    char byte = 0;

    need_errno((int)read(h, &byte, 1), EINVAL, "read()");
    need_errno((int)write(h, &byte, 1), EINVAL, "write()");
    need(mmap(NULL, 4096, PROT_READ, MAP_SHARED, h, 0) == MAP_FAILED && errno == ENODEV, "mmap() did not give ENODEV");
    close(h);
}

void point_49_poll_says_ready(void)
{
    int h = open_node("fastrpc-cdsp");
    struct pollfd p = {.fd = h, .events = POLLIN | POLLOUT};

    need_is(poll(&p, 1, 0), 1, "poll()");
    need_is(p.revents, POLLIN | POLLOUT, "its events");
    close(h);
}

void point_50_flags_of_open_do_not_count(void)
{
    static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_APPEND, O_RDWR | O_NONBLOCK};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct file f = {.h = open(access_path("fastrpc-cdsp"), flags[i] | O_CLOEXEC)};

        need(f.h >= 0, "open() with flags 0x%x: %s", (unsigned)flags[i], strerror(errno));
        need_is(init_create(f.h, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "INIT_CREATE");
        f.skel = load_skel(f.h);
        need_is(call0(f, HXT_BLOCK, 7, 0), 7, "a call, which waits whatever O_NONBLOCK says");
        close_file(f);
    }
}

void point_51_lseek_gives_espipe(void)
{
    int h = open_node("fastrpc-cdsp");

    need_errno((int)lseek(h, 0, SEEK_SET), ESPIPE, "lseek()");
    close(h);
}

void point_52_fstat_tells_a_character_device(void)
{
    int h = open_node("fastrpc-cdsp");
    struct stat st;

    need(fstat(h, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev, "fstat(): mode 0%o", (unsigned)st.st_mode);
    close(h);
}

void point_53_an_unknown_ioctl_is_not_read(void)
{
    static const unsigned long cmds[] = {FASTRPC_IOCTL_FREE_DMA_BUFF, _IOWR('R', 0, uint32_t), _IOWR('R', 77, uint32_t)};
    int h = open_node("fastrpc-cdsp");

    for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
        need_errno(dev->ioctl(h, cmds[i], (void *)16), ENOTTY, "an unknown ioctl with a bad pointer");
    close(h);
}

static bool has_sessions(void *n)
{
    return status_number("sessions") == *(int *)n;
}

void point_54_the_last_close_releases(void)
{
    struct file f, copy;
    int none = 0;

    need_soon(has_sessions, &none, "all files closed");
    f = open_skel();
    copy = (struct file){dup(f.h), f.skel};
    need(copy.h >= 0, "dup: %s", strerror(errno));
    close_file(f);
    need_is(call0(copy, HXT_BLOCK, 6, 0), 6, "a call by the other descriptor of the file");
    need_is(status_number("sessions"), 1, "sessions while it is open");
    close_file(copy);
    need_soon(has_sessions, &none, "the last descriptor's close releases the file");
}

void point_55_open_finds_room_after_close(void)
{
    enum { ROUNDS = 60 };
    int h[FASTRPC_MAX_SESSIONS];

    need_soon(no_session_is_open, NULL, "all files closed");
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        h[i] = open_node("fastrpc-cdsp");
    for (int i = 0; i < ROUNDS; i++) {
        int *at = &h[i % FASTRPC_MAX_SESSIONS];

        need_is(init_create(*at, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "INIT_CREATE");
        dev->close(*at);
        *at = open_node("fastrpc-cdsp"); /* at once, and it is the only room */
    }
    need_errno(dev->open("fastrpc-cdsp"), EBUSY, "one file too many");
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        dev->close(h[i]);
}

/* Memory that can be read, with `n` bytes from p. */
static void *read_only(const void *p, size_t n)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    need(page != MAP_FAILED, "mmap: %s", strerror(errno));
    memcpy(page, p, n);
    need(mprotect(page, 4096, PROT_READ) == 0, "mprotect: %s", strerror(errno));
    return page;
}

void point_56_an_answer_that_cannot_be_written_gives_efault(void)
{
    struct fastrpc_ioctl_capability c = {.domain = FASTRPC_CDSP_DOMAIN, .attribute_id = FASTRPC_ATTR_ARCH_VER};
    struct shared *s = shared_get(4096);
    struct fastrpc_mem_map m = {.fd = s->fd, .length = 4096};
    struct fastrpc_req_mmap mm = {.fd = -1, .flags = ADSP_MMAP_ADD_PAGES, .size = 4096};
    struct file f = open_skel();

    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_GET_DSP_INFO, read_only(&c, sizeof(c))), EFAULT, "GET_DSP_INFO");
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, read_only(&m, sizeof(m))), EFAULT, "MEM_MAP");
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_MMAP, read_only(&mm, sizeof(mm))), EFAULT, "MMAP");
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a call afterwards");
    close_file(f);
}

void point_57_an_out_buffer_that_cannot_be_written_gives_efault(void)
{
    struct file f = open_skel();
    struct shared *s = shared_get(4096);
    char zeros[16] = "";
    struct fastrpc_invoke_args a[2] = {arg_fd(s, 0, sizeof(struct hxt_any)), arg(read_only(zeros, 16), 16)};

    need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ANY, 0, 2), a), EFAULT, "a read-only out buffer");
    need_is(((struct hxt_any *)(void *)s->p)->sum, 1, "what the DSP has written into shared memory");
    a[1] = arg(zeros, 16);
    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ANY, 0, 2), a), 0, "the same with one that can be written");
    need_is(zeros[15], hxt_any_byte(1), "its last byte");
    close_file(f);
}

void point_58_in_buffers_may_be_read_only(void)
{
    struct file f = open_skel();
    char from[] = "hexagon", to[8] = "";

    need_is(echo(f, 2, arg(read_only(from, 8), 8), arg(to, 8)), 2, "HXT_ECHO from read-only memory");
    need(strcmp(to, from) == 0, "it read something else");
    close_file(f);
}
