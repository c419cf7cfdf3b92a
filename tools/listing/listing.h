/* Reads clang's assembly for Hexagon (verbose, as `clang -S` writes it) and makes of it the tables of hexrig_code.h.
 *
 * The steps: listing.c finds a function, its blocks and packets; insn.c says what each instruction reads and defines;
 * levels.c sorts the packets into loops and measures the distances; match.c says which loop of one build is which of the other;
 * emit.c prints C, and tables.c puts all of it together.  All of it runs on one thread.
 * Errors: a message on stderr that begins with the file or function, and -1. */
#ifndef HEXRIG_LISTING_H
#define HEXRIG_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hexrig_code.h"

/* One number per register that can delay a packet: r0-r31, v0-v31, p0-p3, q0-q3. */
enum { HX_REG_R = 0, HX_REG_V = 32, HX_REG_P = 64, HX_REG_Q = 68, HX_REGS = 72 };

/* What defines a register: HX_DEF_UNIT + enum hx_code_unit. */
enum { HX_DEF_NONE, HX_DEF_UNIT };

/* How an operand is used, see HX_WAIT() of hexrig_code.h. */
enum { HX_USE_NONE, HX_USE_LATE, HX_USE_EARLY };

/* Where in the stack frame registers point, as far as the block so far tells it. */
struct hx_frame {
    uint32_t known;     /* bit per scalar register */
    int32_t at[32];     /* HX_FRAME_* + bytes */
};
/* r29 and r30 are apart by what the listing need not tell. */
enum { HX_FRAME_SP = 0x1000000, HX_FRAME_FP = 0x2000000 };

enum { HX_OP_CHARS = 24, HX_PACKET_OPS = 8, HX_NAME_CHARS = 96 };

struct hx_op { /* an instruction with a unit; what peeled trips are recognised by */
    char name[HX_OP_CHARS];
    enum hx_code_unit unit;
};

struct hx_lpacket {
    uint8_t def[HX_REGS];       /* HX_DEF_*: what the packets after it see */
    uint8_t use[HX_REGS];       /* HX_USE_*: read from an earlier packet */
    bool forward[HX_REGS];      /* .cur and .tmp: this packet reads its own value */
    struct hx_op op[HX_PACKET_OPS];
    uint8_t ops;
    uint8_t words;              /* instructions and constant extenders; a duplex counts as two */
    uint8_t vector_loads;       /* but for those of the stack */
    uint8_t hvx;                /* context cycles */
    int32_t stack_store;        /* place (HX_FRAME_*) of a vector that it stores to the stack; 0: none ... */
    int32_t stack_load[2];      /* ... and of scalars that it loads from there */
    bool ends_loop;             /* :endloop0 or :endloop1 */
    uint64_t where;             /* file << 32 | line of the source; 0: unknown */
    uint8_t minus[32];          /* k where it sets that scalar register to another less k ... */
    uint8_t minus_of[32];       /* ... which is this one */
    char loop_label[32];        /* loop0(.LBB0_3,r4): BB0_3, else "" ... */
    int loop_count;             /* ... and its count: HX_REG_R + 4, or -1: an immediate */
    char callee[HX_NAME_CHARS]; /* "" or the function it calls or jumps to */
};

struct hx_block {
    char label[32];  /* BB<function>_<block> */
    char header[32]; /* label of the header of its loop, "" outside of loops */
    char parent[32]; /* of a header: the header of the loop around, or "" */
    bool is_header;
    int loop; /* index in loop[], -1: none; set when the function has been read */
    size_t first, packets;
};

struct hx_listing_loop {
    size_t header;  /* block */
    int parent;     /* index in loop[], or -1 */
    unsigned depth; /* 1: outermost */
};

/* One function of a listing, in the order of the listing. */
struct hx_function {
    const char *path;  /* borrowed */
    const char *name;  /* borrowed */
    char compiler[64]; /* "clang version 19.1.7", or "" */
    struct hx_lpacket *packet;
    size_t packets;
    struct hx_block *block;
    size_t blocks;
    struct hx_listing_loop *loop; /* in the order of their headers */
    size_t loops;
};

/* Reads `name` from the listing at `path`; both are borrowed until hx_function_free(), which takes half-read ones, too.
 * Returns 0, or -1: no such file or function, not a Hexagon listing, cut off. */
int hx_function_read(struct hx_function *f, const char *path, const char *name);
void hx_function_free(struct hx_function *f);

/* Whether loop (index in f->loop[], -1: none) is `outer` or a loop inside it; everything is inside of -1. */
bool hx_loop_within(const struct hx_function *f, int loop, int outer);

/* Begins a block: of registers only r29 and r30 are known. */
void hx_frame_begin(struct hx_frame *frame);

/* Adds one instruction (a line of a packet, without its comment) to a packet.  Returns 0, or -1 when the packet would
 * hold more than any packet does or the text is no instruction. */
int hx_packet_add(struct hx_lpacket *p, struct hx_frame *frame, const char *text);

/* One row of an hx_code_level. */
struct hx_level {
    struct hx_vliw_packet *packet;
    size_t packets;
    unsigned words, peeled, depth;
    int around; /* number of the loop around; 0: the function */
};

/* The levels of a function in one build, and the functions that it calls. */
struct hx_levels {
    struct hx_level level[64];
    unsigned levels;
};

/* The order of a build's loops: order[k] is the index in f->loop[] of loop k + 1.  Debug code keeps the order of the
 * source; that of optimised code is found by comparing with it: nesting first, then the source lines.
 * Returns 0, or -1 when the two builds do not have the same loops. */
int hx_loops_match(const struct hx_function *release, const struct hx_function *debug,
                   int *release_order, int *debug_order);

/* Tables of f with the loops in that order; `pipelined`: the compiler may have peeled trips.  0, or -1 (too many loops). */
int hx_levels_make(struct hx_levels *out, const struct hx_function *f, const int *order,
                   bool pipelined);
void hx_levels_free(struct hx_levels *l);

/* A header to be made. */
struct hx_tables {
    const char *listing[HX_CODE_BUILDS]; /* paths */
    const char *source;                  /* its name in the head */
    const char *hash;                    /* of the source and its flags, for the head; NULL: not known */
    const char *const *function;         /* ended by NULL */
    unsigned *loops;                     /* by function, set to its number of loops; NULL: nobody asks */
};

/* Prints the header.  0, or -1 after a message for each function that gives no table; what is printed then is of no use. */
int hx_tables_print(FILE *out, const struct hx_tables *t);

/* Its parts.  `f` and `l` are indexed by enum hx_code_build; calls of functions that are not among `tables`, ended by NULL, get
 * a line that begins with HX_TABLE_WARNING. */
#define HX_TABLE_WARNING "/* WARNING: "
#define HX_TABLE_HASH " * Source and flags: "
void hx_emit_head(FILE *out, const struct hx_tables *t, const char *compiler);
void hx_emit_function(FILE *out, const struct hx_function *f, const struct hx_levels *l,
                      const char *const *tables);
void hx_emit_tail(FILE *out);

/* A function that a listing has, and where its code begins, "kernel.c:12"; "": unknown. */
struct hx_listing_name {
    char name[HX_NAME_CHARS];
    char where[256];
};

/* All of them, in their order: *names is malloc'ed.  0, or -1 after a message. */
int hx_listing_names(struct hx_listing_name **names, size_t *n, const char *path);

/* The program: see `hexrig-listing --help`.  Returns its exit status. */
int hx_listing_main(int argc, char **argv);

#endif
