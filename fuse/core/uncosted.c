/* Reads the PDs' tables of uncosted code, as something that anybody may have written there. */
#include "uncosted.h"

#include <string.h>

#include "driver.h"

static void copy_text(char *to, const char *from, size_t bytes, int spaces)
{
    size_t i;

    for (i = 0; i < bytes - 1 && from[i]; i++) {
        const char c = from[i];
        to[i] = c > ' ' && c < 0x7f ? c : spaces && c == ' ' ? ' ' : '?';
    }
    to[i] = '\0';
}

unsigned hx_uncosted_count(const struct hx_session *s)
{
    const uint32_t n = s->channel.rings ? atomic_load(&s->channel.rings->uncosted.n) : 0;

    return n < HX_UNCOSTED_MAX ? n : HX_UNCOSTED_MAX;
}

static struct hx_uncosted_line line_of(const struct hx_session *s, unsigned i)
{
    struct hx_uncosted *e = &s->channel.rings->uncosted.entry[i];
    struct hx_uncosted_line line = {
        .pid = s->pid, .pcycles = atomic_load(&e->pcycles), .hvx_ops = atomic_load(&e->hvx_ops), .host_ns = atomic_load(&e->host_ns)};

    copy_text(line.name, e->name, sizeof(line.name), 0);
    copy_text(line.reason, e->reason, sizeof(line.reason), 1);
    return line;
}

static void print_line(int session, const struct hx_uncosted_line *l, FILE *f)
{
    fprintf(f, "session=%d pid=%d name=%s pcycles=%llu hvx_ops=%llu host_us=%llu reason=%s\n", session, (int)l->pid, l->name,
            l->pcycles, l->hvx_ops, l->host_ns / 1000, l->reason);
}

void hx_uncosted_print(const struct hx_session *s, FILE *f)
{
    for (unsigned i = 0; i < hx_uncosted_count(s); i++) {
        const struct hx_uncosted_line line = line_of(s, i);

        print_line(s->client_id, &line, f);
    }
}

unsigned hx_uncosted_count_sums(const struct hx_uncosted_sums *sums)
{
    return sums->added < HX_UNCOSTED_CLOSED ? (unsigned)sums->added : HX_UNCOSTED_CLOSED;
}

void hx_uncosted_print_sums(const struct hx_uncosted_sums *sums, FILE *f)
{
    for (uint64_t i = sums->added - hx_uncosted_count_sums(sums); i < sums->added; i++)
        print_line(0, &sums->line[i % HX_UNCOSTED_CLOSED], f);
}

/* The line of the same process, name and reason, or NULL. */
static struct hx_uncosted_line *same_line(struct hx_uncosted_sums *sums, const struct hx_uncosted_line *l)
{
    for (unsigned i = 0; i < hx_uncosted_count_sums(sums); i++) {
        struct hx_uncosted_line *have = &sums->line[i];

        if (have->pid == l->pid && strcmp(have->name, l->name) == 0 && strcmp(have->reason, l->reason) == 0)
            return have;
    }
    return NULL;
}

void hx_uncosted_add(struct hx_uncosted_sums *sums, const struct hx_session *s)
{
    for (unsigned i = 0; i < hx_uncosted_count(s); i++) {
        const struct hx_uncosted_line news = line_of(s, i);
        struct hx_uncosted_line *have = same_line(sums, &news);

        if (!have) {
            sums->line[sums->added++ % HX_UNCOSTED_CLOSED] = news;
            continue;
        }
        have->pcycles += news.pcycles;
        have->hvx_ops += news.hvx_ops;
        have->host_ns += news.host_ns;
    }
}
