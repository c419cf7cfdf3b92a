/* The table of theorems: id, claim, and the function that checks it. */
#include "theorem.h"

#include "checks.h"

const char *const hx_verdict_names[HX_VERDICTS] = {"VERIFIED", "PENDING", "EXPECTED-FAIL",
                                                   "SKIPPED", "FAILED"};

const struct hx_theorem hx_theorems[] = {
    {"T1", "[w]^2 = [w] - [41] on the CM curve over split primes (of the embedding: open)", hx_t1},
    {"T2", "the block is idempotent on its padded coefficients", hx_t2},
    {"T2b", "two different vectors never share a block", hx_t2b},
    {"T3", "capacity per split prime is at most log2(p + 1 + 2 sqrt p)", hx_t3},
    {"T3b", "the 63-byte block's bits fit the capacity of 74 split primes, one for each lane", hx_t3b},
    {"T4", "un-shim(shim(W) x) = W x, exactly", hx_t4},
    {"T4b", "the same on Q8 weights and through whole forward passes", hx_t4b},
    {"T5", "a_p = 0 for inert p, pi + conj(pi) for split p", hx_t5},
    {"T5b", "the angles of the other a_p are spread evenly", hx_t5b},
    {"T6", "two 30-bit primes give what one 60-bit prime gives", hx_t6},
    {"T6b", "the same from a second compiler", hx_t6b},
    {"E9.1", "Stern-Brocot angles have a tenth of RoPE's discrepancy, 4096 positions", hx_e91},
    {"E9.1b", "the same, 512 positions", hx_e91b},
    {"E9.2", "the Weil pairing is bilinear and alternating", hx_e92},
    {"E9.3", "a_mn = a_m a_n for coprime m and n", hx_e93},
    {"E9.3b", "a_(p^k+1) = a_p a_(p^k) - p a_(p^k-1)", hx_e93b},
    {"E9.5", "LLL reduction lowers the correlation of a model's K vectors", hx_e95},
    {"E9.6", "BSD's value of L(E, 1) for a curve of rank 0", hx_e96},
    {"E10", "activations do not drift with depth (measured; of mu = 0: open)", hx_e10},
    {NULL, NULL, NULL},
};

enum hx_verdict hx_theorem_check(size_t i, struct hx_theorem_run *r)
{
    r->random = i;
    r->stopped[0] = '\0';
    return hx_theorems[i].check(r);
}
