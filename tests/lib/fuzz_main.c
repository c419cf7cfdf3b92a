/* A small mutation fuzzer: the main() of every fuzz_X program, which supplies
 *     int hxt_fuzz_one(const uint8_t *data, size_t n);   0 = fine, anything else = a finding, as bad as a crash
 *
 *     fuzz_X [--seconds S] [--seed N] [--corpus DIR] [--max-len N] [--crash-file F] [FILE...]
 *
 * Runs every corpus file and FILE once, then mutated copies for S seconds (default 0).  The current input lies in a
 * shared mapping of the crash file, so it is on disk whatever way the process dies; the file is removed at a clean end.
 * Replaying a finding: fuzz_X CRASHFILE.  Exit codes: 0 clean, 1 a finding, 2 wrong usage. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "input_limit.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);

struct entry {
    uint8_t *bytes;
    size_t n;
};

static struct {
    const char *name;
    struct entry *corpus;
    size_t n_corpus;
    size_t max_len;         /* bytes of one input */
    uint8_t *input;         /* [max_len]: scratch that the mutations work on */
    char crash_file[PATH_MAX];
    int crash_fd;
    uint8_t *crash;         /* shared mapping of the crash file, [max_len] */
    uint64_t rng, runs, seed;
} f;

static uint64_t rnd(void)
{
    f.rng ^= f.rng << 13; /* xorshift64 (Marsaglia 2003): speed matters, quality does not */
    f.rng ^= f.rng >> 7;
    f.rng ^= f.rng << 17;
    return f.rng;
}

static size_t below(size_t n)
{
    return n ? (size_t)(rnd() >> 16) % n : 0;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "fuzz %s: %s: %s\n", f.name, what, strerror(errno));
    exit(2);
}

