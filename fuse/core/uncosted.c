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
        .pcycles = atomic_load(&e->pcycles), .hvx_ops = atomic_load(&e->hvx_ops), .host_ns = atomic_load(&e->host_ns)};

    copy_text(line.name, e->name, sizeof(line.name), 0);
    copy_text(line.reason, e->reason, sizeof(line.reason), 1);
    return line;
}

static void print_line(const struct hx_uncosted_line *l, FILE *f)
{
    fprintf(f, "name=%s pcycles=%llu hvx_ops=%llu host_us=%llu reason=%s\n", l->name, l->pcycles, l->hvx_ops, l->host_ns / 1000,
            l->reason);
}

void hx_uncosted_print(const struct hx_session *s, FILE *f)
{
    for (unsigned i = 0; i < hx_uncosted_count(s); i++) {
        const struct hx_uncosted_line line = line_of(s, i);

        fprintf(f, "session=%d pid=%d ", s->client_id, s->pid);
        print_line(&line, f);
    }
}

void hx_uncosted_print_sums(const struct hx_uncosted_sums *sums, FILE *f)
{
    for (unsigned i = 0; i < sums->n; i++) {
        fputs("closed_sessions ", f);
        print_line(&sums->line[i], f);
    }
}

void hx_uncosted_add(struct hx_uncosted_sums *sums, const struct hx_session *s)
{
    for (unsigned i = 0; i < hx_uncosted_count(s); i++) {
        const struct hx_uncosted_line news = line_of(s, i);
        unsigned k = 0;

        while (k < sums->n && (strcmp(sums->line[k].name, news.name) != 0 || strcmp(sums->line[k].reason, news.reason) != 0))
            k++;
        if (k == HX_UNCOSTED_MAX)
            continue;
        if (k == sums->n) {
            sums->line[sums->n++] = news;
            continue;
        }
        sums->line[k].pcycles += news.pcycles;
        sums->line[k].hvx_ops += news.hvx_ops;
        sums->line[k].host_ns += news.host_ns;
    }
}
