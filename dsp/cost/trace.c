/* Records what the threads of a call do, in blocks that the driver reads. */
#include "trace.h"

#include <pthread.h>
#include <string.h>

#include "fastrpc_uapi.h"
#include "hx_trace.h"

enum { DEPTH = 32, NONE = -1, KEY_SHIFT = 8 };

/* Protects the two below, and the blocks of open calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t calls; /* opened so far, so that no key is used twice */
static struct call {
    uint64_t key;          /* calls << KEY_SHIFT | context id; 0 = closed */
    struct hx_trace *block;
    uint32_t capacity;     /* our own copy: the driver keeps its own, too */
    uint32_t n, n_names;
} open_call[FASTRPC_CTX_MAX];

/* An event of this thread that is not over.  Indices are those of the block's events. */
struct level {
    int32_t event; /* NONE: it found no room */
    int32_t last;  /* its last child, or NONE */
    double stall;  /* me.stall at its begin, less what it says already */
};

static __thread struct {
    uint64_t key;
    uint64_t call_pcycles;
    unsigned lane;
    char name[HX_TRACE_NAME_BYTES];
    struct level level[DEPTH]; /* [0]: the thread's part in the call; then functions */
    unsigned depth;            /* may exceed DEPTH: deeper ones are not recorded */
    double stall;              /* pcycles that waited for memory, in this call */
    double run_stall;          /* the same when the last HX_TRACE_RUN began */
    int32_t hold;              /* HX_TRACE_HVX of the context that it holds, or NONE */
    int context;               /* that context + 1 */
} me;

/* --- the block -------------------------------------------------------------------------------- */

/* The thread's call, locked; NULL: it is not traced or over, and nothing is locked. */
static struct call *enter(void)
{
    struct call *c = &open_call[me.key & (FASTRPC_CTX_MAX - 1)];