/* Says where the input is; the default action then produces the exit status that the parent sees. */
static void on_signal(int sig)
{
    static const char before[] = "\nfuzz: crash, input kept in ";

    if (write(2, before, sizeof(before) - 1) < 0 ||
        write(2, f.crash_file, strlen(f.crash_file)) < 0 || write(2, "\n", 1) < 0)
        _exit(1);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void expired(void)
{
    static const char why[] = "\nfuzz: the input takes too long";

    (void)!write(2, why, sizeof(why) - 1);
    abort();
}

static void catch_signals(void)
{
    static const int own[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    size_t n = sizeof(own) / sizeof(own[0]);

#if defined(__SANITIZE_ADDRESS__)
    n = 1; /* the sanitizer reports the others better, and then aborts */
#endif
    for (size_t i = 0; i < n; i++)
        signal(own[i], on_signal);
}

static void open_crash_file(void)
{
    f.crash_fd = open(f.crash_file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (f.crash_fd < 0 || ftruncate(f.crash_fd, (off_t)f.max_len))
        die(f.crash_file);
    f.crash = mmap(NULL, f.max_len, PROT_READ | PROT_WRITE, MAP_SHARED, f.crash_fd, 0);
    if (f.crash == MAP_FAILED)
        die(f.crash_file);
}

static void run_one(const uint8_t *bytes, size_t n)
{
    /* an exact-size heap copy, so that a read past the end is seen by ASan */
    uint8_t *copy = malloc(n ? n : 1);

    if (!copy)
        die("malloc");
    memcpy(f.crash, bytes, n);
    if (ftruncate(f.crash_fd, (off_t)n)) /* the file is the input, nothing behind it */
        die(f.crash_file);
    memcpy(copy, bytes, n);
    input_limit_begin(INPUT_LIMIT_S, expired);
    int finding = hxt_fuzz_one(copy, n);
    input_limit_end();
    free(copy);
    f.runs++;
    if (finding) {
        fprintf(stderr, "fuzz %s: finding %d, input kept in %s\n", f.name, finding, f.crash_file);
        exit(1);
    }
    if (ftruncate(f.crash_fd, (off_t)f.max_len))
        die(f.crash_file);
}

/* --- mutations: each changes input[0..n) and returns the new length */

static size_t flip_bits(uint8_t *p, size_t n)
{
    for (size_t k = 1 + below(8); n && k; k--)
        p[below(n)] ^= (uint8_t)(1u << below(8));
    return n;
}

static size_t set_integer(uint8_t *p, size_t n)
{
    static const uint64_t interesting[] = {
        0, 1, 2, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096, 65535, 65536,
        0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
        UINT64_MAX,
    };
    uint64_t v = interesting[below(sizeof(interesting) / sizeof(interesting[0]))];
    size_t width = (size_t)1 << below(4);

    if (rnd() & 1)
        v += below(9) - 4;
    if (n >= width)
        memcpy(p + below(n - width + 1), &v, width);
    return n;
}

static size_t set_bytes(uint8_t *p, size_t n)
{
    for (size_t k = 1 + below(4); n && k; k--)
        p[below(n)] = (uint8_t)rnd();
    return n;
}

static size_t copy_block(uint8_t *p, size_t n)
{
    size_t len = 1 + below(n > 64 ? 64 : n);

    if (n >= len)
        memmove(p + below(n - len + 1), p + below(n - len + 1), len);
    return n;
}

static size_t erase_block(uint8_t *p, size_t n)
{
    size_t len = n ? 1 + below(n > 64 ? 64 : n) : 0, at = below(n - len + 1);

    memmove(p + at, p + at + len, n - at - len);
    return n - len;
}

static size_t insert_block(uint8_t *p, size_t n)
{
    size_t len = 1 + below(64), at = below(n + 1), fill = rnd() & 1;

    if (n + len > f.max_len)
        return n;
    memmove(p + at + len, p + at, n - at);
    for (size_t i = 0; i < len; i++)
        p[at + i] = fill ? 0 : (uint8_t)rnd();
    return n + len;
}

static size_t splice_two(uint8_t *p, size_t n)
{
    const struct entry *other = &f.corpus[below(f.n_corpus)];
    size_t head = below(n + 1), from = below(other->n + 1), len = other->n - from;

    if (len > f.max_len - head)
        len = f.max_len - head;
    memcpy(p + head, other->bytes + from, len);
    return head + len;
}

static size_t truncate_tail(uint8_t *p, size_t n)
{
    (void)p;
    return below(n + 1);
}

typedef size_t mutation(uint8_t *p, size_t n);

static mutation *const mutations[] = {
    flip_bits, set_integer, set_integer, set_bytes, copy_block,
    erase_block, insert_block, splice_two, truncate_tail,
};

static void run_mutated(void)
{
    const struct entry *e = &f.corpus[below(f.n_corpus)];
    size_t n = e->n;

    memcpy(f.input, e->bytes, n);
    for (size_t k = 1 + below(6); k; k--)
        n = mutations[below(sizeof(mutations) / sizeof(mutations[0]))](f.input, n);
    run_one(f.input, n);
}

/* --- corpus */

static void add_entry(const uint8_t *bytes, size_t n)
{
    struct entry *grown = realloc(f.corpus, (f.n_corpus + 1) * sizeof(*grown));

    if (!grown)
        die("malloc");
    f.corpus = grown;
    grown[f.n_corpus].bytes = malloc(n ? n : 1);
    if (!grown[f.n_corpus].bytes)
        die("malloc");
    memcpy(grown[f.n_corpus].bytes, bytes, n);
    grown[f.n_corpus++].n = n;
}

static void add_file(const char *path)
{
    FILE *in = fopen(path, "rb");

    if (!in)
        die(path);
    size_t n = fread(f.input, 1, f.max_len, in);
    if (ferror(in))
        die(path);
    if (fgetc(in) != EOF)
        fprintf(stderr, "fuzz %s: %s cut to --max-len %zu bytes\n", f.name, path, f.max_len);
    fclose(in);
    add_entry(f.input, n);
}

/* In name order, so that a seed means the same everywhere. */
static void add_folder(const char *path)
{
    struct dirent **list;
    int n = scandir(path, &list, NULL, alphasort);

    if (n < 0)
        die(path);
    for (int i = 0; i < n; i++) {
        char full[PATH_MAX];
        struct stat st;

        snprintf(full, sizeof(full), "%s/%s", path, list[i]->d_name);
        if (stat(full, &st) == 0 && S_ISREG(st.st_mode))
            add_file(full);
        free(list[i]);
    }
    free(list);
}

static double number(const char *text, const char *option)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || v < 0) {
        fprintf(stderr, "fuzz %s: %s '%s' is not a number >= 0\n", f.name, option, text);
        exit(2);
    }
    return v;
}

static const struct option options[] = {
    {"seconds", required_argument, NULL, 's'},   {"seed", required_argument, NULL, 'r'},
    {"corpus", required_argument, NULL, 'c'},    {"max-len", required_argument, NULL, 'm'},
    {"crash-file", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {0},
};

static const char help[] =
    "[--seconds S] [--seed N] [--corpus DIR] [--max-len BYTES] [--crash-file F] [FILE...]\n"
    "Runs the corpus and the files once, then mutations of them for S seconds (default 0).\n"
    "  --max-len BYTES   of one input (default 65536)\n"
    "  --crash-file F    where the input of a finding is kept (default crash-NAME in this folder)\n"
    "Example: fuzz_msg --seconds 60 --corpus tests/data/fuzz/msg\n";

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *corpus_dir = NULL;
    double seconds = 0;
    int o;

    f.name = slash ? slash + 1 : argv[0];
    if (strncmp(f.name, "fuzz_", 5) == 0)
        f.name += 5;
    f.max_len = 65536;
    if (getrandom(&f.seed, 4, 0) != 4)
        f.seed = (uint64_t)time(NULL);
    snprintf(f.crash_file, sizeof(f.crash_file), "crash-%s", f.name);
    while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        switch (o) {
        case 's': seconds = number(optarg, "--seconds"); break;
        case 'r': f.seed = (uint64_t)number(optarg, "--seed"); break;
        case 'c': corpus_dir = optarg; break;
        case 'm': f.max_len = (size_t)number(optarg, "--max-len"); break;
        case 'f': snprintf(f.crash_file, sizeof(f.crash_file), "%s", optarg); break;
        case 'h': printf("usage: %s %s", argv[0], help); return 0;
        default: return 2;
        }
    }
    f.rng = f.seed * 0x9E3779B97F4A7C15u + 1;
    f.input = malloc(f.max_len ? f.max_len : 1);
    if (!f.input || f.max_len == 0)
        die("--max-len");
    if (corpus_dir)
        add_folder(corpus_dir);
    for (int i = optind; i < argc; i++)
        add_file(argv[i]);
    if (!f.n_corpus)
        add_entry(f.input, 0); /* something to mutate */
    fprintf(stderr, "fuzz %s: seed %llu, %zu inputs\n", f.name, (unsigned long long)f.seed,
            f.n_corpus);
    open_crash_file();
    catch_signals();

    double start = now_s();
    for (size_t i = 0; i < f.n_corpus; i++)
        run_one(f.corpus[i].bytes, f.corpus[i].n);
    while (now_s() - start < seconds)
        run_mutated();
    unlink(f.crash_file);
    printf("fuzz %s: runs=%llu seconds=%.0f crashes=0\n", f.name, (unsigned long long)f.runs,
           now_s() - start);
    return 0;
}
