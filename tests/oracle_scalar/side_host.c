/* Our side of the scalar oracle.
 * Usage: side_host check FILE      compares FILE (one number per intrinsic, from qemu or tests/data) with ours
 *        side_host digest FILE     such a file as text, for tests/data/scalar-oracle.txt
 *        side_host diff CASE       reads qemu's results of one case from stdin, prints the first that differs
 * Exit: 0 all equal, 1 not, 2 wrong usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scalar_oracle.h"

#define DUMP (1 << 18)

static int each_number(const char *path, int print)
{
    FILE *f = fopen(path, "rb");
    unsigned int good = 0, c = 0;
    uint64_t want;

    if (!f) {
        perror(path);
        return 1;
    }
    for (; c < CASES && fread(&want, sizeof(want), 1, f) == 1; c++) {
        if (print)
            printf("%016llx %s\n", (unsigned long long)want, cases[c].name);
        else if (run_case(&cases[c], c) == want)
            good++;
        else
            printf("mismatch %s case %u\n", cases[c].name, c);
    }
    fclose(f);
    if (print)
        return c != CASES;
    printf("scalar: verified %u/%u; not compared:%s\n", good, (unsigned int)CASES, NOT_COMPARED);
    return good != CASES;
}

static int diff(unsigned int c)
{
    static uint64_t ours[DUMP], theirs[DUMP];
    const size_t n = fread(theirs, sizeof(theirs[0]), DUMP, stdin);
    unsigned int per_vector;

    dump = ours;
    dump_size = DUMP;
    run_case(&cases[c], c);
    per_vector = dumped / cases[c].vectors ? dumped / cases[c].vectors : 1;
    for (size_t i = 0; i < n && i < dumped; i++) {
        struct input in;

        if (ours[i] == theirs[i])
            continue;
        state = (c + 1) * 0x9e3779b97f4a7c15u;
        for (size_t k = 0; k <= i / per_vector; k++)
            make_input(&in);
        printf("%s vector %zu call %zu: ours %llx theirs %llx\n", cases[c].name, i / per_vector,
               i % per_vector, (unsigned long long)ours[i], (unsigned long long)theirs[i]);
        for (int k = 0; k < 4; k++)
            printf("  r %08x  p %016llx  q %02x  f %a  g %a\n", (unsigned int)in.r[k],
                   (unsigned long long)in.p[k], (unsigned int)in.q[k], (double)in.f[k], in.g[k]);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "check"))
        return each_number(argv[2], 0);
    if (argc == 3 && !strcmp(argv[1], "digest"))
        return each_number(argv[2], 1);
    if (argc == 3 && !strcmp(argv[1], "diff"))
        return diff((unsigned int)atoi(argv[2]));
    fprintf(stderr, "usage: side_host check FILE | digest FILE | diff CASE\n");
    return 2;
}
