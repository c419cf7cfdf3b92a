/* Test support: the run's seed, xoshiro256** streams and float fills.  See hxt.h. */
#include "hxt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static uint64_t run_seed;
static int have_seed;

uint64_t hxt_seed(void)
{
    const char *env = getenv("HXT_SEED");

    if (have_seed)
        return run_seed;
    if (env && *env) {
        char *end;

        errno = 0;
        run_seed = strtoull(env, &end, 0);
        if (*end || errno) {
            fprintf(stderr, "hxt: HXT_SEED '%s' is not a number\n", env);
            exit(2);
        }
    } else {
        uint32_t r; /* 32 bits are enough, and short to type */

        run_seed = getrandom(&r, sizeof(r), 0) == sizeof(r) ? r : (uint64_t)time(NULL);
    }
    have_seed = 1;
    fprintf(stderr, "hxt: seed %llu (HXT_SEED=%llu replays)\n", (unsigned long long)run_seed,
            (unsigned long long)run_seed);
    return run_seed;
}

/* splitmix64: spreads a seed over the state, as the authors of xoshiro advise (Blackman & Vigna 2018) */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void hxt_rng_init(struct hxt_rng *rng, uint64_t stream)
{
    uint64_t a = hxt_seed(), b = stream;
    uint64_t state = mix(&a) ^ mix(&b);

    for (size_t i = 0; i < HXT_LEN(rng->s); i++)
        rng->s[i] = mix(&state);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t hxt_u64(struct hxt_rng *rng)
{
    uint64_t *s = rng->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint32_t hxt_u32(struct hxt_rng *rng)
{
    return (uint32_t)(hxt_u64(rng) >> 32);
}

uint64_t hxt_below(struct hxt_rng *rng, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)hxt_u64(rng) * n) >> 64);
}

double hxt_unit(struct hxt_rng *rng)
{
    return (double)(hxt_u64(rng) >> 11) * 0x1p-53;
}

double hxt_normal(struct hxt_rng *rng)
{
    double u = 1 - hxt_unit(rng), v = hxt_unit(rng); /* u > 0 */

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

void hxt_fill_bytes(struct hxt_rng *rng, void *bytes, size_t n)
{
    uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(hxt_u64(rng) >> 56);
}

static const char *const fill_names[HXT_FILLS] = {
    [HXT_NORMAL] = "normal", [HXT_UNIFORM] = "uniform", [HXT_TINY] = "tiny",
    [HXT_HUGE] = "huge", [HXT_DENORMAL] = "denormal", [HXT_ZERO] = "zero",
    [HXT_CONST] = "const", [HXT_SPIKE] = "spike", [HXT_RANGE] = "range",
    [HXT_NAN] = "nan", [HXT_INF] = "inf",
};

const char *hxt_fill_name(enum hxt_fill kind)
{
    return (unsigned)kind < HXT_FILLS ? fill_names[kind] : "?";
}

static float one_value(struct hxt_rng *rng, enum hxt_fill kind)
{
    switch (kind) {
    case HXT_UNIFORM:
        return (float)(2 * hxt_unit(rng) - 1);
    case HXT_TINY:
        return (float)(hxt_normal(rng) * 1e-20);
    case HXT_HUGE:
        return (float)(hxt_normal(rng) * 1e20);
    case HXT_DENORMAL:
        return (float)((2 * hxt_unit(rng) - 1) * 0x1p-126);
    case HXT_ZERO:
        return hxt_below(rng, 2) ? -0.0f : 0.0f;
    case HXT_RANGE:
        return (float)ldexp(hxt_normal(rng), (int)hxt_below(rng, 41) - 20);
    default:
        return (float)hxt_normal(rng);
    }
}

void hxt_fill_f32(struct hxt_rng *rng, float *x, size_t n, enum hxt_fill kind)
{
    float value = (float)hxt_normal(rng);
    size_t at = hxt_below(rng, n ? n : 1);

    for (size_t i = 0; i < n; i++) {
        if (kind == HXT_CONST)
            x[i] = value;
        else if (kind == HXT_SPIKE)
            x[i] = i == at ? value : 0;
        else
            x[i] = one_value(rng, kind);
    }
    if (n && kind == HXT_NAN)
        x[at] = NAN;
    if (n && kind == HXT_INF)
        x[at] = value < 0 ? -INFINITY : INFINITY;
}
