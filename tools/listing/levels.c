/* Sorts the packets of a function into its loops, measures how far each stands behind what it waits for, and finds the
 * trips that software pipelining moved out of a loop. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

enum { MAX_LEVELS = sizeof(((struct hx_levels *)0)->level) / sizeof(struct hx_level), FAR = 63 };

/* --- the packets of one level, in the order of the listing */

struct row {
    const struct hx_lpacket *p;
    bool gap; /* a loop inside or a callee runs between the row before and this one */
};

struct rows {
    struct row *row;
    size_t n;
};

static int collect(struct rows *out, const struct hx_function *f, int loop)
{
    bool gap = false;

    out->n = 0;
    out->row = calloc(f->packets, sizeof(*out->row));
    if (!out->row)
        return -1;
    for (size_t i = 0; i < f->blocks; i++) {
        const struct hx_block *b = &f->block[i];
        if (b->loop != loop) {
            gap |= b->loop >= 0 && hx_loop_within(f, b->loop, loop);
            continue;
        }
        for (size_t k = 0; k < b->packets; k++) {
            const struct hx_lpacket *p = &f->packet[b->first + k];
            out->row[out->n++] = (struct row){p, gap};
            gap = p->callee[0] != '\0';
        }
    }
    if (out->n)
        out->row[0].gap |= gap; /* on the way back to the first packet of the next trip */
    return 0;
}

/* Visits the rows before row `at`, nearest first, in a loop also those of the trip before, until one is found: how many rows
 * earlier it stands.  0: not within FAR rows, or something else ran in between, during which it became ready. */
typedef bool found_fn(const struct hx_lpacket *p, int what);

static unsigned rows_back(const struct rows *rows, size_t at, bool cyclic, found_fn *found, int what)
{
    size_t i = at;

    for (unsigned d = 1; d <= FAR && d <= rows->n; d++) {
        if (rows->row[i].gap || (i == 0 && !cyclic))
            return 0;
        i = i ? i - 1 : rows->n - 1;
        if (found(rows->row[i].p, what))
            return d;
    }
    return 0;
}

static bool defines(const struct hx_lpacket *p, int reg)
{
    return p->def[reg] != HX_DEF_NONE;
}

static bool stores_vector_at(const struct hx_lpacket *p, int place)
{
    enum { VECTOR_BYTES = 128 };

    return p->stack_store && place >= p->stack_store && place < p->stack_store + VECTOR_BYTES;
}

/* The nearest producer by unit and earliness, as in hx_vliw_packet; 0: none. */
struct waits {
    unsigned nearest[2 * HX_CODE_UNITS];
};

static void note_wait(struct waits *w, enum hx_code_unit unit, bool early, unsigned packets)
{
    unsigned *nearest = &w->nearest[2 * unit + early];

    /* a scalar ALU result is ready for the next packet, for early sources for the one after that */
    if (!packets || (unit == HX_UNIT_ALU && !(early && packets == 1)))
        return;
    if (!*nearest || packets < *nearest)
        *nearest = packets;
}

static void registers_waited_for(struct waits *w, const struct rows *rows, size_t at, bool cyclic)
{
    for (int reg = 0; reg < HX_REGS; reg++) {
        const int use = rows->row[at].p->use[reg];
        unsigned d = use ? rows_back(rows, at, cyclic, defines, reg) : 0;

        if (d) {
            const struct hx_lpacket *p = rows->row[(at + rows->n - d) % rows->n].p;
            note_wait(w, p->def[reg] - HX_DEF_UNIT, use == HX_USE_EARLY, d);
        }
    }
}

static void stack_waited_for(struct waits *w, const struct rows *rows, size_t at, bool cyclic)
{
    for (int i = 0; i < 2; i++) {
        const int place = rows->row[at].p->stack_load[i];

        if (place)
            note_wait(w, HX_UNIT_SPILL, false, rows_back(rows, at, cyclic, stores_vector_at, place));
    }
}

/* The nearest ones, as many as fit; a late source is no news behind an early one of the same unit. */
static void put_waits(struct hx_vliw_packet *out, struct waits *w)
{
    unsigned n = 0;

    for (int u = 0; u < HX_CODE_UNITS; u++) {
        unsigned *late = &w->nearest[2 * u], early = w->nearest[2 * u + 1];
        if (early && early <= *late)
            *late = 0;
    }
    for (unsigned d = 1; d <= FAR; d++)
        for (unsigned k = 0; k < 2 * HX_CODE_UNITS && n < HX_PACKET_WAITS; k++)
            if (w->nearest[k] == d)
                out->wait[n++] = (uint16_t)HX_WAIT(k / 2, k % 2, d);
}

static struct hx_vliw_packet measure(const struct rows *rows, size_t at, bool cyclic)
{
    const struct hx_lpacket *p = rows->row[at].p;
    struct hx_vliw_packet out = {.hvx = p->hvx, .vector_loads = p->vector_loads};
    struct waits w = {0};

