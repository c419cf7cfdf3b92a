/* Finds one function in clang's assembly output: its blocks, their loops (from LLVM's comments), packets and lines. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"

struct reader {
    struct hx_function *f;
    struct hx_lpacket *open; /* between { and } */
    struct hx_frame frame;
    unsigned line;           /* of the listing */
    uint64_t where;
    bool inside, done;
};

static int bad(const struct reader *r, const char *problem, const char *text)
{
    fprintf(stderr, "%s:%u: %s: %s%s\n", r->f->path, r->line, r->f->name, problem, text);
    return -1;
}

/* One more zeroed element at the end of an array; the array grows by doubling. */
static void *append(void **array, size_t *n, size_t size)
{
    if ((*n & (*n - 1)) == 0) { /* full: counts 0, 1, 2, 4, ... */
        void *more = reallocarray(*array, *n ? 2 * *n : 1, size);
        if (!more)
            return NULL;
        *array = more;
    }
    void *slot = (char *)*array + *n * size;
    memset(slot, 0, size);
    (*n)++;
    return slot;
}

static struct hx_block *last_block(struct hx_function *f)
{
    return &f->block[f->blocks - 1];
}

static int begin_block(struct reader *r, const char *label)
{
    struct hx_function *f = r->f;
    struct hx_block *b = append((void **)&f->block, &f->blocks, sizeof(*b));

    if (!b)
        return bad(r, "no memory", "");
    snprintf(b->label, sizeof(b->label), "%.*s", (int)strcspn(label, ": \t\n"), label);
    b->first = f->packets;
    b->loop = -1;
    hx_frame_begin(&r->frame);
    return 0;
}

static void copy_word(char *to, size_t n, const char *from)
{
    snprintf(to, n, "%.*s", (int)strcspn(from, " \t\n"), from);
}

/* LLVM's words on the loop of a block, one fact per line:
 *     Parent Loop BB0_1 Depth=1          (outermost first, so that the last one is the loop around)
 *     =>  This Inner Loop Header: Depth=2
 *     in Loop: Header=BB0_1 Depth=1 */
static void note_comment(struct hx_block *b, const char *text)
{
    static const char parent[] = "Parent Loop ", in[] = "in Loop: Header=";
    const char *at;

    if ((at = strstr(text, parent)))
        copy_word(b->parent, sizeof(b->parent), at + strlen(parent));
    else if ((at = strstr(text, in)))
        copy_word(b->header, sizeof(b->header), at + strlen(in));
    else if (strstr(text, "Loop Header: Depth=")) {
        b->is_header = true;
        memcpy(b->header, b->label, sizeof(b->header));
    }
}

static int open_packet(struct reader *r)
{
    struct hx_function *f = r->f;

    if (r->open)
        return bad(r, "a packet inside a packet", "");
    r->open = append((void **)&f->packet, &f->packets, sizeof(*f->packet));
    if (!r->open)
        return bad(r, "no memory", "");
    r->open->where = r->where;
    return 0;
}

static int close_packet(struct reader *r, const char *text)
{
    struct hx_lpacket *p = r->open;

    if (!p)
        return bad(r, "the end of a packet that did not begin", "");
    for (int i = 0; i < HX_REGS; i++)
        if (p->forward[i])
            p->use[i] = HX_USE_NONE;
    p->ends_loop = strstr(text, ":endloop") != NULL;
    last_block(r->f)->packets++;
    r->open = NULL;
    return 0;
}

/* "\t.loc\t1 27 18 is_stmt 0": what follows comes from line 27 of file 1; line 0 belongs to none. */
static void note_loc(struct reader *r, const char *text)
{
    unsigned long file, line;

    if (sscanf(text, ".loc %lu %lu", &file, &line) == 2)
        r->where = line ? (uint64_t)file << 32 | line : 0;
}

/* A line with its indent and its comment taken off. */
static int read_code(struct reader *r, char *text)
{
    if (*text == '{')
        return open_packet(r);
    if (*text == '}')
        return close_packet(r, text);
    if (*text == '.') {
        note_loc(r, text);
        return 0;
    }
    if (!r->open)
        return bad(r, "not in a Hexagon packet: ", text);
    return hx_packet_add(r->open, &r->frame, text) ? bad(r, "not a Hexagon instruction: ", text) : 0;
}

/* A line in column 0: a label of a block, another label, or the end of the function. */
static int read_label(struct reader *r, const char *line)
{
    static const char fallthrough[] = "// %bb.";

    if (strncmp(line, ".Lfunc_end", 10) == 0) {
        r->done = true;
        return r->open ? bad(r, "the function ends inside a packet", "") : 0;
    }
    if (strncmp(line, ".LBB", 4) == 0)
        return begin_block(r, line + 2);
    if (strncmp(line, fallthrough, strlen(fallthrough)) == 0)
        return begin_block(r, line + 3);
    return 0;
}

static int read_inside(struct reader *r, char *line)
{
    bool label = *line && !isspace((unsigned char)*line);

    if (label && read_label(r, line))
        return -1;
    char *comment = strstr(line, "//");
    if (comment) {
        if (r->f->blocks)
            note_comment(last_block(r->f), comment);
        *comment = '\0';
    }
    if (label)
        return 0;
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
        line[n - 1] = '\0';
    if (!*line)
        return 0;
    if (!r->f->blocks && *line != '.')
        return bad(r, "code before the first block: is this a listing of clang for Hexagon?  ",
                   line);
    return read_code(r, line);
}

