/* Protects: the DSP's end of a dspqueue from a host that breaks the shared block, and the queue service as clients without
 * doorbells use it. */
#include "dspqueue_shared.h"
#include "queue_client.h"

struct raw {
    remote_handle64 service;
    uint8_t *block;
    int fd;
    uint64_t id;
};

enum { RAW_BYTES = 8192, RAW_LEN = 256 };

static int raw_create(struct raw *r)
{
    int32_t in[3] = {7, r->fd, 0};
    uint64_t id = 0;
    remote_arg pra[2] = {{.buf = {in, sizeof(in)}}, {.buf = {&id, sizeof(id)}}};
    int rc = remote_handle64_invoke(r->service, REMOTE_SCALARS_MAKE(3, 1, 1), pra);

    if (rc == AEE_SUCCESS)
        r->id = id;
    return rc;
}

static int raw_destroy(struct raw *r)
{
    remote_arg pra[1] = {{.buf = {&r->id, sizeof(r->id)}}};

    return remote_handle64_invoke(r->service, REMOTE_SCALARS_MAKE(4, 1, 0), pra);
}

static struct dspqueue_header good_header(void)
{
    return (struct dspqueue_header){
        .version = DSPQUEUE_HEADER_CURRENT_VERSION,
        .flags = DSPQUEUE_HEADER_FLAG_WAIT_COUNTS,
        .req_queue = {256, RAW_LEN, 512, 768},
        .resp_queue = {1024, RAW_LEN, 1280, 1536},
    };
}

static void raw_open(struct raw *r)
{
    struct dspqueue_header h = good_header();

    assert_int_equal(remote_handle64_open("file:///libdspqueue_rpc_skel.so?"
                                          "dspqueue_rpc_skel_handle_invoke&_modver=1.0&_dom=cdsp", &r->service), 0);
    r->block = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, RAW_BYTES);
    r->fd = rpcmem_to_fd(r->block);
    memcpy(r->block, &h, sizeof(h));
    assert_int_equal(raw_create(r), AEE_DSP(AEE_ENOSUCHMAP));
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, r->fd, r->block, 0, RAW_BYTES, FASTRPC_MAP_FD), 0);
}

static void raw_close(struct raw *r)
{
    assert_int_equal(remote_handle64_close(r->service), 0);
    rpcmem_free(r->block);
}

static void test_a_header_that_cannot_be_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        int code;
    } bad[] = {{0, UINT32_MAX, AEE_EUNSUPPORTED},   {0, 1, AEE_EUNSUPPORTED},
               {8, 0, AEE_EUNSUPPORTED},            {8, 3, AEE_EUNSUPPORTED},
               {12, 0, AEE_EBADPARM},               {12, 255, AEE_EBADPARM},
               {12, UINT32_MAX - 255, AEE_EBADPARM}, {16, UINT32_MAX, AEE_EBADPARM},
               {16, 8, AEE_EBADPARM},               {16, 252, AEE_EBADPARM},
               {16, 264, AEE_EBADPARM},             {20, 256, AEE_EBADPARM},
               {20, 768, AEE_EBADPARM},             {24, RAW_BYTES, AEE_EBADPARM},
               {40, 0xffffff00u, AEE_EBADPARM},     {32, 0x7ffffff8, AEE_EBADPARM}};
    struct dspqueue_header h;
    struct raw r;

    (void)state;
    raw_open(&r);
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        h = good_header();
        memcpy((char *)&h + bad[i].at, &bad[i].value, 4);
        memcpy(r.block, &h, sizeof(h));
        if (raw_create(&r) != AEE_DSP(bad[i].code))
            fail_msg("word at %zu = 0x%x is accepted, or not 0x%x", bad[i].at, bad[i].value, bad[i].code);
    }
    h = good_header();
    memcpy(r.block, &h, sizeof(h));
    assert_int_equal(raw_create(&r), 0);
    assert_int_equal(raw_create(&r), AEE_DSP(AEE_EITEMBUSY));
    assert_int_equal(raw_destroy(&r), 0);
    assert_int_equal(raw_destroy(&r), AEE_DSP(AEE_ENOSUCH));
    raw_close(&r);
}

/* The DSP reads what `head` and `position` say, and still answers afterwards. */
static int raw_read(struct raw *r, uint64_t head, uint32_t position)
{
    uint32_t out[2] = {0, 0};

    memcpy(r->block + 256, &head, sizeof(head));
    ((struct dspqueue_packet_queue_state *)(void *)(r->block + 768))->position = position;
    assert_int_equal(call_queue_skel(HXQ_READ, r->id, 0, out), 0);
    return (int)out[0];
}

