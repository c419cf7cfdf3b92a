/* PDs: how a client gets one, and what it gets without, or with a second. */
#include <errno.h>

#include "client.h"
#include "points.h"

enum { CLOSED = 999 };

/* It came from the DSP: the driver has no opinion, and errno is untouched. */
static void need_the_dsps(int rc, const char *what)
{
    need(rc < -4095 && errno == 4711, "%s: result %d, errno %d, not a code of the DSP", what, rc, errno);
    errno = 4711;
}

/* A call of the skel works on a file whose PD was just made. */
static void need_works(int h)
{
    struct file f = {h, load_skel(h)};

    need_is(call0(f, HXT_BLOCK, 7, 0), 7, "a call");
}

void point_40_init_create_static_on_the_plain_node(void)
{
    static const char name[] = "audiopd";
    struct fastrpc_init_create_static c = {.namelen = sizeof(name), .name = (uintptr_t)name};
    int h = open_node("fastrpc-cdsp");

    need_is(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), 0, "INIT_CREATE_STATIC on fastrpc-cdsp");
    need_works(h);
    dev->close(h);
}

void point_41_init_attach(void)
{
    static const char *const nodes[] = {"fastrpc-cdsp", "fastrpc-cdsp-secure"};
    static const unsigned long cmds[] = {FASTRPC_IOCTL_INIT_ATTACH, FASTRPC_IOCTL_INIT_ATTACH_SNS};

    for (int i = 0; i < 4; i++) {
        int h = open_node(nodes[i / 2]);

        need_is(dev->ioctl(h, cmds[i % 2], NULL), 0, "INIT_ATTACH or INIT_ATTACH_SNS");
        need_works(h);
        dev->close(h);
    }
}

void point_42_calls_before_init_go_to_the_dsp(void)
{
    struct shared *s = shared_get(8192);
    struct fastrpc_req_mmap m = {.fd = -1, .flags = ADSP_MMAP_ADD_PAGES, .size = 1 << 20};
    struct fastrpc_mem_map mm = {.fd = s->fd, .length = 8192};
    struct fastrpc_invoke_args closed = {.length = 8, .fd = CLOSED};
    int h = open_node("fastrpc-cdsp");

    errno = 4711;
    need_the_dsps(invoke(h, 0x100, 0, NULL), "INVOKE without a PD");
    need_the_dsps(invoke(h, FASTRPC_HANDLE_REMOTECTL1, 0, NULL), "INVOKE of a static handle without a PD");
    need_the_dsps(dev->ioctl(h, FASTRPC_IOCTL_MMAP, &m), "MMAP without a PD");
    need_the_dsps(dev->ioctl(h, FASTRPC_IOCTL_MEM_MAP, &mm), "MEM_MAP without a PD");
    need_errno(invoke(h, FASTRPC_HANDLE_KERNEL, 0, NULL), EPERM, "handle 1 without a PD");
    need_errno(invoke(h, 0x100, REMOTE_SCALARS_MAKE(0, 1, 0), NULL), EFAULT, "no argument list, without a PD");
    need_errno(invoke(h, 0x100, REMOTE_SCALARS_MAKE(0, 1, 0), &closed), EINVAL, "a number that is not open, without a PD");
    need_is(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "INIT_CREATE afterwards");
    need_works(h);
    dev->close(h);
}

void point_43_a_second_init_goes_to_the_dsp(void)
{
    struct file f = open_skel();
    static const char name[] = "audiopd";
    struct fastrpc_init_create_static c = {.namelen = sizeof(name), .name = (uintptr_t)name};

    errno = 4711;
    need_the_dsps(init_create(f.h, FASTRPC_MODE_UNSIGNED_MODULE, 0), "a second INIT_CREATE");
    need_the_dsps(dev->ioctl(f.h, FASTRPC_IOCTL_INIT_ATTACH, NULL), "INIT_ATTACH after INIT_CREATE");
    need_the_dsps(dev->ioctl(f.h, FASTRPC_IOCTL_INIT_CREATE_STATIC, &c), "INIT_CREATE_STATIC after INIT_CREATE");
    need_errno(init_create(f.h, 0, 0), ECONNREFUSED, "a second INIT_CREATE, of a signed PD");
    need_errno(init_create(f.h, FASTRPC_MODE_UNSIGNED_MODULE, FASTRPC_INIT_FILELEN_MAX + 1), EINVAL, "a second one with a long shell");
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a call of the PD that there is");
    close_file(f);
}