static void note_compiler(struct hx_function *f, const char *line)
{
    const char *at = strncmp(line, "\t.ident", 7) ? NULL : strstr(line, "clang version ");

    if (at)
        snprintf(f->compiler, sizeof(f->compiler), "%.*s", (int)(14 + strcspn(at + 14, " \"\n")),
                 at);
}

static int read_lines(struct reader *r, FILE *in)
{
    char *line = NULL;
    size_t cap = 0, n = strlen(r->f->name);
    int rc = 0;

    while (!rc && getline(&line, &cap, in) >= 0) {
        r->line++;
        if (r->inside && !r->done)
            rc = read_inside(r, line);
        else if (!r->done && strncmp(line, r->f->name, n) == 0 && line[n] == ':')
            r->inside = true;
        else
            note_compiler(r->f, line);
    }
    free(line);
    return rc;
}

static int loop_of_label(const struct hx_function *f, const char *header)
{
    for (size_t i = 0; i < f->loops; i++)
        if (strcmp(f->block[f->loop[i].header].label, header) == 0)
            return (int)i;
    return -1;
}

bool hx_loop_within(const struct hx_function *f, int loop, int outer)
{
    while (loop >= 0 && loop != outer)
        loop = f->loop[loop].parent;
    return loop == outer;
}

/* Headers may stand behind blocks of their loop, so this comes when all of them are known. */
static int resolve_loops(struct reader *r)
{
    struct hx_function *f = r->f;

    for (size_t i = 0; i < f->blocks; i++)
        if (f->block[i].is_header) {
            struct hx_listing_loop *l = append((void **)&f->loop, &f->loops, sizeof(*l));
            if (!l)
                return bad(r, "no memory", "");
            l->header = i;
            l->parent = -1;
        }
    for (size_t i = 0; i < f->loops; i++) {
        const char *parent = f->block[f->loop[i].header].parent;
        f->loop[i].parent = *parent ? loop_of_label(f, parent) : -1;
        if (*parent && f->loop[i].parent < 0)
            return bad(r, "no header of loop ", parent);
    }
    for (size_t i = 0; i < f->loops; i++) {
        unsigned depth = 0;
        for (int l = (int)i; l >= 0; l = f->loop[l].parent)
            if (++depth > f->loops)
                return bad(r, "loops inside each other", "");
        f->loop[i].depth = depth;
    }
    for (size_t i = 0; i < f->blocks; i++) {
        struct hx_block *b = &f->block[i];
        b->loop = *b->header ? loop_of_label(f, b->header) : -1;
        if (*b->header && b->loop < 0)
            return bad(r, "no header of loop ", b->header);
    }
    return 0;
}

int hx_function_read(struct hx_function *f, const char *path, const char *name)
{
    struct reader r = {.f = f};
    FILE *in = fopen(path, "r");

    *f = (struct hx_function){.path = path, .name = name};
    if (!in) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    int rc = read_lines(&r, in);
    fclose(in);
    if (rc)
        return rc;
    if (!r.inside) {
        fprintf(stderr, "%s: no function '%s' (a static one may be inlined: make it noinline)\n",
                path, name);
        return -1;
    }
    if (!r.done)
        return bad(&r, "the listing ends inside the function", "");
    if (!f->packets)
        return bad(&r, "no packets: is this a listing of clang for Hexagon?", "");
    return resolve_loops(&r);
}

void hx_function_free(struct hx_function *f)
{
    free(f->packet);
    free(f->block);
    free(f->loop);
    *f = (struct hx_function){0};
}

/* "kernel:      // @kernel" */
static const char *function_label(const char *line, size_t *n)
{
    const char *at = strstr(line, "// @");

    *n = strcspn(line, ": \t\n");
    return at && line[*n] == ':' && *n && *line != '.' && strncmp(at + 4, line, *n) == 0 ? line : NULL;
}

/* "\t.loc\t1 10 5 prologue_end             // kernel.c:10:5": kernel.c:10 */
static void note_where(struct hx_listing_name *f, const char *line)
{
    const char *at = strstr(line, "// "), *colon = at ? strrchr(at, ':') : NULL;

    if (!*f->where && colon && strncmp(line, "\t.loc\t", 6) == 0)
        snprintf(f->where, sizeof(f->where), "%.*s", (int)(colon - at - 3), at + 3);
}

int hx_listing_names(struct hx_listing_name **names, size_t *n, const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0, length;
    int rc = 0;

    *names = NULL;
    *n = 0;
    if (!in) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    while (!rc && getline(&line, &cap, in) >= 0) {
        struct hx_listing_name *f = *n ? *names + *n - 1 : NULL;
        if (function_label(line, &length)) {
            f = append((void **)names, n, sizeof(*f));
            rc = f ? 0 : -1;
            if (f)
                snprintf(f->name, sizeof(f->name), "%.*s", (int)length, line);
        } else if (f) {
            note_where(f, line);
        }
    }
    free(line);
    fclose(in);
    return rc;
}
