/* Numbers, limits and errors. */
#include <errno.h>

#include "client.h"
#include "points.h"

void point_01_ioctl_numbers_and_sizes(void)
{
    /* literals on purpose: what a client compiled against the kernel's header sends */
    static const struct {
        unsigned long ours, theirs;
        const char *name;
    } numbers[] = {
        {FASTRPC_IOCTL_ALLOC_DMA_BUFF, 0xc0105201, "ALLOC_DMA_BUFF"},
        {FASTRPC_IOCTL_FREE_DMA_BUFF, 0xc0045202, "FREE_DMA_BUFF"},
        {FASTRPC_IOCTL_INVOKE, 0xc0105203, "INVOKE"},
        {FASTRPC_IOCTL_INIT_ATTACH, 0x5204, "INIT_ATTACH"},
        {FASTRPC_IOCTL_INIT_CREATE, 0xc0185205, "INIT_CREATE"},
        {FASTRPC_IOCTL_MMAP, 0xc0205206, "MMAP"},
        {FASTRPC_IOCTL_MUNMAP, 0xc0105207, "MUNMAP"},
        {FASTRPC_IOCTL_INIT_ATTACH_SNS, 0x5208, "INIT_ATTACH_SNS"},
        {FASTRPC_IOCTL_INIT_CREATE_STATIC, 0xc0105209, "INIT_CREATE_STATIC"},
        {FASTRPC_IOCTL_MEM_MAP, 0xc040520a, "MEM_MAP"},
        {FASTRPC_IOCTL_MEM_UNMAP, 0xc030520b, "MEM_UNMAP"},
        {FASTRPC_IOCTL_GET_DSP_INFO, 0xc01c520d, "GET_DSP_INFO"},
    };
    uint8_t zeros[128];
    int h = open_node("fastrpc-cdsp-secure");

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        need_is((long long)numbers[i].ours, (long long)numbers[i].theirs, numbers[i].name);
        if (numbers[i].theirs == FASTRPC_IOCTL_FREE_DMA_BUFF)
            continue; /* has a number and nothing behind it */
        for (size_t k = 0; k < sizeof(zeros); k++)
            zeros[k] = 0;
        errno = 0;
        dev->ioctl(h, numbers[i].theirs, zeros);
        need(errno != ENOTTY, "%s is not known", numbers[i].name);
        /* the same number with a struct of another size is another ioctl */
        need_errno(dev->ioctl(h, numbers[i].theirs ^ (8ul << _IOC_SIZESHIFT), zeros), ENOTTY,
                   numbers[i].name);
    }
    dev->close(h);
}

void point_02_enotty_for_what_is_not_there(void)
{
    const unsigned long cmds[] = {FASTRPC_IOCTL_FREE_DMA_BUFF, _IOWR('R', 12, uint32_t),
                                  _IOWR('R', 0, uint32_t), _IOWR('R', 77, uint32_t),
                                  _IO('R', 3), _IO('T', 1)};
    int h = open_node("fastrpc-cdsp");
    uint32_t word = 0;

    for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
        need_errno(dev->ioctl(h, cmds[i], &word), ENOTTY, "unknown ioctl");
    dev->close(h);
}

void point_03_eperm_for_handle_1(void)
{
    struct file f = open_skel();
    int rc, h = open_node("fastrpc-cdsp");

    need_errno(invoke(f.h, FASTRPC_HANDLE_KERNEL, 0, NULL), EPERM, "INVOKE of handle 1");
    need_errno(invoke(h, FASTRPC_HANDLE_KERNEL, 0, NULL), EPERM, "the same before there is a PD");
    errno = 0;
    rc = invoke(f.h, FASTRPC_HANDLE_DSP_UTILITIES, 0, NULL);
    need(errno != EPERM, "handle 2 is blocked (result 0x%x)", (unsigned)rc);
    dev->close(h);
    close_file(f);
}

/* Opens `limit` files; one more must not open, until one is closed. */
static void exhaust_sessions(int limit)
{
    int h[FASTRPC_MAX_SESSIONS];

    need_soon(no_session_is_open, NULL, "all files closed");
    for (int i = 0; i < limit; i++)
        h[i] = open_node(i % 2 ? "fastrpc-cdsp" : "fastrpc-cdsp-secure");
    need_errno(dev->open("fastrpc-cdsp"), EBUSY, "one file too many");
    need_errno(dev->open("fastrpc-cdsp-secure"), EBUSY, "one file too many on the secure node");
    dev->close(h[1]);
    h[1] = open_node("fastrpc-cdsp");
    for (int i = 0; i < limit; i++)
        dev->close(h[i]);
}

void point_04_ebusy_when_sessions_are_out(void)
{
    exhaust_sessions(FASTRPC_MAX_SESSIONS);
}

void point_23_ebusy_at_the_limit_of_the_profile(void)
{
    exhaust_sessions(3);
}

void point_05_econnrefused_for_a_signed_pd_on_the_plain_node(void)
{
    int h = open_node("fastrpc-cdsp");

    need_errno(init_create(h, 0, 0), ECONNREFUSED, "signed PD on fastrpc-cdsp");
    need_is(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "unsigned PD there afterwards");
    dev->close(h);
    h = open_node("fastrpc-cdsp-secure");
    need_is(init_create(h, 0, 0), 0, "signed PD on fastrpc-cdsp-secure");
    dev->close(h);
}