void point_44_a_dead_pd_is_the_dsps_to_tell(void)
{
    struct shared *s = shared_get(8192);
    struct fastrpc_mem_map mm = {.fd = s->fd, .length = 8192};
    struct fastrpc_invoke_args closed = {.length = 8, .fd = CLOSED};
    struct fastrpc_req_mmap m = {.fd = -1, .flags = 1, .size = 1 << 20};
    struct file f = open_skel();

    errno = 4711;
    need_the_dsps(call0(f, HXT_CRASH, 0, 0), "the call that ends its PD");
    need_the_dsps(call0(f, HXT_BLOCK, 0, 0), "INVOKE afterwards");
    need_the_dsps(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, &mm), "MEM_MAP afterwards");
    need_errno(invoke(f.h, FASTRPC_HANDLE_KERNEL, 0, NULL), EPERM, "handle 1");
    need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(0, 1, 0), NULL), EFAULT, "no argument list");
    need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(0, 1, 0), &closed), EINVAL, "a buffer that cannot be mapped");
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_MMAP, &m), EINVAL, "MMAP with flags that are none");
    mm.fd = CLOSED;
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, &mm), EBADF, "MEM_MAP of a number that is not open");
    close_file(f);
}

static int capability(int h, uint32_t domain, uint32_t attribute)
{
    struct fastrpc_ioctl_capability c = {.domain = domain, .attribute_id = attribute};

    return dev->ioctl(h, FASTRPC_IOCTL_GET_DSP_INFO, &c) ? -1 : (int)(c.capability & 0xff);
}

void point_45_a_domain_is_a_number_and_nothing_more(void)
{
    static const uint32_t others[] = {0, 2, 4}; /* adsp, sdsp, cdsp1 */
    int h = open_node("fastrpc-cdsp");

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        need_is(capability(h, others[i], FASTRPC_ATTR_ARCH_VER), 0x69, "the architecture that the node tells as another domain's");
    dev->close(h);
}

void point_46_newer_kernels_do_not_look_at_the_domain(void)
{
    int h = open_node("fastrpc-cdsp");

    need_is(capability(h, FASTRPC_MDSP_DOMAIN, FASTRPC_ATTR_ARCH_VER), 0x69, "the architecture, for domain 1");
    need_is(capability(h, UINT32_MAX, FASTRPC_ATTR_ARCH_VER), 0x69, "the architecture, for domain 2^32-1");
    need_errno(capability(h, UINT32_MAX, FASTRPC_MAX_DSP_ATTRIBUTES), EOVERFLOW, "attribute 256");
    dev->close(h);
}

void point_47_set_option(void)
{
    struct fastrpc_ioctl_set_option o = {.request_id = FASTRPC_POLL_MODE, .value = 1};
    struct file f = open_skel();

    for (uint32_t on = 2; on-- > 0;) {
        o.value = on;
        need_is(dev->ioctl(f.h, FASTRPC_IOCTL_SET_OPTION, &o), 0, "SET_OPTION");
        need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a call");
    }
    o.request_id = FASTRPC_POLL_MODE + 1;
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_SET_OPTION, &o), EINVAL, "SET_OPTION of something else");
    o.request_id = FASTRPC_POLL_MODE;
    o.reserved[5] = 1;
    need_errno(dev->ioctl(f.h, FASTRPC_IOCTL_SET_OPTION, &o), EINVAL, "SET_OPTION with a reserved word");
    close_file(f);
}
