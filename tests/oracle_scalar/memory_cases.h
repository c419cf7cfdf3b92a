/* Cases of the intrinsics that touch memory: circular loads and stores, cache lines.  See scalar_oracle.h. */

static uint8_t memory[512] __attribute__((aligned(256)));

static void fill_memory(const struct input *in)
{
    for (int i = 0; i < 512; i++)
        memory[i] = (uint8_t)((uint32_t)in->r[i & 3] >> (i >> 2 & 31)) ^ (uint8_t)i;
}

static void emit_memory(const void *p)
{
    emit_p((uint64_t)((const uint8_t *)p - memory));
    for (int i = 0; i < 512; i += 4)
        emit_r((uint32_t)memory[i] | (uint32_t)memory[i + 1] << 8 | (uint32_t)memory[i + 2] << 16 |
               (uint32_t)memory[i + 3] << 24);
}

/* A circular buffer of 64 bytes at memory + 128: length in the modifier, step of -3 or 5 elements. */
#define MODIFIER(in) ((in)->r[1] & 1 ? 64 | 5 << 17 : (int32_t)(64u | 0x7du << 17 | 0xf0000000u))
#define START(in, size) (memory + 128 + (((uint32_t)(in)->r[2] & 63) & ~((size) - 1u)))

#define LOAD_CASE(kind, name, size)                                                                \
    static void case_##name##_IM(const struct input *in)                                           \
    {                                                                                              \
        void *p = START(in, size);                                                                 \
                                                                                                   \
        fill_memory(in);                                                                           \
        emit_##kind(Q6_##name##_IM_circ(&p, 3 * (size), 64, memory + 128));                        \
        emit_memory(p);                                                                            \
        emit_##kind(Q6_##name##_IM_circ(&p, -8 * (size), 64, memory + 128));                       \
        emit_memory(p);                                                                            \
    }                                                                                              \
    static void case_##name##_M(const struct input *in)                                            \
    {                                                                                              \
        void *p = START(in, size);                                                                 \
                                                                                                   \
        fill_memory(in);                                                                           \
        emit_##kind(Q6_##name##_M_circ(&p, MODIFIER(in), memory + 128));                           \
        emit_memory(p);                                                                            \
    }
#define STORE_CASE(kind, name, tail, size)                                                         \
    static void case_##name##_IM##tail(const struct input *in)                                     \
    {                                                                                              \
        void *p = START(in, size);                                                                 \
                                                                                                   \
        fill_memory(in);                                                                           \
        Q6_##name##_IM##tail##_circ(&p, 7 * (size), 64, in->kind[0], memory + 128);                \
        Q6_##name##_IM##tail##_circ(&p, -2 * (size), 64, in->kind[3], memory + 128);               \
        emit_memory(p);                                                                            \
    }                                                                                              \
    static void case_##name##_M##tail(const struct input *in)                                      \
    {                                                                                              \
        void *p = START(in, size);                                                                 \
                                                                                                   \
        fill_memory(in);                                                                           \
        Q6_##name##_M##tail##_circ(&p, MODIFIER(in), in->kind[0], memory + 128);                   \
        emit_memory(p);                                                                            \
    }
#define HINT_CASE(name, call)                                                                      \
    static void case_##name(const struct input *in)                                                \
    {                                                                                              \
        uint8_t *p = memory + ((uint32_t)in->r[2] & 511);                                          \
                                                                                                   \
        fill_memory(in);                                                                           \
        call;                                                                                      \
        emit_memory(p);                                                                            \
    }

LOAD_CASE(r, R_memb, 1)
LOAD_CASE(r, R_memub, 1)
LOAD_CASE(r, R_memh, 2)
LOAD_CASE(r, R_memuh, 2)
LOAD_CASE(r, R_memw, 4)
LOAD_CASE(p, P_memd, 8)
STORE_CASE(r, memb, R, 1)
STORE_CASE(r, memh, R, 2)
STORE_CASE(r, memh, Rh, 2)
STORE_CASE(r, memw, R, 4)
STORE_CASE(p, memd, P, 8)
HINT_CASE(dcfetch, Q6_dcfetch_A(p))
HINT_CASE(dccleana, Q6_dccleana_A(p))
HINT_CASE(dccleaninva, Q6_dccleaninva_A(p))
HINT_CASE(dcinva, Q6_dcinva_A(p))
HINT_CASE(dczeroa, Q6_dczeroa_A(p))
HINT_CASE(l2fetch_r, Q6_l2fetch_AR(p, 0x00404002))
HINT_CASE(l2fetch_p, Q6_l2fetch_AP(p, 0x0000004000400002))

#define LOAD_ROW(name)                                                                             \
    {"Q6_" #name "_IM_circ", 256, case_##name##_IM}, {"Q6_" #name "_M_circ", 256, case_##name##_M},
#define STORE_ROW(name, tail)                                                                      \
    {"Q6_" #name "_IM" #tail "_circ", 256, case_##name##_IM##tail},                                \
    {"Q6_" #name "_M" #tail "_circ", 256, case_##name##_M##tail},
#define MEMORY_CASES                                                                               \
    LOAD_ROW(R_memb) LOAD_ROW(R_memub) LOAD_ROW(R_memh) LOAD_ROW(R_memuh) LOAD_ROW(R_memw)         \
    LOAD_ROW(P_memd) STORE_ROW(memb, R) STORE_ROW(memh, R) STORE_ROW(memh, Rh) STORE_ROW(memw, R)  \
    STORE_ROW(memd, P)                                                                             \
    {"Q6_dcfetch_A", 256, case_dcfetch}, {"Q6_dccleana_A", 256, case_dccleana},                    \
    {"Q6_dccleaninva_A", 256, case_dccleaninva}, {"Q6_dcinva_A", 256, case_dcinva},                \
    {"Q6_dczeroa_A", 256, case_dczeroa}, {"Q6_l2fetch_AR", 256, case_l2fetch_r},                   \
    {"Q6_l2fetch_AP", 256, case_l2fetch_p},
