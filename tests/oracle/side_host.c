/* Our side of the oracle.
 * Usage: side_host check FILE         compares FILE (numbers of all cases, from qemu or from
 * tests/data) with ours side_host digest FILE        one number per case of such a file side_host
 * diff CASE BATCH    reads qemu's dump of that batch from stdin and prints the first difference
 * Exit: 0 all equal, 1 not, 2 wrong usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "oracle.c"

#include "counted.h"

#include "cases.inc"

unsigned char *oracle_memory;
static uint64_t dump[ORACLE_BATCH * ORACLE_DUMP], theirs[ORACLE_BATCH * ORACLE_DUMP];

/* All batches of one case against a file's numbers; -1, or the first batch that differs. */
static int differs(unsigned int c, const uint64_t *want)
{
    for (int b = 0; b < ORACLE_BATCHES; b++)
        if (oracle_batch(&oracle_cases[c], c, (unsigned int)b, NULL) != want[b])
            return b;
    return -1;
}

static int check(const char *path)
{
    static uint64_t want[ORACLE_CASES][ORACLE_BATCHES];
    FILE *f = fopen(path, "rb");
    unsigned int verified = 0, scalars = 0;
    int bad = 0;

    if (!f || fread(want, sizeof(want), 1, f) != 1 || fgetc(f) != EOF) {
        fprintf(stderr, "oracle: %s: cannot read %zu bytes, or there are more\n", path,
                sizeof(want));
        return 1;
    }
    fclose(f);
    for (unsigned int c = 0; c < ORACLE_CASES;) {
        const char *name = oracle_cases[c].name;
        const int scalar = oracle_cases[c].slot < 0;
        int good = 1;

        for (; c < ORACLE_CASES && !strcmp(oracle_cases[c].name, name); c++) {
            const int b = differs(c, want[c]);

            if (b >= 0)
                printf("mismatch %s case %u batch %d\n", name, c, b);
            if (!oracle_counted(&oracle_cases[c], c))
                printf("miscounted %s case %u\n", name, c);
            if (b >= 0 || !oracle_counted(&oracle_cases[c], c))
                good = 0;
        }
        *(scalar ? &scalars : &verified) += (unsigned int)good;
        bad |= !good;
    }
    printf("verified %u/%d\nscalar intrinsics: %u/%d\n", verified, ORACLE_NAMES, scalars,
           ORACLE_SCALARS);
    return bad;
}

static int diff(unsigned int c, unsigned int b)
{
    oracle_batch(&oracle_cases[c], c, b, dump);
    if (fread(theirs, sizeof(theirs), 1, stdin) != 1)
        return 1;
    for (unsigned int k = 0; k < ORACLE_BATCH; k++)
        for (unsigned int i = 0; i < ORACLE_DUMP; i++) {
            const uint64_t x = dump[k * ORACLE_DUMP + i], y = theirs[k * ORACLE_DUMP + i];
            struct input in;

            if (x == y)
                continue;
            oracle_input(&in, c, b * ORACLE_BATCH + k, oracle_cases[c].memory);
            printf("%s vector %u word %u: ours %016llx theirs %016llx\n  r %08x u %016llx v "
                   "%016llx x %016llx rr %016llx\n",
                   oracle_cases[c].name, b * ORACLE_BATCH + k, i, (unsigned long long)x,
                   (unsigned long long)y, (unsigned int)in.r, (unsigned long long)in.uu_[i & 31],
                   (unsigned long long)in.vv_[i & 31], (unsigned long long)in.xx_[i & 31],
                   (unsigned long long)in.rr);
            return 1;
        }
    return 0;
}

/* One number per case out of a file's 64: what the offline test holds. */
static int digest(const char *path)
{
    static uint64_t n[ORACLE_BATCHES];
    FILE *f = fopen(path, "rb");

    if (!f)
        return 1;
    for (unsigned int c = 0; c < ORACLE_CASES && fread(n, sizeof(n), 1, f) == 1; c++)
        printf("%016llx %s\n", (unsigned long long)oracle_digest(n), oracle_cases[c].name);
    fclose(f);
    return 0;
}

int main(int argc, char **argv)
{
    oracle_memory = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (oracle_memory == MAP_FAILED) {
        perror("oracle: mmap at 512 MiB");
        return 1;
    }
    if (argc == 3 && !strcmp(argv[1], "check"))
        return check(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "digest"))
        return digest(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "diff"))
        return diff((unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]));
    fprintf(stderr, "usage: side_host check FILE | digest FILE | diff CASE BATCH\n");
    return 2;
}
