/* Renders chat messages in a model family's format, and recognises the family by its template. */
#include "chat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define TEMPLATE "tokenizer.chat_template"

enum { MARKS = 4, PARTS_PER_MESSAGE = 12 };

enum role { SYSTEM, USER, ASSISTANT, ROLES };

static const char *const role_names[ROLES] = {"system", "user", "assistant"};

/* How a family writes; strings that are no token stay text. */
struct hx_chat_family {
    const char *name;
    const char *has[MARKS], *lacks[MARKS]; /* marks of a template by which it is known */
    const char *tokens[MARKS];             /* control tokens without which it cannot be written */
    const char *roles[ROLES];              /* NULL: no such turn, see lead */
    struct {
        const char *open;  /* before the role */
        const char *close; /* behind the role */
        const char *space; /* before the text */
        const char *end[2];
    } turn[ROLES];
    const char *system_open, *system_close; /* around a system message that has no turn */
    int cuts;     /* white space at both ends of a text */
    int bos;      /* the template writes BOS: 1 before the first turn, 2 before each user turn */
    int eos;      /* and EOS behind each reply */
};

#define INST(after, tail)                                                                          \
    {                                                                                              \
        [USER] = {"[INST]", NULL, " ", {after, "[/INST]"}}, [ASSISTANT] = {.space = tail}          \
    }
#define SAME(open, close, space, end, tail)                                                        \
    {                                                                                              \
        {open, close, space, {end, tail}}, {open, close, space, {end, tail}},                      \
            {open, close, space, {end, tail}}                                                      \
    }

static const struct hx_chat_family families[] = {
    {.name = "chatml", .has = {"<|im_start|>"}, .lacks = {"<|im_sep|>"},
     .tokens = {"<|im_start|>", "<|im_end|>"}, .roles = {"system", "user", "assistant"},
     .turn = SAME("<|im_start|>", NULL, "\n", "<|im_end|>", "\n")},
    {.name = "llama-3", .has = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     .tokens = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     .roles = {"system", "user", "assistant"}, .cuts = 1, .bos = 1,
     .turn = SAME("<|start_header_id|>", "<|end_header_id|>", "\n\n", "<|eot_id|>", NULL)},
    {.name = "gemma", .has = {"<start_of_turn>"}, .tokens = {"<start_of_turn>", "<end_of_turn>"},
     .roles = {NULL, "user", "model"}, .cuts = 1, .bos = 1, .system_close = "\n\n",
     .turn = SAME("<start_of_turn>", NULL, "\n", "<end_of_turn>", "\n")},
    {.name = "llama-2", .has = {"[INST]", "<<SYS>>"}, .roles = {NULL, "", ""}, .cuts = 1, .bos = 2,
     .eos = 1, .system_open = "<<SYS>>\n", .system_close = "\n<</SYS>>\n\n",
     .turn = {[USER] = {"[INST]", NULL, " ", {" ", "[/INST]"}},
              [ASSISTANT] = {.space = " ", .end = {" "}}}},
    {.name = "mistral", .has = {"[INST]", "[AVAILABLE_TOOLS]"},
     .lacks = {"<<SYS>>", "[SYSTEM_PROMPT]", "\"[INST]\""}, .roles = {NULL, "", ""}, .bos = 1,
     .eos = 1, .system_close = "\n\n", .turn = INST(NULL, " ")},
    {.name = "mistral-v1", .has = {"[INST]"},
     .lacks = {"<<SYS>>", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]"}, .roles = {NULL, "", ""},
     .bos = 1, .eos = 1, .system_close = "\n\n", .turn = INST(" ", NULL)},
};

static const char all_names[] = "chatml, llama-3, gemma, llama-2, mistral, mistral-v1";

const char *hx_chat_families(void)
{
    return all_names;
}

const char *hx_chat_name(const struct hx_chat *c)
{
    return c->family->name;
}