static void test_packets_that_cannot_be_do_not_hurt_the_pd(void **state)
{
    const uint64_t message = 1ull << 32, buffers = 2ull << 32, ready = 0x10ull << 32;
    struct raw r;

    (void)state;
    raw_open(&r);
    assert_int_equal(raw_create(&r), 0);
    assert_int_equal(call_queue_skel(HXQ_START, r.id, 0, NULL), 0);
    assert_int_equal(raw_destroy(&r), AEE_DSP(AEE_EITEMBUSY));
    assert_int_equal(raw_read(&r, 0, 0), AEE_EWOULDBLOCK);
    assert_int_equal(raw_read(&r, 0, 4), AEE_EBADITEM);        /* positions */
    assert_int_equal(raw_read(&r, 0, RAW_LEN), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, 0, 0xfffffff8u), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, 7 | ready, 16), AEE_EBADITEM); /* lengths */
    assert_int_equal(raw_read(&r, 0xffffffffu | message | ready, 16), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, 17 | message | ready, 16), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, 16 | ready, 16), AEE_EBADITEM); /* bytes, and no message */
    assert_int_equal(raw_read(&r, 16 | message, 16), AEE_EBADITEM); /* not ready */
    assert_int_equal(raw_read(&r, 8 | buffers | ready | 0xffull << 48, 16), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, (8 + 65 * 24) | buffers | ready | 65ull << 48, 248), AEE_EBADITEM);
    assert_int_equal(raw_read(&r, 300 | message | ready, 16), AEE_EBADITEM); /* longer than the queue */
    assert_int_equal(raw_read(&r, 16 | message | ready, 16), 0); /* and a good one */
    /* the memory is taken away under the queue: it stays where it is */
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, r.fd, r.block, RAW_BYTES), 0);
    assert_int_equal(raw_read(&r, 0, 16), AEE_EWOULDBLOCK);
    assert_int_equal(call_queue_skel(HXQ_STOP, r.id, 0, NULL), 0);
    assert_int_equal(raw_destroy(&r), 0);
    raw_close(&r);
}

/* A client without doorbells (the open library on this rig): signals go by the service's methods 2, 6, 7, 8. */
static void test_signals_by_rpc_serve_clients_without_doorbells(void **state)
{
    struct dspqueue_process_queue_state *ps =
        rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, sizeof(*ps));
    int32_t fd = rpcmem_to_fd(ps), what = 9;
    struct dspqueue_packet_queue_state *req_writer, *resp_reader, *resp_writer;
    remote_arg in = {.buf = {&fd, sizeof(fd)}}, out = {.buf = {&what, sizeof(what)}};
    uint64_t head = 16 | 0x11ull << 32;
    struct raw r;

    (void)state;
    raw_open(&r);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, fd, ps, 0, sizeof(*ps), FASTRPC_MAP_FD), 0);
    assert_int_equal(remote_handle64_invoke(r.service, REMOTE_SCALARS_MAKE(2, 1, 0), &in), 0);
    assert_int_equal(raw_create(&r), 0);
    assert_int_equal(call_queue_skel(HXQ_START, r.id, HXQ_ECHO, NULL), 0);
    req_writer = (void *)(r.block + 768);
    resp_reader = (void *)(r.block + 1280);
    resp_writer = (void *)(r.block + 1536);
    __atomic_fetch_add(&resp_reader->wait_count, 1, __ATOMIC_SEQ_CST);
    memcpy(r.block + 256, &head, sizeof(head));
    memcpy(r.block + 264, "by rpc!", 8);
    __atomic_store_n(&req_writer->position, 16, __ATOMIC_SEQ_CST);
    __atomic_store_n(&req_writer->packet_count, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(remote_handle64_invoke(r.service, REMOTE_SCALARS_MAKE(8, 0, 0), NULL), 0);
    assert_int_equal(remote_handle64_invoke(r.service, REMOTE_SCALARS_MAKE(6, 0, 1), &out), 0);
    assert_int_equal(what, 0);
    assert_int_equal(__atomic_load_n(&ps->resp_packet_count[7], __ATOMIC_SEQ_CST), 1);
    assert_int_equal(__atomic_load_n(&resp_writer->position, __ATOMIC_SEQ_CST), 16);
    assert_string_equal((char *)r.block + 1024 + 8, "by rpc!");
    assert_int_equal(remote_handle64_invoke(r.service, REMOTE_SCALARS_MAKE(7, 0, 0), NULL), 0);
    assert_int_equal(remote_handle64_invoke(r.service, REMOTE_SCALARS_MAKE(6, 0, 1), &out), 0);
    assert_int_equal(what, -1);
    assert_int_equal(call_queue_skel(HXQ_STOP, r.id, 0, NULL), 0);
    assert_int_equal(raw_destroy(&r), 0);
    raw_close(&r);
    rpcmem_free(ps);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_header_that_cannot_be_is_refused, open_queue_skel,
                                        close_queue_skel),
        cmocka_unit_test_setup_teardown(test_packets_that_cannot_be_do_not_hurt_the_pd, open_queue_skel,
                                        close_queue_skel),
        cmocka_unit_test_setup_teardown(test_signals_by_rpc_serve_clients_without_doorbells, open_queue_skel,
                                        close_queue_skel),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run(run, "socket");
}
