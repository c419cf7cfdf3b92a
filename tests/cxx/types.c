/* What real kernels do with the vector types, and a scalar intrinsic of every family: builds as C and (copied to .cc) as
 * C++ without a warning, and returns 0.  tests/cases/skel_flags.sh compiles and runs it. */
#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <string.h>
#ifdef __cplusplus
#include <array>
#include <vector>
#endif

union view {
    HVX_Vector v;
    HVX_VectorPair w;
    float f[64];
    int16_t h[128];
};

struct tile {
    HVX_Vector row[4];
    HVX_VectorPair pair;
    int32_t n;
};

/* Plain arrays through vector pointers, aligned and not. */
static void add(float *out, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i += 32)
        *(HVX_Vector *)(out + i) =
            Q6_Vw_vadd_VwVw(*(const HVX_Vector *)(a + i), *(const HVX_Vector *)(b + i));
}

static HVX_Vector load_any(const uint8_t *p)
{
    return *(const HVX_UVector *)p;
}

static void store_any(uint8_t *p, HVX_Vector v)
{
    *(HVX_UVector *)p = v;
}

static HVX_Vector by_value(HVX_Vector a, HVX_VectorPair w, HVX_VectorPred q)
{
    return Q6_V_vmux_QVV(q, a, Q6_V_lo_W(w));
}

/* Halves are stored as such and computed with as floats: what a float becomes on the way.  clang calls a library for that, which is not
 * always there, unless the machine has instructions. */
static int halves(void)
{
#if !defined(__clang__) || defined(__F16C__)
    static const struct {
        float in, out;
    } cases[] = {
        {0.1f, 0.0999755859375f},
        {-2048.5f, -2048.0f},
        {1.00048828125f, 1.0f}, /* ties go to even */
        {1.00146484375f, 1.001953125f},
        {65519.0f, 65504.0f},
        {65520.0f, 1e30f * 1e30f},
        {6e-8f, 5.9604644775390625e-8f}, /* subnormal */
        {2.98e-8f, 0.0f},
    };
    __fp16 h, sum = 0.0f;
    int bad = sizeof(h) != 2;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        h = (__fp16)cases[i].in;
        bad += (float)h != cases[i].out;
    }
    for (int i = 0; i < 4; i++)
        sum += (__fp16)0.25f;
    return bad + ((float)sum != 1.0f);
#else
    return 0;
#endif
}

static int pointers(void)
{
    static uint8_t bytes[512] __attribute__((aligned(128)));
    static float f[3][64] __attribute__((aligned(128)));
    HVX_Vector *from = (HVX_Vector *)bytes, *to = (HVX_Vector *)(bytes + 128);
    int bad = 0;

    for (int i = 0; i < 512; i++)
        bytes[i] = (uint8_t)i;
    store_any(bytes + 3, load_any(bytes + 129));
    bad += bytes[3] != 129 || bytes[130] != 0 || bytes[131] != 131;
    *to++ = *from++;
    *to++ = *from++;
    bad += bytes[300] != bytes[44];
    for (int i = 0; i < 64; i++)
        f[0][i] = (float)i, f[1][i] = 0;
    add(f[2], f[0], f[1], 64);
    bad += f[2][33] != 33.0f; /* words plus 0 */
    return bad;
}

static int values(void)
{
    union view u;
    struct tile t, copy;
    HVX_Vector ones = Q6_V_vsplat_R(1), two[2], mask;
    HVX_VectorPred q = Q6_Q_vcmp_gt_VwVw(ones, Q6_V_vzero());
    int bad = 0;

    /* A predicate is a vector of 128 bytes to other code, and the other way round. */
    mask = q;
    q = mask;
    bad += mask[5] != -1;
    two[0] = ones;
    two[1] = ones + ones; /* the types take operators */
    u.w = Q6_W_vcombine_VV(two[1], two[0]);
    bad += u.h[64] != 2 || u.v[3] != 1;
    bad += by_value(two[1], u.w, q)[31] != 2;
    memset(&t, 0, sizeof(t));
    t.row[2] = two[1];
    copy = t;
    bad += copy.row[2][0] != 2 || copy.n != 0;
    return bad;
}

static int scalars(void)
{
    Word64 p = Q6_P_combine_RR(1, -2);
    int bad = 0;

    bad += Q6_R_add_RR_sat(INT32_MAX, 1) != INT32_MAX;
    bad += Q6_R_sat_P(p) != INT32_MAX || Q6_R_satub_R(-1) != 0 || Q6_R_max_RR(2, -3) != 2;
    bad += Q6_R_vsplatb_R(0x7f) != 0x7f7f7f7f || Q6_P_vsplath_R(2) != 0x0002000200020002;
    bad += Q6_R_cl0_R(1) != 31 || Q6_R_popcount_P(-1) != 64 || Q6_R_extractu_RII(0xabcd, 8,
        4) != 0xbc;
    bad += Q6_R_asr_RI_rnd(6, 1) != 2 || Q6_R_mpy_RlRl(3, 4) != 12 || Q6_P_mpy_RR(-2, 3) != -6;
    bad += Q6_P_cmpyr_RR(0x00010002, 0x00030004) != 5 || Q6_R_vmpyh_RR_rnd_sat(0, 0) != 0;
    bad += (Q6_p_cmp_gt_RR(2, 1) & 0xff) != 0xff || Q6_R_mux_pRR(0, 1, 2) != 2;
    bad += Q6_P_vaddh_PP_sat(0x7fff, 1) != 0x7fff || Q6_R_sfmax_RR(1.0f, 2.0f) != 2.0f;
    Q6_dcfetch_A(&p);
    Q6_l2fetch_AR(&p, 0x00804001);
    return bad;
}

#ifdef __cplusplus
template <class T> static T twice(T v)
{
    return v + v;
}

template <class T, int N> struct stack {
    T item[N];
    int top;
    void push(const T &v) { item[top++] = v; }
};

static int templates(void)
{
    std::vector<HVX_Vector> many(5, Q6_V_vsplat_R(3));
    std::array<HVX_VectorPair, 2> pairs = {};
    stack<HVX_Vector, 3> s = {};
    int bad = 0;

    many.push_back(twice(many[4]));
    bad += many[5][7] != 6;
    /* 128 with clang; g++ gives alignof what the host's registers need (docs/skel.md) */
    bad += (uintptr_t)many.data() % alignof(HVX_Vector) != 0;
    s.push(many[0]);
    pairs[1] = Q6_W_vcombine_VV(s.item[0], many[5]);
    bad += pairs[1][40] != 3 || pairs[0][0] != 0;
    return bad;
}
#else
static int templates(void)
{
    return 0;
}
#endif

int main(void)
{
    return halves() + pointers() + values() + scalars() + templates();
}
