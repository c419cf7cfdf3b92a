/* MEM_MAP, MEM_UNMAP: a client's buffer lives in the PD until it is unmapped.
 * MMAP, MUNMAP: the same for memory that the kernel allocates (heap growth, remote heap). */
#include <errno.h>
#include <string.h>

#include "driver.h"
#include "hx_stage.h"

enum { LARGEST = 1 << 30 }; /* bytes of one MMAP; a phone's kernel refuses long before */

/* The PD has mapped a buffer: the context's reference becomes the map's.  Sets *vaddrout. */
static void keep_map(struct hx_context *ctx, uint64_t *vaddrout)
{
    struct hx_buffer *b = ctx->args[0].buffer;
    struct hx_kmem_mapped out;

    memcpy(&out, ctx->channel->arena + ctx->args[1].arena, sizeof(out));
    *vaddrout = b->raddr = out.vaddr;
    b->mem_maps++;
    ctx->args[0].buffer = NULL;
}

static void mapped(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_call *call = ctx->call;
    uint64_t vaddr = 0;

    hx_stage_at("driver.map.reply");
    if (reply && result == 0)
        keep_map(ctx, &vaddr);
    if (!call)
        return;
    if (result == 0)
        *(call->cmd == FASTRPC_IOCTL_MMAP ? &call->arg.mmap.vaddrout : &call->arg.map.vaddrout) = vaddr;
    hx_call_finish(call, result);
}

/* Asks the PD to map `b`, whose reference this takes, when rc is 0; finishes the call when it cannot. */
static void map(struct hx_call *call, int rc, struct hx_buffer *b, struct hx_kmem_map in)
{
    struct hx_session *s = call->session;

    if (!rc) {
        in.map = b->id;
        rc = hx_kernel_call(s->driver, &s->channel, s, call, FASTRPC_HANDLE_KERNEL,
                            FASTRPC_RMID_MEM_MAP, &in, sizeof(in), sizeof(struct hx_kmem_mapped),
                            mapped);
        hx_stage_at("driver.map.sent");
    }
    if (!rc) {
        call->ctx->args[0].buffer = b;
        return;
    }
    if (b)
        hx_buffer_put(s, b);
    hx_call_finish(call, rc);
}

void hx_op_mem_map(struct hx_call *call)
{
    const struct fastrpc_mem_map *m = &call->arg.map;
    struct hx_kmem_map in = {.flags = m->flags, .offset = (uint32_t)m->offset, .length = m->length};
    struct hx_buffer *b = NULL;
    int rc, state = hx_session_error(call->session);

    hx_stage_at("driver.map.taken");
    rc = state ? hx_buffer_check(call, m->fd, m->length) : hx_buffer_get(call, m->fd, &b);
    if (!rc && b && b->refs == 1 && !hx_buffer_has(b, m->length)) /* one that is mapped already is not looked at again */
        rc = -EINVAL;
    map(call, rc ? rc : state, b, in);
}

/* As in the kernel, the arguments are checked first, and only then whether there is still a PD to ask. */
static int check_mmap(const struct hx_call *call)
{
    const struct fastrpc_req_mmap *m = &call->arg.mmap;

    if (m->flags != ADSP_MMAP_ADD_PAGES && m->flags != ADSP_MMAP_REMOTE_HEAP_ADDR) {
        hx_log_client("client %d: MMAP flags 0x%x, legal are 0x%x and 0x%x", call->session->client_id,
               m->flags, ADSP_MMAP_ADD_PAGES, ADSP_MMAP_REMOTE_HEAP_ADDR);
        return -EINVAL;
    }
    if (m->vaddrin) {
        hx_log_client("client %d: MMAP vaddrin 0x%llx, must be 0", call->session->client_id,
               (unsigned long long)m->vaddrin);
        return -EINVAL;
    }
    if (m->size == 0 || m->size > LARGEST)
        return -ENOMEM;
    return hx_session_error(call->session);
}

void hx_op_mmap(struct hx_call *call)
{
    const struct fastrpc_req_mmap *m = &call->arg.mmap;
    struct hx_kmem_map in = {.flags = m->flags, .length = m->size};
    struct hx_buffer *b = NULL;
    int rc = check_mmap(call);

    if (!rc)
        rc = hx_buffer_make(call->session, m->size, &b);
    map(call, rc, b, in);
}

/* Ends a map; b = NULL: no map matches. */
static void unmap(struct hx_call *call, struct hx_buffer *b)
{
    int rc = b ? hx_session_error(call->session) : -EINVAL;

    hx_stage_at("driver.unmap.taken");
    if (!rc) {
        if (--b->mem_maps == 0)
            hx_channel_control(&call->session->channel, HX_CTL_UNBIND, b->id, 0, NULL, 0);
        hx_buffer_put(call->session, b);
    }
    hx_call_finish(call, rc);
}

void hx_op_mem_unmap(struct hx_call *call)
{
    const struct fastrpc_mem_unmap *m = &call->arg.unmap;
    struct hx_buffer *b = call->session->buffers;

    while (b && !(!hx_buffer_is_made(b) && b->mem_maps && (m->fd < 0 || m->fd == b->client_fd) &&
                  b->raddr == m->vaddr))
        b = b->next;
    unmap(call, b);
}

void hx_op_munmap(struct hx_call *call)
{
    const struct fastrpc_req_munmap *m = &call->arg.munmap;
    struct hx_buffer *b = call->session->buffers;

    while (b && !(hx_buffer_is_made(b) && b->mem_maps && !b->is_stranded && b->raddr == m->vaddrout && b->size == m->size))
        b = b->next;
    unmap(call, b);
}
