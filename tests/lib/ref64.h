/* Logits of a generated model in fp64, from the published formulas: no cache, no batch, no code of the engine. */
#ifndef REF64_H
#define REF64_H

#include <stddef.h>
#include <stdint.h>

#include "gen_model.h"

/* [n][GEN_VOCAB], malloc'ed: row p is what follows ids 0..p. */
double *ref64_logits(const struct gen_model *g, const uint32_t *ids, size_t n);

#endif