static int contains(struct hx_str s, const char *mark)
{
    return memmem(s.p, s.n, mark, strlen(mark)) != NULL;
}

static int is_known_by(const struct hx_chat_family *f, struct hx_str template)
{
    for (size_t i = 0; i < MARKS && f->has[i]; i++)
        if (!contains(template, f->has[i]))
            return 0;
    for (size_t i = 0; i < MARKS && f->lacks[i]; i++)
        if (contains(template, f->lacks[i]))
            return 0;
    return 1;
}

static int by_template(struct hx_chat *c, const struct hx_gguf *g, struct hx_error *err)
{
    struct hx_str template;
    int rc;

    if (!hx_gguf_find(g, TEMPLATE))
        return hx_error_set(err, -ENOENT, "%s: no " TEMPLATE "; choose a family with --chat=FAMILY: "
                          "%s", hx_gguf_name(g), all_names);
    rc = hx_gguf_str(g, TEMPLATE, &template, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < LEN(families) && !c->family; i++)
        if (is_known_by(&families[i], template))
            c->family = &families[i];
    return c->family ? 0 : hx_error_set(err, -EINVAL, "%s: " TEMPLATE " is of no family that is known "
                                      "here; choose one with --chat=FAMILY: %s", hx_gguf_name(g),
                                      all_names);
}

static int by_name(struct hx_chat *c, const char *name, struct hx_error *err)
{
    for (size_t i = 0; i < LEN(families); i++)
        if (strcmp(families[i].name, name) == 0)
            c->family = &families[i];
    return c->family ? 0 : hx_error_set(err, -EINVAL, "chat family '%s' is unknown; known: %s", name,
                                      all_names);
}

static int check_tokens(const struct hx_chat *c, struct hx_error *err)
{
    for (size_t i = 0; i < MARKS && c->family->tokens[i]; i++)
        if (hx_tokenizer_special(c->tok, c->family->tokens[i]) == HX_NO_TOKEN)
            return hx_error_set(err, -EINVAL, "chat family %s: the vocabulary has no special token %s",
                              c->family->name, c->family->tokens[i]);
    if (c->family->eos && hx_tokenizer_eos(c->tok) == HX_NO_TOKEN)
        return hx_error_set(err, -EINVAL, "chat family %s: the tokenizer has no eos_token_id",
                            c->family->name);
    return 0;
}

int hx_chat_init(struct hx_chat *c, const struct hx_tokenizer *t, const struct hx_gguf *g,
                 const char *family, struct hx_error *err)
{
    int rc;

    *c = (struct hx_chat){.tok = t};
    rc = family ? by_name(c, family, err) : by_template(c, g, err);
    return rc ? rc : check_tokens(c, err);
}

/* Parts of the conversation as it is written. */
struct writer {
    const struct hx_chat *chat;
    struct hx_text_part *parts;
    size_t n;
};

static void put_token(struct writer *w, uint32_t id)
{
    if (id != HX_NO_TOKEN)
        w->parts[w->n++] = (struct hx_text_part){.token = id};
}

static void put_text(struct writer *w, struct hx_str s)
{
    w->parts[w->n++] = (struct hx_text_part){s, HX_NO_TOKEN};
}

/* A string of the family: a token where the vocabulary has it as one. */
static void put_mark(struct writer *w, const char *s)
{
    const uint32_t id = s ? hx_tokenizer_special(w->chat->tok, s) : HX_NO_TOKEN;

    if (id != HX_NO_TOKEN)
        put_token(w, id);
    else if (s)
        put_text(w, (struct hx_str){s, strlen(s)});
}

static int is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct hx_str cut(const struct hx_chat_family *f, struct hx_str s)
{
    while (f->cuts && s.n && is_white(s.p[s.n - 1]))
        s.n--;
    for (; f->cuts && s.n && is_white(s.p[0]); s.n--)
        s.p++;
    return s;
}

