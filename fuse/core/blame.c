/* Counting by user what holds everybody up. */
#include "blame.h"

#include <unistd.h>

#include "base/client_watchdog.h"
#include "base/log.h"
#include "base/loop.h"

static bool is_over(uint64_t last_ms)
{
    return hx_now_ms() - last_ms >= HX_BLAME_MS;
}

unsigned hx_blame_add(struct hx_blame *b, enum hx_offence o, uid_t uid)
{
    unsigned mine = 0;

    for (unsigned i = 0; i < HX_BLAMES; i++) {
        if (b->user[o][i].times && b->user[o][i].uid == uid) {
            mine = i;
            break;
        }
        if (b->user[o][i].last_ms < b->user[o][mine].last_ms)
            mine = i; /* the oldest has to go */
    }
    if (b->user[o][mine].uid != uid || is_over(b->user[o][mine].last_ms))
        b->user[o][mine].times = 0;
    b->user[o][mine].uid = uid;
    b->user[o][mine].last_ms = hx_now_ms();
    return ++b->user[o][mine].times;
}

bool hx_blame_bars(const struct hx_blame *b, enum hx_offence o, uid_t uid)
{
    for (unsigned i = 0; i < HX_BLAMES; i++)
        if (b->user[o][i].times >= HX_BLAME_TIMES && b->user[o][i].uid == uid)
            return !is_over(b->user[o][i].last_ms);
    return false;
}

void hx_blame_hang(struct hx_blame *b, uid_t uid)
{
    if (hx_blame_add(b, HX_BLAME_HANG, uid) == HX_BLAME_TIMES && uid != geteuid())
        hx_log_client("user %u: memory did not answer %d times within a minute each: EFAULT for this user's calls, for a minute",
                      (unsigned)uid, HX_BLAME_TIMES);
}

bool hx_blame_may_touch(const struct hx_blame *b, uid_t uid)
{
    return (uid == geteuid() || !hx_blame_bars(b, HX_BLAME_HANG, uid)) && hx_watchdog_count_of(uid) < HX_HANGING_OF_USER;
}
