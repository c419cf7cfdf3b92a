/* hexrig-crash: looks at a user PD that has crashed and waits, and prints where it was.  The driver starts it (fuse/core/crash.h); it is
 * not a command for users. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "brief.h"
#include "core_file.h"
#include "places.h"

/* "SIGSEGV", and what si_code and the address say more. */
static void print_signal(const struct hx_crash *c)
{
    static const struct {
        int signal, code;
        const char *what;
    } reasons[] = {
        {SIGSEGV, SEGV_MAPERR, "nothing is mapped at"},      {SIGSEGV, SEGV_ACCERR, "not allowed at"},
        {SIGSEGV, 128 /* SI_KERNEL */, "an address that cannot be, or misaligned, from"},
        {SIGBUS, BUS_ADRALN, "misaligned at"},               {SIGBUS, BUS_ADRERR, "no memory behind"},
        {SIGFPE, FPE_INTDIV, "division by zero at"},         {SIGFPE, FPE_INTOVF, "overflow at"},
        {SIGILL, ILL_ILLOPN, "no such instruction at"},      {SIGILL, ILL_ILLOPC, "no such instruction at"},
    };
    const char *name = sigabbrev_np(c->signal);

    if (name)
        printf("crash: SIG%s", name);
    else
        printf("crash: signal %d", c->signal);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].signal == c->signal && reasons[i].code == c->code)
            printf(", %s 0x%llx", reasons[i].what, (unsigned long long)c->address);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int is_hexrigs(const struct hx_place *p)
{
    return strcmp(hx_place_file(p), "hexrig-dsp") == 0;
}

/* Of a skel, or of a library beside it: neither ours nor the system's. */
static int is_users(const struct hx_place *p)
{
    static const char *const system_folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

    for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]) && p->is_code; i++)
        if (strncmp(p->map->path, system_folders[i], strlen(system_folders[i])) == 0)
            return 0;
    return p->is_code && !is_hexrigs(p);
}

/* The first frame in a user's code, best with its line: abort(), or a library function that was called wrongly, is not the place. */
static const struct hx_place *culprit(const struct hx_place *p, unsigned n)
{
    for (int without = 0; without < 2; without++)
        for (unsigned i = 0; i < n; i++)
            if (is_users(&p[i]) && (p[i].line[0] || without))
                return &p[i];
    return &p[0];
}

static void print_head(const struct hx_crash_brief *b, const struct hx_place *p, unsigned n)
{
    const struct hx_place *at = culprit(p, n);

    print_signal(&b->crash);
    if (at->function[0])
        printf(", in %s()", at->function);
    if (at->line[0])
        printf(" at %s", base_name(at->line));
    if (at->is_code)
        printf(", %s", hx_place_file(at));
    if (b->title[0]) /* calculator.sum, or "calculator method 2" */
        printf(strstr(b->title, " method ") ? ", %s" : ", method %s", b->title);
    putchar('\n');
}

static void print_frame(unsigned i, uint64_t address, const struct hx_place *p)
{
    printf("crash:   #%u 0x%llx", i, (unsigned long long)address);
    if (p->function[0])
        printf(" %s()", p->function);
    if (p->line[0])
        printf(" at %s", p->line);
    if (p->is_code)
        printf(" [%s+0x%llx]", hx_place_file(p), (unsigned long long)p->in_file);
    else
        printf(p->map ? " [no code of a file]" : " [nothing is mapped there]");
    putchar('\n');
}

/* How many there are up to where hexrig called the skel. */
static unsigned frames_of_skel(const struct hx_place *p, unsigned n)
{
    static const char *const callers[] = {"hx_module_invoke", "run", "worker"};

    for (unsigned i = 1; i < n; i++)
        for (size_t k = 0; k < sizeof(callers) / sizeof(callers[0]) && is_hexrigs(&p[i]); k++)
            if (strcmp(p[i].function, callers[k]) == 0)
                return i;
    return n;
}

/* Of a recursion one of each frame. */
static void print_frames(const struct hx_crash *c, const struct hx_place *p, unsigned n)
{
    for (unsigned i = 0, last; i < n; i = last + 1) {
        print_frame(i, c->frame[i], &p[i]);
        for (last = i; last + 1 < n && c->frame[last + 1] == c->frame[i]; last++)
            ;
        if (last > i)
            printf("crash:   #%u to #%u are the same\n", i + 1, last);
    }
}

static void print_hints(const struct hx_place *p, unsigned n, int have_addr2line)
{
    if (!have_addr2line)
        puts("crash:   functions and lines need addr2line, of binutils, in the rig's PATH");
    else if (!culprit(p, n)->line[0])
        puts("crash:   lines need a skel that is built with -g");
}

int main(void)
{
    struct hx_crash_brief b;
    struct hx_place place[HX_CRASH_FRAMES];
    struct hx_maps maps = {0};
    unsigned n;
    int have;

    alarm(HX_CRASH_LOOK_S);
    if (fread(&b, sizeof(b), 1, stdin) != 1) {
        fprintf(stderr, "hexrig-crash: started by the driver of a rig, not by hand\n");
        return 2;
    }
    b.title[sizeof(b.title) - 1] = '\0';
    n = b.crash.n_frames < HX_CRASH_FRAMES ? b.crash.n_frames : HX_CRASH_FRAMES;
    hx_maps_read(&maps, b.pid); /* what it could not have is missing below */
    have = hx_places_find(place, b.crash.frame, n, &maps);
    if (n) {
        print_head(&b, place, n);
        print_frames(&b.crash, place, frames_of_skel(place, n));
        print_hints(place, n, have);
    }
    fflush(stdout); /* what is known is told, whatever becomes of the core file */
    hx_core_write(&b, &maps);
    hx_maps_free(&maps);
    return 0;
}