    registers_waited_for(&w, rows, at, cyclic);
    stack_waited_for(&w, rows, at, cyclic);
    put_waits(&out, &w);
    return out;
}

/* --- software pipelining */

static unsigned count_op(const struct hx_function *f, const struct hx_block *b,
                         const struct hx_op *op)
{
    unsigned n = 0;

    for (size_t k = 0; k < b->packets; k++) {
        const struct hx_lpacket *p = &f->packet[b->first + k];
        for (int i = 0; i < p->ops; i++)
            n += p->op[i].unit == op->unit && strcmp(p->op[i].name, op->name) == 0;
    }
    return n;
}

/* Occurrences in the blocks directly before and after the body: up to the next loop, at the level around. */
static unsigned count_around(const struct hx_function *f, size_t body, int around,
                             const struct hx_op *op)
{
    unsigned n = 0;

    for (int step = -1; step <= 1; step += 2)
        for (size_t i = body + (size_t)step; i < f->blocks && f->block[i].loop == around;
             i += (size_t)step)
            n += count_op(f, &f->block[i], op);
    return n;
}

/* By how much the compiler lowered the count of a hardware loop: r4 = add(r2,#-1) before loop0(...,r4).  An immediate
 * count does not show it: no limit. */
static unsigned lowered(const struct hx_function *f, const char *label)
{
    size_t i = f->packets;
    unsigned sum = 0;

    while (i && strcmp(f->packet[i - 1].loop_label, label) != 0)
        i--;
    if (!i)
        return 0;
    int reg = f->packet[--i].loop_count;
    if (reg < 0)
        return UINT_MAX;
    while (i) {
        const struct hx_lpacket *p = &f->packet[--i];
        if (p->def[HX_REG_R + reg] == HX_DEF_NONE)
            continue;
        if (!p->minus[reg])
            break;
        sum += p->minus[reg];
        reg = p->minus_of[reg];
    }
    return sum;
}

/* Pipelining adds and removes copies, so they tell nothing. */
static bool is_copy(const struct hx_op *op)
{
    return !op->name[0] || strcmp(op->name, "vcombine") == 0;
}

/* How many whole trips of the loop stand around it.  Only hardware loops of one block are pipelined, and their count is
 * lowered by what was moved out. */
static unsigned peeled(const struct hx_function *f, int loop)
{
    size_t body = f->loop[loop].header;
    const struct hx_block *b = &f->block[body];
    bool any = false;

    for (size_t i = 0; i < f->blocks; i++)
        if (i != body && hx_loop_within(f, f->block[i].loop, loop))
            return 0;
    if (!b->packets || !f->packet[b->first + b->packets - 1].ends_loop)
        return 0;
    unsigned least = lowered(f, b->label);
    for (size_t k = 0; k < b->packets; k++) {
        const struct hx_lpacket *p = &f->packet[b->first + k];
        for (int i = 0; i < p->ops; i++) {
            if (is_copy(&p->op[i]))
                continue;
            unsigned trips =
                count_around(f, body, f->loop[loop].parent, &p->op[i]) / count_op(f, b, &p->op[i]);
            least = trips < least ? trips : least;
            any = true;
        }
    }
    return any ? least : 0;
}

/* --- the tables */

static int make_level(struct hx_level *out, const struct hx_function *f, int loop)
{
    struct rows rows;

    if (collect(&rows, f, loop))
        return -1;
    out->packet = calloc(rows.n ? rows.n : 1, sizeof(*out->packet));
    out->packets = rows.n;
    for (size_t i = 0; out->packet && i < rows.n; i++) {
        out->packet[i] = measure(&rows, i, loop >= 0);
        out->words += rows.row[i].p->words;
    }
    free(rows.row);
    return out->packet ? 0 : -1;
}

static int number_of(const struct hx_function *f, const int *order, int loop)
{
    for (size_t k = 0; k < f->loops; k++)
        if (order[k] == loop)
            return (int)k + 1;
    return 0;
}

int hx_levels_make(struct hx_levels *out, const struct hx_function *f, const int *order,
                   bool pipelined)
{
    memset(out, 0, sizeof(*out));
    if (f->loops + 1 > MAX_LEVELS) {
        fprintf(stderr, "%s: %zu loops, at most %d\n", f->name, f->loops, MAX_LEVELS - 1);
        return -1;
    }
    for (; out->levels <= f->loops; out->levels++) {
        struct hx_level *l = &out->level[out->levels];
        int loop = out->levels ? order[out->levels - 1] : -1;
        if (make_level(l, f, loop)) {
            fprintf(stderr, "%s: no memory\n", f->name);
            return -1;
        }
        if (loop < 0)
            continue;
        l->depth = f->loop[loop].depth;
        l->around = number_of(f, order, f->loop[loop].parent);
        l->peeled = pipelined ? peeled(f, loop) : 0;
    }
    return 0;
}

void hx_levels_free(struct hx_levels *l)
{
    for (unsigned i = 0; i <= l->levels && i < MAX_LEVELS; i++)
        free(l->level[i].packet);
    memset(l, 0, sizeof(*l));
}
