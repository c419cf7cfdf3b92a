/* The scalar parts of ntt.h.  The two moduli are constants here, so that the compiler divides by multiplying; each
 * function therefore exists twice. */
#include "ntt.h"

#include "mod30.h"
#include "ntt_scalar.listing.h"

HX_INLINE uint32_t mul(uint32_t a, uint32_t b, uint32_t q)
{
    return (uint32_t)((uint64_t)a * b % q);
}

/* --- per modulus: what the q1 and q2 versions are made of */

HX_INLINE void weigh(uint32_t *v, const uint32_t *weight, int n, uint32_t q)
{
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        v[i] = mul(v[i], weight[i], q);
}

/* Stages of distance 1 .. end/2. */
HX_INLINE void stages(uint32_t *v, const uint32_t *w, int n, int end, uint32_t q)
{
    int step = n >> 1; /* n / (2 * half) */

    for (int half = 1; half < end; half <<= 1, step >>= 1) {
        HX_TRIPS(1, 1);
        HX_TRIPS(2, step);
        for (int i = 0; i < n; i += 2 * half) {
            HX_TRIPS(3, half);
            for (int j = 0; j < half; j++) {
                uint32_t u = v[i + j], t = mul(v[i + j + half], w[j * step], q);
                uint32_t sum = u + t, difference = u - t;

                v[i + j] = sum >= q ? sum - q : sum;
                v[i + j + half] = u < t ? difference + q : difference;
            }
        }
    }
}

/* out[i] = first * root^i */
HX_INLINE void powers(uint32_t *out, int n, uint32_t first, uint32_t root, uint32_t q)
{
    uint32_t power = first;

    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        out[i] = power;
        power = mul(power, root, q);
    }
}

/* The power of the smallest base that is a 2n-th root of unity with psi^n = -1; exponent = (q - 1) / 2n. */
HX_INLINE uint32_t search_root(int n, uint32_t exponent, uint32_t q)
{
    for (uint32_t base = 2;; base++) {
        uint32_t psi = 1, square = base, check;

        HX_TRIPS(1, 1);
        for (uint32_t e = exponent; e; e >>= 1) {
            HX_TRIPS(2, 1);
            if (e & 1)
                psi = mul(psi, square, q);
            square = mul(square, square, q);
        }
        check = psi;
        for (int k = 1; k < n; k <<= 1) {
            HX_TRIPS(3, 1);
            check = mul(check, check, q);
        }
        if (check == q - 1)
            return psi;
    }
}

static HX_KERNEL void ntt_weigh_q1(uint32_t *v, const uint32_t *weight, int n)
{
    HX_CODE(ntt_weigh_q1);
    weigh(v, weight, n, HX_NTT_Q1);
}

static HX_KERNEL void ntt_weigh_q2(uint32_t *v, const uint32_t *weight, int n)
{
    HX_CODE(ntt_weigh_q2);
    weigh(v, weight, n, HX_NTT_Q2);
}

static HX_KERNEL void ntt_stages_q1(uint32_t *v, const uint32_t *w, int n, int end)
{
    HX_CODE(ntt_stages_q1);
    stages(v, w, n, end, HX_NTT_Q1);
}

static HX_KERNEL void ntt_stages_q2(uint32_t *v, const uint32_t *w, int n, int end)
{
    HX_CODE(ntt_stages_q2);
    stages(v, w, n, end, HX_NTT_Q2);
}

static HX_KERNEL void ntt_powers_q1(uint32_t *out, int n, uint32_t first, uint32_t root)
{
    HX_CODE(ntt_powers_q1);
    powers(out, n, first, root, HX_NTT_Q1);
}

static HX_KERNEL void ntt_powers_q2(uint32_t *out, int n, uint32_t first, uint32_t root)
{
    HX_CODE(ntt_powers_q2);
    powers(out, n, first, root, HX_NTT_Q2);
}

static HX_KERNEL uint32_t ntt_root_q1(int n, uint32_t exponent)
{
    HX_CODE(ntt_root_q1);
    return search_root(n, exponent, HX_NTT_Q1);
}

static HX_KERNEL uint32_t ntt_root_q2(int n, uint32_t exponent)
{
    HX_CODE(ntt_root_q2);
    return search_root(n, exponent, HX_NTT_Q2);
}

