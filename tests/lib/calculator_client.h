/* The calculator skel's stub (skel/calculator.h), written by hand on the public headers alone. */
#ifndef CALCULATOR_CLIENT_H
#define CALCULATOR_CLIENT_H

#include "own_rig.h"
#include "remote.h"
#include "skel/calculator.h"

remote_handle64 open_calculator(const char *more);

int calc_sum(remote_handle64 h, const int32_t *v, uint32_t n, int64_t *s);

int calc_max(remote_handle64 h, const int32_t *v, uint32_t n, int32_t *m);

uint64_t calc_mapped(remote_handle64 h, int32_t fd);

int calc_crash(remote_handle64 h);

void expect_sum(remote_handle64 h, int32_t *v, uint32_t n);

#endif