    if (!me.key)
        return NULL;
    pthread_mutex_lock(&lock);
    if (c->key == me.key)
        return c;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

/* On the call's own clock.  A thread of a pool may have begun to wait in an earlier call: for this one it waits from its start. */
static uint64_t since_call(uint64_t pcycles)
{
    return pcycles > me.call_pcycles ? pcycles - me.call_pcycles : 0;
}

static uint16_t name_of(struct call *c, const char *text)
{
    char name[HX_TRACE_NAME_BYTES] = {0};

    memcpy(name, text, strnlen(text, sizeof(name) - 1));
    for (uint32_t i = 0; i < c->n_names; i++)
        if (memcmp(c->block->name[i], name, sizeof(name)) == 0)
            return (uint16_t)(i + 1);
    if (!*name || c->n_names == HX_TRACE_NAMES)
        return 0;
    memcpy(c->block->name[c->n_names], name, sizeof(name));
    c->block->n_names = ++c->n_names;
    return (uint16_t)c->n_names;
}

static int32_t push(struct call *c, struct hx_trace_event e)
{
    if (c->n == c->capacity) {
        c->block->dropped++;
        return NONE;
    }
    c->block->event[c->n] = e;
    c->block->n = ++c->n;
    return (int32_t)c->n - 1;
}

/* One of this thread that begins. */
static struct hx_trace_event event(enum hx_trace_kind kind, uint64_t start)
{
    return (struct hx_trace_event){.start = start, .end = start, .count = 1,
                                   .kind = (uint16_t)kind, .lane = (uint16_t)me.lane};
}

static struct hx_trace_event *at(const struct call *c, int32_t i)
{
    return i == NONE ? NULL : &c->block->event[i];
}

/* --- a thread's events ------------------------------------------------------------------------ */

static struct level *top(void)
{
    return &me.level[me.depth - 1];
}

/* What of the event, up to its end, waited for memory.  Its ends are rounded, the sum is not. */
static void set_stall(struct hx_trace_event *e, double before)
{
    uint64_t stall = (uint64_t)(me.stall - before + 0.5), all = e->end - e->start;

    e->detail = stall < all ? (uint32_t)stall : (uint32_t)all;
}

/* The last child of the innermost open event, if one like that ended at `start`: then it goes on instead of a new one. */
static struct hx_trace_event *neighbour(const struct call *c, enum hx_trace_kind kind,
                                        uint16_t name, uint64_t start)
{
    struct hx_trace_event *e = at(c, top()->last);

    return e && e->kind == kind && e->name == name && e->end == start ? e : NULL;
}

/* Time that went by outside of functions, or in a wait. */
static void add_leaf(struct call *c, enum hx_trace_kind kind, uint64_t from, uint64_t to)
{
    struct hx_trace_event *e = neighbour(c, kind, 0, from);

    if (!e) {
        top()->last = push(c, event(kind, from));
        e = at(c, top()->last);
    }
    if (e)
        e->end = to;
}

static void add_run(struct call *c, uint64_t from, uint64_t to, double stall)
{
    struct hx_trace_event *e;

    if (!neighbour(c, HX_TRACE_RUN, 0, from))
        me.run_stall = me.stall - stall;
    add_leaf(c, HX_TRACE_RUN, from, to);
    e = at(c, top()->last);
    if (e)
        set_stall(e, me.run_stall);
}

void hx_trace_spend(enum hx_vt_kind kind, uint64_t from, uint64_t to, double pcycles)
{
    static const enum hx_trace_kind wait[HX_VT_KINDS] = {
        [HX_VT_SYNC] = HX_TRACE_WAIT_SYNC,   [HX_VT_DMA] = HX_TRACE_WAIT_DMA,
        [HX_VT_SLEEP] = HX_TRACE_WAIT_SLEEP, [HX_VT_HVX] = HX_TRACE_WAIT_HVX,
        [HX_VT_VTCM] = HX_TRACE_WAIT_VTCM,
    };
    double stall = kind == HX_VT_STALL ? pcycles : 0;
    struct call *c = enter();
    struct hx_trace_event *life;

    if (!c)
        return;
    from = since_call(from);
    to = since_call(to);
    me.stall += stall;
    if (wait[kind] && me.depth <= DEPTH)
        add_leaf(c, wait[kind], from, to);
    else if (me.depth == 1)
        add_run(c, from, to, stall);
    life = at(c, me.level[0].event);
    if (life) {
        life->end = to;
        set_stall(life, 0);
    }
    leave();
}

/* --- functions -------------------------------------------------------------------------------- */

static void enter_function(struct call *c, const char *function, uint64_t now)
{
    uint16_t name = name_of(c, function);
    struct hx_trace_event *e = neighbour(c, HX_TRACE_CODE, name, now);
    int32_t i = top()->last;

    if (!e) {
        struct hx_trace_event new = event(HX_TRACE_CODE, now);

        new.name = name;
        new.count = 0;
        i = push(c, new);
        e = at(c, i);
    }
    me.level[me.depth] = (struct level){i, NONE, me.stall - (e ? e->detail : 0)};
    if (e) {
        e->end = HX_TRACE_OPEN;
        e->count++;
    }
}

static void leave_function(struct call *c, uint64_t now)
{
    struct level *l = &me.level[me.depth];
    struct hx_trace_event *e = at(c, l->event);

    top()->last = l->event;
    if (e) {
        e->end = now;
        set_stall(e, l->stall);
    }
}

void hx_trace_scope(const char *function, uint64_t now)
{
    struct call *c = enter();

    if (!c)
        return;
    now = since_call(now);
    if (function) {
        if (me.depth < DEPTH)
            enter_function(c, function, now);
        else
            c->block->dropped++;
        me.depth++;
    } else if (me.depth > 1) { /* else it was entered in a call before */
        if (--me.depth < DEPTH)
            leave_function(c, now);
    }
    leave();
}

/* --- DMA and HVX contexts --------------------------------------------------------------------- */

void hx_trace_dma(uint64_t start, uint64_t end, uint32_t bytes)
{
    struct hx_trace_event e = event(HX_TRACE_DMA, since_call(start));
    struct call *c = enter();

    if (!c)
        return;
    e.end = since_call(end);
    e.detail = bytes;
    push(c, e);
    leave();
}

static void begin_hold(struct call *c, uint64_t now)
{
    struct hx_trace_event e = event(HX_TRACE_HVX, now);

    e.lane = (uint16_t)(me.context - 1);
    e.end = HX_TRACE_OPEN;
    e.detail = me.lane;
    me.hold = push(c, e);
}

void hx_trace_hvx(int context, uint64_t now)
{
    struct call *c = enter();

    me.context = context + 1;
    if (!c)
        return;
    now = since_call(now);
    if (me.context) {
        begin_hold(c, now);
    } else {
        if (at(c, me.hold))
            at(c, me.hold)->end = now;
        me.hold = NONE;
    }
    leave();
}

/* --- threads and calls ------------------------------------------------------------------------ */

void hx_trace_name_thread(unsigned lane, const char *name)
{
    me.lane = lane;
    memset(me.name, 0, sizeof(me.name));
    memcpy(me.name, name, strnlen(name, sizeof(me.name) - 1));
}

void hx_trace_begin(uint64_t key, uint64_t call_pcycles, uint64_t start)
{
    struct hx_trace_event life;
    struct call *c;

    me.key = key;
    c = enter();
    if (!c)
        return;
    me.call_pcycles = call_pcycles;
    start = since_call(start);
    me.stall = 0;
    me.hold = NONE;
    me.depth = 1;
    me.level[0] = (struct level){NONE, NONE, 0};
    life = event(HX_TRACE_THREAD, start);
    life.name = name_of(c, me.name);
    me.level[0].event = push(c, life);
    if (me.context)
        begin_hold(c, start);
    leave();
}

uint64_t hx_trace_open(unsigned ctx_id, void *block, size_t bytes)
{
    struct hx_trace *t = block;
    uint32_t capacity = bytes < sizeof(*t) ? 0 : t->capacity;
    uint64_t key = 0;

    if (ctx_id >= FASTRPC_CTX_MAX || !capacity ||
        capacity > (bytes - sizeof(*t)) / sizeof(t->event[0]))
        return 0;
    pthread_mutex_lock(&lock);
    if (!open_call[ctx_id].key) {
        key = ++calls << KEY_SHIFT | ctx_id;
        open_call[ctx_id] = (struct call){.key = key, .block = t, .capacity = capacity};
    }
    pthread_mutex_unlock(&lock);
    return key;
}

void hx_trace_close(uint64_t key)
{
    struct call *c = &open_call[key & (FASTRPC_CTX_MAX - 1)];

    pthread_mutex_lock(&lock);
    if (key && c->key == key)
        memset(c, 0, sizeof(*c));
    pthread_mutex_unlock(&lock);
}