struct modulus {
    uint32_t q;
    void (*weigh)(uint32_t *v, const uint32_t *weight, int n);
    void (*stages)(uint32_t *v, const uint32_t *w, int n, int end);
    void (*powers)(uint32_t *out, int n, uint32_t first, uint32_t root);
    uint32_t (*root)(int n, uint32_t exponent);
};

static const struct modulus *modulus_of(uint32_t q)
{
    /* in one cache line, wherever the linker puts it: reading it is charged */
    static const struct modulus known[] __attribute__((aligned(128))) = {
        {HX_NTT_Q1, ntt_weigh_q1, ntt_stages_q1, ntt_powers_q1, ntt_root_q1},
        {HX_NTT_Q2, ntt_weigh_q2, ntt_stages_q2, ntt_powers_q2, ntt_root_q2},
    };

    return q == HX_NTT_Q1 ? &known[0] : q == HX_NTT_Q2 ? &known[1] : 0;
}

/* --- tables */

/* w, stage after stage. */
static HX_KERNEL void ntt_spread(uint32_t *stage, const uint32_t *w, int n)
{
    int step = n >> 1; /* n / (2 * half) */

    HX_CODE(ntt_spread);
    for (int half = 1; half < n; half <<= 1, step >>= 1) {
        HX_TRIPS(1, 1);
        HX_TRIPS(2, half);
        for (int j = 0; j < half; j++)
            stage[half - 1 + j] = w[j * step];
    }
}

int hx_ntt_make(struct hx_ntt *t, uint32_t *block, int n, uint32_t q, unsigned what)
{
    const struct modulus *m = modulus_of(q);

    if (!m || n < HX_NTT_MIN || n > HX_NTT_MAX || (n & (n - 1)))
        return AEE_EBADPARM;
    *t = (struct hx_ntt){.n = n, .q = q, .psi = block, .ipsi = block + n, .w = block + 2 * n,
                         .winv = block + 2 * n + n / 2, .stage = block + 3 * n,
                         .istage = block + 4 * n - 1};
    m->powers(t->psi, n, 1, m->root(n, (q - 1) / (2 * (uint32_t)n)));
    if (what & HX_NTT_FORWARD)
        m->powers(t->w, n / 2, 1, t->psi[2]);
    if (what & HX_NTT_INVERSE) {
        /* psi^n = -1 and n divides q - 1 */
        const uint32_t inverse = q - t->psi[n - 1], one_nth = q - (q - 1) / (uint32_t)n;

        m->powers(t->ipsi, n, one_nth, inverse);
        m->powers(t->winv, n / 2, 1, (uint32_t)((uint64_t)inverse * inverse % q));
    }
    if ((what & HX_NTT_STAGES) && (what & HX_NTT_FORWARD))
        ntt_spread(t->stage, t->w, n);
    if ((what & HX_NTT_STAGES) && (what & HX_NTT_INVERSE))
        ntt_spread(t->istage, t->winv, n);
    return AEE_SUCCESS;
}

struct hx_ntt_direction hx_ntt_forward(const struct hx_ntt *t)
{
    return (struct hx_ntt_direction){t->n, t->q, t->psi, 0, t->w, t->stage};
}

struct hx_ntt_direction hx_ntt_inverse(const struct hx_ntt *t)
{
    return (struct hx_ntt_direction){t->n, t->q, 0, t->ipsi, t->winv, t->istage};
}

/* --- transforms */

static HX_KERNEL void ntt_reverse(uint32_t *v, int n)
{
    HX_CODE(ntt_reverse);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        int reversed = 0;

        for (int bit = 1, from = i; bit < n; bit <<= 1, from >>= 1) {
            HX_TRIPS(2, 1);
            reversed = reversed << 1 | (from & 1);
        }
        if (i < reversed) {
            uint32_t other = v[reversed];

            v[reversed] = v[i];
            v[i] = other;
        }
    }
}

void hx_ntt_begin(const struct hx_ntt_direction *d, uint32_t *v, int half)
{
    const struct modulus *m = modulus_of(d->q);

    if (d->before)
        m->weigh(v, d->before, d->n);
    ntt_reverse(v, d->n);
    m->stages(v, d->w, d->n, half);
}

void hx_ntt_end(const struct hx_ntt_direction *d, uint32_t *v)
{
    if (d->after)
        modulus_of(d->q)->weigh(v, d->after, d->n);
}

int hx_ntt_scalar(const struct hx_ntt_direction *d, uint32_t *v)
{
    hx_ntt_begin(d, v, d->n);
    hx_ntt_end(d, v);
    return AEE_SUCCESS;
}
