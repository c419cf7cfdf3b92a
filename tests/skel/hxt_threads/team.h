/* What the methods of interface hxt_threads have in common: threads, and functions that have tables of packets or not. */
#ifndef HXT_THREADS_TEAM_H
#define HXT_THREADS_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "hexrig_code.h"

enum { TEAM_THREADS = 16, TEAM_LINE = 128 };

/* Runs work(members + i * bytes) on n threads, 1 to TEAM_THREADS.  *pcycles: from the creation of the first to the end of the last.
 * Returns AEE_SUCCESS, AEE_ENOMEMORY, or AEE_EFAILED when not all of them could be created. */
int team_run(unsigned n, void (*work)(void *member), void *members, size_t bytes, int64_t *pcycles);

/* The function is charged by the table hx_code_NAME where `listed` is not 0, else by an estimate: HX_CODE() of hexrig_code.h that can
 * be left out at run time. */
struct team_scope {
    int listed;
    struct hx_code_scope code;
};

static inline struct team_scope team_enter(int listed, const struct hx_code *code)
{
    struct team_scope s = {.listed = listed};

    if (listed)
        s.code = hx_code_enter(code);
    return s;
}

static inline void team_leave(struct team_scope *s)
{
    if (s->listed)
        hx_code_leave(&s->code);
}

#define TEAM_CODE(listed, function) \
    __attribute__((cleanup(team_leave), unused)) struct team_scope team_scope = team_enter(listed, &hx_code_##function)

/* A table: a few packets around one loop, or none when its packets are NULL. */
#define TEAM_TABLE(function, packets, n)                                                                                  \
    static const struct hx_code_level function##_levels[] = {{team_straight, 3, 0, 0}, {packets, n, 0, 0}};               \
    static const struct hx_code hx_code_##function = {#function, (n) ? 2 : 1, {function##_levels, function##_levels}}

static const struct hx_vliw_packet team_straight[3] __attribute__((unused)) = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};

#endif
