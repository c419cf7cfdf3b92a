/* Writes the script of a job array. */
#include "slurm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Slurm's MaxArraySize is 1001 where nobody has set it. */
enum { MOST_TASKS = 1000 };

/* A word as a shell reads it. */
static void put_word(const char *w)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=:+@%";

    if (*w && !w[strspn(w, plain)]) {
        fputs(w, stdout);
        return;
    }
    putchar('\'');
    for (; *w; w++)
        if (*w == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*w);
    putchar('\'');
}

static void put_head(size_t rows, size_t tasks)
{
    printf("#!/bin/sh\n"
           "#SBATCH --job-name=hexrig-density\n"
           "#SBATCH --array=0-%zu\n"
           "# %zu rows of hexrig density in %zu tasks.  As FILE, in a folder that all nodes share:\n"
           "#   job=$(sbatch --parsable FILE) && sbatch --array=0 --dependency=afterany:$job FILE merge\n"
           "# The second job measures what tasks have not, and prints all rows.\n"
           "step=${1:-task}\n",
           tasks - 1, rows, tasks);
}

static void put_steps(const char *exe, size_t tasks)
{
    fputs("hexrig=", stdout);
    put_word(exe);
    printf("\ncase $step in\n"
           "task) exec \"$hexrig\" density \"$@\" --part \"$SLURM_ARRAY_TASK_ID/%zu\" ;;\n"
           "merge) exec \"$hexrig\" density \"$@\" ;;\n"
           "esac\n"
           "echo \"$0: unknown step '$step'; legal: task, merge\" >&2\n"
           "exit 2\n",
           tasks);
}

int hx_slurm_print(const struct hx_sweep *s, const char *const *words, size_t n)
{
    const size_t units = hx_sweep_units(s, NULL), tasks = units < MOST_TASKS ? units : MOST_TASKS;
    char exe[PATH_MAX];
    const ssize_t got = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    if (got < 0)
        return hx_cmd_fail(s->o.cmd, "/proc/self/exe: %s", strerror(errno));
    exe[got] = '\0';
    put_head(hx_sweep_points(s), tasks);
    fputs("set --", stdout);
    for (size_t i = 0; i < n; i++) {
        putchar(' ');
        put_word(words[i]);
    }
    putchar('\n');
    put_steps(exe, tasks);
    return 0;
}
