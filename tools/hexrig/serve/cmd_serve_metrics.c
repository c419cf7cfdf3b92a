/* /metrics of hexrig serve: the figures of /health and those of tokens, as Prometheus reads them (text format 0.0.4). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd_serve_exchange.h"

static void head(FILE *f, const char *name, const char *type, const char *help)
{
    fprintf(f, "# HELP hexrig_%s %s\n# TYPE hexrig_%s %s\n", name, help, name, type);
}

static void one(FILE *f, const char *name, const char *type, const char *help, uint64_t value)
{
    head(f, name, type, help);
    fprintf(f, "hexrig_%s %" PRIu64 "\n", name, value);
}

static void write_all(FILE *f, const struct hx_jobs_counts *n)
{
    const struct { const char *name; uint64_t value; } results[] = {
        {"done", n->done}, {"cancelled", n->cancelled}, {"failed", n->failed}, {"refused", n->refused},
    };

    one(f, "up", "gauge", "1: the last request met no error of the server's, and its DSP is there", !n->failing);
    one(f, "requests_active", "gauge", "Requests that are computed", n->active);
    one(f, "requests_queued", "gauge", "Requests that wait", n->queued);
    head(f, "requests_total", "counter", "Requests that ended, by how");
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        fprintf(f, "hexrig_requests_total{result=\"%s\"} %" PRIu64 "\n", results[i].name, results[i].value);
    one(f, "generated_tokens_total", "counter", "Tokens that were made", n->tokens);
    one(f, "prompt_tokens_total", "counter", "Tokens of prompts", n->prompt_tokens);
    one(f, "cached_prompt_tokens_total", "counter", "Of these, tokens that had been run for a request before", n->cached_tokens);
    one(f, "draft_proposed_total", "counter", "Tokens that a drafter guessed", n->proposed);
    one(f, "draft_accepted_total", "counter", "Of these, tokens that became text", n->accepted);
    one(f, "restarts_total", "counter", "New sessions after the DSP was gone", n->restarts);
}

enum MHD_Result hx_metrics(struct hx_exchange *x, const char *rest)
{
    const struct hx_jobs_counts n = hx_jobs_count(x->s->jobs);
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    (void)rest;
    if (!f)
        return MHD_NO;
    write_all(f, &n);
    if (fclose(f)) {
        free(text);
        return MHD_NO;
    }
    return hx_send_bytes(x, MHD_HTTP_OK, "text/plain; version=0.0.4", text, bytes);
}
