/* MEM_MAP and MEM_UNMAP: a client's buffer lives in the PD until it is unmapped. */
#include <errno.h>
#include <string.h>

#include "driver.h"

static void mapped(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_call *call = ctx->call;
    struct hx_buffer *b = ctx->args[0].buffer;
    struct hx_kmem_mapped out;

    if (reply && result == 0) {
        memcpy(&out, ctx->channel->arena + ctx->args[1].arena, sizeof(out));
        b->raddr = out.vaddr;
        b->mem_maps++;
        ctx->args[0].buffer = NULL; /* the reference is the map's now */
        if (call)
            call->arg.map.vaddrout = out.vaddr;
    }
    if (call)
        hx_call_finish(call, result);
}

void hx_op_mem_map(struct hx_call *call)
{
    struct hx_session *s = call->session;
    const struct fastrpc_mem_map *m = &call->arg.map;
    struct hx_kmem_map in = {.flags = m->flags, .offset = (uint32_t)m->offset, .length = m->length};
    struct hx_buffer *b = NULL;
    int rc = hx_session_error(s);

    if (!rc)
        rc = hx_buffer_get(call, m->fd, &b);
    if (!rc) {
        in.map = b->id;
        rc = hx_kernel_call(s->driver, &s->channel, s, call, FASTRPC_HANDLE_KERNEL,
                            FASTRPC_RMID_MEM_MAP, &in, sizeof(in), sizeof(struct hx_kmem_mapped),
                            mapped);
    }
    if (rc) {
        if (b)
            hx_buffer_put(s, b);
        hx_call_finish(call, rc);
    } else {
        call->ctx->args[0].buffer = b;
    }
}

void hx_op_mem_unmap(struct hx_call *call)
{
    struct hx_session *s = call->session;
    const struct fastrpc_mem_unmap *m = &call->arg.unmap;
    int rc = hx_session_error(s);

    if (!rc) {
        struct hx_buffer *b = s->buffers;
        while (b && !(b->mem_maps && (m->fd < 0 || m->fd == b->client_fd) && b->raddr == m->vaddr))
            b = b->next;
        if (b) {
            b->mem_maps--;
            hx_buffer_put(s, b);
        } else {
            rc = -EINVAL;
        }
    }
    hx_call_finish(call, rc);
}
