/* Deciding which calls a filter means. */
#include "filter_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter_text.h"

static const struct {
    const char *name;
    uint32_t cmd;
} ops[] = {
    {"INVOKE", FASTRPC_IOCTL_INVOKE},
    {"CREATE", FASTRPC_IOCTL_INIT_CREATE},
    {"CREATE", FASTRPC_IOCTL_INIT_CREATE_STATIC},
    {"ATTACH", FASTRPC_IOCTL_INIT_ATTACH},
    {"ATTACH", FASTRPC_IOCTL_INIT_ATTACH_SNS},
    {"MAP", FASTRPC_IOCTL_MEM_MAP},
    {"MAP", FASTRPC_IOCTL_MMAP},
    {"UNMAP", FASTRPC_IOCTL_MEM_UNMAP},
    {"UNMAP", FASTRPC_IOCTL_MUNMAP},
    {"INFO", FASTRPC_IOCTL_GET_DSP_INFO},
};
#define N_OPS (sizeof(ops) / sizeof(ops[0]))
#define INVOKE_BIT 1u
#define ALL_BITS ~0u

const char *hx_filter_op_name(uint32_t cmd)
{
    for (size_t i = 0; i < N_OPS; i++)
        if (ops[i].cmd == cmd)
            return ops[i].name;
    return "OTHER";
}

void hx_filter_match_init(struct hx_filter_match *m)
{
    *m = (struct hx_filter_match){.ops = INVOKE_BIT, .method = -1, .rate = 1, .draw = 1};
}

static int parse_ops(const char *text, unsigned *bits)
{
    *bits = 0;
    while (*text) {
        size_t n = strcspn(text, "+");
        unsigned found = n == 3 && memcmp(text, "ALL", 3) == 0 ? ALL_BITS : 0;

        for (size_t i = 0; i < N_OPS; i++)
            if (strlen(ops[i].name) == n && memcmp(ops[i].name, text, n) == 0)
                found |= 1u << i;
        if (!found)
            return -EINVAL;
        *bits |= found;
        text += n + (text[n] == '+');
    }
    return *bits ? 1 : -EINVAL;
}

static int parse_rate(const char *text, double *rate)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || strcmp(end, "%") != 0 || !(v >= 0 && v <= 100))
        return -EINVAL;
    *rate = v / 100;
    return 1;
}

int hx_filter_match_key(struct hx_filter_match *m, const char *key, const char *value)
{
    unsigned long v;

    if (strcmp(key, "ops") == 0)
        return parse_ops(value, &m->ops);
    if (strcmp(key, "rate") == 0)
        return parse_rate(value, &m->rate);
    if (strcmp(key, "nth") == 0)
        return hx_filter_number(value, 1, UINT32_MAX, &m->nth) ? -EINVAL : 1;
    if (strcmp(key, "method") != 0)
        return 0;
    if (hx_filter_number(value, 0, UINT32_MAX, &v))
        return -EINVAL;
    m->method = (int64_t)v;
    return 1;
}

static int names_op(const struct hx_filter_match *m, uint32_t cmd)
{
    if (m->ops == ALL_BITS)
        return 1;
    for (size_t i = 0; i < N_OPS; i++)
        if (ops[i].cmd == cmd)
            return (m->ops >> i) & 1;
    return 0;
}

/* Knuth's 64-bit linear congruential generator: the upper bits are good enough to choose calls by. */
static double next_draw(struct hx_filter_match *m)
{
    m->draw = m->draw * 6364136223846793005u + 1442695040888963407u;
    return (double)(m->draw >> 11) / 9007199254740992.0;
}

int hx_filter_matches(struct hx_filter_match *m, const struct hx_call *call)
{
    if (!names_op(m, call->cmd))
        return 0;
    if (m->method >= 0 && (call->cmd != FASTRPC_IOCTL_INVOKE ||
                           call->inv.handle <= FASTRPC_HANDLE_MAX_STATIC ||
                           call->inv.method != m->method))
        return 0;
    m->seen++;
    if (m->nth && m->seen != m->nth)
        return 0;
    return m->rate >= 1 || next_draw(m) < m->rate;
}