static void open_turn(struct writer *w, enum role role)
{
    const struct hx_chat_family *f = w->chat->family;

    put_mark(w, f->turn[role].open);
    put_mark(w, f->roles[role]);
    put_mark(w, f->turn[role].close);
}

static void put_turn(struct writer *w, enum role role, const struct hx_chat_message *m,
                     const struct hx_chat_message *system)
{
    const struct hx_chat_family *f = w->chat->family;

    if (f->bos == 2 && role == USER && w->n > 1)
        put_token(w, hx_tokenizer_bos(w->chat->tok));
    open_turn(w, role);
    put_mark(w, f->turn[role].space);
    if (system) {
        put_mark(w, f->system_open);
        put_text(w, cut(f, system->text));
        put_mark(w, f->system_close);
    }
    put_text(w, cut(f, m->text));
    put_mark(w, f->turn[role].end[0]);
    put_mark(w, f->turn[role].end[1]);
    if (f->eos && role == ASSISTANT)
        put_token(w, hx_tokenizer_eos(w->chat->tok));
}

static enum role role_of(const char *name)
{
    enum role r = SYSTEM;

    while (r < ROLES && strcmp(role_names[r], name))
        r++;
    return r;
}

/* Families without a system turn want user and assistant in turn. */
static int check_order(const struct hx_chat *c, const struct hx_chat_message *messages, size_t n,
                       struct hx_error *err)
{
    const int strict = !c->family->roles[SYSTEM];
    const size_t first = strict && n && role_of(messages[0].role) == SYSTEM;

    for (size_t i = 0; i < n; i++) {
        const enum role r = role_of(messages[i].role);

        if (r == ROLES)
            return hx_error_set(err, -EINVAL, "chat message %zu has the role '%.64s'; system, user and "
                              "assistant are known", i + 1, messages[i].role);
        if (strict && i >= first && r != ((i - first) % 2 ? ASSISTANT : USER))
            return hx_error_set(err, -EINVAL, "chat message %zu is of role %s; family %s wants user and "
                              "assistant in turn, behind at most one system message", i + 1,
                              role_names[r], c->family->name);
    }
    if (n == first)
        return hx_error_set(err, -EINVAL, "chat: %s", n ? "a system message alone is no conversation"
                                                      : "no messages");
    return 0;
}

static void write_all(struct writer *w, const struct hx_chat_message *messages, size_t n,
                      int reply)
{
    const struct hx_chat_family *f = w->chat->family;
    const struct hx_chat_message *system = NULL;

    if (f->bos)
        put_token(w, hx_tokenizer_bos(w->chat->tok));
    for (size_t i = 0; i < n; i++) {
        const enum role r = role_of(messages[i].role);

        if (r == SYSTEM && !f->roles[SYSTEM]) {
            system = &messages[i];
            continue;
        }
        put_turn(w, r, &messages[i], system);
        system = NULL;
    }
    if (reply && *f->roles[ASSISTANT]) {
        open_turn(w, ASSISTANT);
        put_mark(w, f->turn[ASSISTANT].space);
    }
}

int hx_chat_render(const struct hx_chat *c, const struct hx_chat_message *messages, size_t n,
                   int reply, uint32_t **ids, size_t *n_ids, struct hx_error *err)
{
    struct writer w = {.chat = c};
    int rc = check_order(c, messages, n, err);

    *ids = NULL;
    *n_ids = 0;
    if (rc)
        return rc;
    w.parts = calloc(n + 1, PARTS_PER_MESSAGE * sizeof(*w.parts));
    rc = w.parts ? 0 : -ENOMEM;
    if (!rc) {
        write_all(&w, messages, n, reply);
        rc = hx_tokenizer_encode_parts(c->tok, w.parts, w.n, c->family->bos ? 0 : HX_ENCODE_BOS, ids,
                                       n_ids);
    }
    free(w.parts);
    return rc ? hx_error_set(err, rc, "chat: out of memory") : 0;
}
