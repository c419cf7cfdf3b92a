/* The oracle's side: bare Hexagon Linux user code, run by qemu-hexagon.
 * Usage: side_qemu FIRST LAST      numbers of all batches of cases FIRST..LAST-1 to stdout
 *        side_qemu -d CASE BATCH   every result of one batch */
#include "oracle.c"

#include "hexrig_hvx_count.h" /* the slot classes that the cases name */

#include "freestanding.h"

#include "cases.inc"

static unsigned char memory[ORACLE_REGION + 256] __attribute__((aligned(128)));
unsigned char *oracle_memory = memory;
static uint64_t numbers[ORACLE_BATCHES];
static uint64_t dump[ORACLE_BATCH * ORACLE_DUMP];

__attribute__((used)) void c_start(long *stack)
{
    char **argv = (char **)(stack + 1);

    if (argv[1][0] == '-') {
        const unsigned int c = number(argv[2]);

        oracle_batch(&oracle_cases[c], c, number(argv[3]), dump);
        put(dump, sizeof(dump));
    } else {
        for (unsigned int c = number(argv[1]); c < number(argv[2]); c++) {
            for (unsigned int b = 0; b < ORACLE_BATCHES; b++)
                numbers[b] = oracle_batch(&oracle_cases[c], c, b, 0);
            put(numbers, sizeof(numbers));
        }
    }
    syscall3(HX_SYS_EXIT_GROUP, 0, 0, 0);
}
