/* What both sides of the oracle share: the inputs, the outputs and how a batch of them becomes one
 * number.
 *
 * Built twice from the same generated cases: here with our headers, and for qemu with clang's.
 * Inputs come from a generator that both run, so only results have to be exchanged.  Plain C
 * without library calls. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdint.h>

#include <hexagon_types.h>
#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>

#define ORACLE_BATCH 64   /* vectors per number */
#define ORACLE_BATCHES 64 /* numbers per case: 4096 vectors */
#define ORACLE_REGION 2048

struct input {
    union {
        HVX_VectorPair uu;
        HVX_Vector u;
        uint64_t uu_[32];
    };
    union {
        HVX_VectorPair vv;
        HVX_Vector v;
        uint64_t vv_[32];
    };
    union {
        HVX_VectorPair xx;
        HVX_Vector x;
        uint64_t xx_[32];
    };
    union {
        HVX_Vector q;
        uint64_t q_[16];
    };
    union {
        HVX_Vector p;
        uint64_t p_[16];
    };
    int64_t rr;
    int32_t r;
    int32_t base;          /* address of the region that gather and scatter use */
    int32_t length;        /* its last byte's offset */
    unsigned char *target; /* where gather and conditional stores go */
};

struct output {
    union {
        HVX_VectorPair w;
        HVX_Vector v[2];
        uint64_t word[32];
    };
};

struct oracle_case {
    const char *name;
    int memory; /* bits of an offset, for cases that touch the region or the target, else 0 */
    int slot;   /* enum hx_slot_class, or -1 for a scalar intrinsic */
    void (*run)(const struct input *in, struct output *out);
};

/* A predicate from the low bit of every byte, and a predicate as bytes of 0 and 0xff. */
#define ORACLE_Q(v) Q6_Q_vand_VR((v), 0x01010101)
#define ORACLE_BYTES(q) Q6_V_vand_QR((q), -1)

/* Memory below 4 GiB of ORACLE_REGION + 256 bytes, 128-byte aligned; the target vector follows the
 * region. */
extern unsigned char *oracle_memory;

/* Inputs number k (0..4095) of case c. */
void oracle_input(struct input *in, unsigned int c, unsigned int k, int memory);

/* Runs vectors b * ORACLE_BATCH .. of case c; returns their number.  dump, unless NULL, gets every
 * result: [ORACLE_BATCH][ORACLE_DUMP]. */
#define ORACLE_DUMP (32 + (ORACLE_REGION + 128) / 8)
uint64_t oracle_batch(const struct oracle_case *test, unsigned int c, unsigned int b,
                      uint64_t *dump);

/* One number out of those of all batches. */
uint64_t oracle_digest(const uint64_t *n);

#endif