static void check_mmap(int h)
{
    struct fastrpc_req_mmap m = {.fd = -1, .flags = 0x1000, .size = 1 << 20};
    struct fastrpc_req_munmap u;

    m.flags = 0x2000;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MMAP, &m), EINVAL, "MMAP with unknown flags");
    m.flags = 0x1000;
    m.vaddrin = 0x10000;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MMAP, &m), EINVAL, "MMAP with vaddrin");
    m.vaddrin = 0;
    need_is(dev->ioctl(h, FASTRPC_IOCTL_MMAP, &m), 0, "MMAP of 1 MiB");
    need(m.vaddrout && m.vaddrout < 1ull << 32, "MMAP: vaddrout is 0x%llx",
         (unsigned long long)m.vaddrout);
    u = (struct fastrpc_req_munmap){m.vaddrout + 4096, m.size};
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MUNMAP, &u), EINVAL, "MUNMAP of another address");
    u = (struct fastrpc_req_munmap){m.vaddrout, m.size - 4096};
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MUNMAP, &u), EINVAL, "MUNMAP of another size");
    u.size = m.size;
    need_is(dev->ioctl(h, FASTRPC_IOCTL_MUNMAP, &u), 0, "MUNMAP");
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MUNMAP, &u), EINVAL, "MUNMAP a second time");
}

static void check_mem_map(int h)
{
    struct shared *s = shared_get(8192);
    struct fastrpc_mem_map m = {.fd = s->fd, .length = 8192};
    struct fastrpc_mem_unmap u = {.fd = s->fd};

    need_is(dev->ioctl(h, FASTRPC_IOCTL_MEM_MAP, &m), 0, "MEM_MAP");
    u.vaddr = m.vaddrout + 4096;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MEM_UNMAP, &u), EINVAL, "MEM_UNMAP of another address");
    u.vaddr = m.vaddrout;
    need_is(dev->ioctl(h, FASTRPC_IOCTL_MEM_UNMAP, &u), 0, "MEM_UNMAP"); /* length does not count */
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_MEM_UNMAP, &u), EINVAL, "MEM_UNMAP a second time");
    shared_put(s);
}

void point_06_einval_for_bad_sizes_flags_and_addresses(void)
{
    char name[FASTRPC_NAMELEN_MAX + 1] = "audiopd";
    struct fastrpc_init_create_static c = {.namelen = sizeof(name), .name = (uintptr_t)name};
    struct file f = open_skel();
    int h = open_node("fastrpc-cdsp-secure");

    need_errno(init_create(h, 0, FASTRPC_INIT_FILELEN_MAX + 1), EINVAL, "filelen over 2 MiB");
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), EINVAL, "namelen over 128");
    dev->close(h);
    check_mmap(f.h);
    check_mem_map(f.h);
    close_file(f);
}

static int capability(int h, uint32_t domain, uint32_t attribute, uint32_t *value)
{
    struct fastrpc_ioctl_capability c = {.domain = domain, .attribute_id = attribute};
    int rc = dev->ioctl(h, FASTRPC_IOCTL_GET_DSP_INFO, &c);

    *value = c.capability;
    return rc;
}

void point_07_echrng_and_eoverflow(void)
{
    int h = open_node("fastrpc-cdsp");
    uint32_t v;

    need_errno(capability(h, FASTRPC_MDSP_DOMAIN, 6, &v), ECHRNG, "domain 1");
    need_errno(capability(h, FASTRPC_DEV_MAX, 6, &v), ECHRNG, "domain 5");
    need_errno(capability(h, UINT32_MAX, 6, &v), ECHRNG, "domain 2^32-1");
    need_errno(capability(h, 3, 256, &v), EOVERFLOW, "attribute 256");
    need_is(capability(h, 3, 255, &v), 0, "attribute 255");
    need_is(capability(h, 3, FASTRPC_ATTR_ARCH_VER, &v), 0, "the architecture");
    need_is(v & 0xff, 0x69, "its low byte");
    need_is(capability(h, 3, FASTRPC_ATTR_DOMAIN_SUPPORT, &v), 0, "attribute 0");
    need_is(v, 0, "its value");
    dev->close(h);
}

void point_24_eopnotsupp_when_the_dsp_does_not_know(void)
{
    int h = open_node("fastrpc-cdsp");
    uint32_t v;

    for (int i = 0; i < 2; i++) /* a refusal is not remembered as an answer */
        need_errno(capability(h, 3, FASTRPC_ATTR_ARCH_VER, &v), EOPNOTSUPP, "GET_DSP_INFO");
    need_errno(capability(h, 3, 256, &v), EOVERFLOW, "attribute 256 there");
    dev->close(h);
}

/* The socket client cannot send what it cannot read, so it only gets as far as address 0. */
void point_22_efault_for_bad_pointers(void)
{
    struct file f = open_skel();
    void *nowhere = dev->kernel ? (void *)16 : NULL;
    struct fastrpc_invoke_args a[1] = {arg(nowhere, 8)};
    uint32_t one_in = REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0);

    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_INVOKE, nowhere), EFAULT, "no struct");
    need_errno(invoke(f.h, f.skel, one_in, nowhere), EFAULT, "no arguments");
    need_errno(invoke(f.h, f.skel, one_in, a), EFAULT, "no buffer");
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a good call afterwards");
    close_file(f);
}

void point_08_dsp_codes_verbatim(void)
{
    struct file f = open_skel();

    errno = 4711;
    need_is((unsigned)invoke(f.h, f.skel + 50, 0, NULL), 0x8000042c, "result for no such handle");
    need_is((unsigned)call0(f, HXT_BLOCK, (int)0x80000414, 0), 0x80000414, "result of the skel");
    need_is(call0(f, HXT_BLOCK, -5000, 0), -5000, "the result -5000");
    need_is(errno, 4711, "errno, which no DSP code may touch,");
    need_is(call0(f, HXT_BLOCK, 77, 0), 77, "a positive result");
    need_errno(call0(f, HXT_BLOCK, -EPERM, 0), EPERM, "-1, which looks like an errno");
    close_file(f);
}
