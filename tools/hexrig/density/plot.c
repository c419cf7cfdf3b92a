/* Feeds gnuplot. */
#include "plot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);

    return n > m && strcmp(path + n - m, suffix) == 0;
}

static int is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char *all = strdup(path ? path : "/usr/bin:/bin"), *rest = all, file[4096];
    int found = 0;

    for (char *dir; !found && rest && (dir = strsep(&rest, ":"));)
        found = snprintf(file, sizeof(file), "%s/%s", *dir ? dir : ".", program) < (int)sizeof(file) && access(file, X_OK) == 0;
    free(all);
    return found;
}

int hx_plot_check(const struct hx_sweep *s, const char *path)
{
    if (!ends_in(path, ".svg") && !ends_in(path, ".png"))
        return hx_cmd_bad_value(s->o.cmd, "plot", path, "FILE.svg, FILE.png");
    if (!is_installed("gnuplot"))
        return hx_cmd_fail(s->o.cmd, "--plot: gnuplot is not installed (Debian: apt-get install gnuplot-nox); nothing was measured");
    return 0;
}

/* --- the script */

/* In single quotes, as gnuplot has them: '' is one. */
static void put_text(FILE *f, const char *t)
{
    fputc('\'', f);
    for (; *t; t++)
        fprintf(f, *t == '\'' ? "''" : (unsigned char)*t < ' ' ? "?" : "%c", *t);
    fputc('\'', f);
}

/* What rows of one line have in common: all that is swept, and the density.  The caller frees. */
static char *label(const struct hx_sweep *s, const json_t *row)
{
    char *text = strdup(json_string_value(json_object_get(row, "density"))), *longer;

    for (size_t i = 0; text && i < s->n_swept; i++) {
        const char *value = json_string_value(json_object_get(row, s->swept[i].name));
        int rc = asprintf(&longer, "%s, %s", text, value ? value : "none");

        free(text);
        text = rc < 0 ? NULL : longer;
    }
    return text;
}

/* Rows of a line follow each other. */
static void put_lines(FILE *f, const struct hx_sweep *s, const json_t *rows)
{
    const size_t n = json_array_size(rows);
    const char *separator = "plot ";

    for (size_t i = 0, next; i < n; i = next) {
        char *name = label(s, json_array_get(rows, i));

        fprintf(f, "%s'-' using 1:2 with linespoints linewidth 2 title ", separator);
        put_text(f, name ? name : "");
        separator = ", ";
        for (next = i + 1; next < n; next++) {
            char *other = label(s, json_array_get(rows, next));
            const int same = name && other && strcmp(name, other) == 0;

            free(other);
            if (!same)
                break;
        }
        free(name);
    }
    fputc('\n', f);
}

static void put_data(FILE *f, const struct hx_sweep *s, const json_t *rows)
{
    char *last = NULL;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) {
        char *name = label(s, row);

        if (last && name && strcmp(last, name) != 0)
            fputs("e\n", f);
        fprintf(f, "%lld %.12g\n", (long long)json_integer_value(json_object_get(row, "pos")),
                json_number_value(json_object_get(json_object_get(row, "model_us_per_token"), "total")) / 1000);
        free(last);
        last = name;
    }
    free(last);
    fputs("e\n", f);
}

static void put_script(FILE *f, const struct hx_sweep *s, const char *path, const json_t *rows)
{
    const struct hx_sweep_case *c = &s->cases[0];
    char title[256];

    snprintf(title, sizeof(title), "What a token costs by dispatch density: %s", c->shape.name ? c->shape.name : s->o.model);
    fprintf(f, "set terminal %s size 960,600\nset output ", ends_in(path, ".svg") ? "svg" : "png");
    put_text(f, path);
    fputs("\nset title ", f);
    put_text(f, title);
    fputs(" noenhanced\nset key outside noenhanced\nset grid\nset logscale y\nset xlabel 'position'\nset ylabel 'ms per token, modelled'\n",
          f);
    if (s->pos[0] > 0)
        fputs("set logscale x 2\n", f);
    put_lines(f, s, rows);
    put_data(f, s, rows);
}

/* --- the process */

/* rc: 0 or an errno. */
static int spawn(pid_t *pid, int in)
{
    char *argv[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t a;
    int rc = posix_spawn_file_actions_init(&a);

    if (rc)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&a, in, STDIN_FILENO);
    if (!rc)
        rc = posix_spawnp(pid, argv[0], &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    return rc;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

int hx_plot_rows(const struct hx_sweep *s, const char *path, const json_t *rows)
{
    FILE *script = tmpfile();
    pid_t pid;
    int rc;

    if (!json_array_size(rows)) {
        if (script)
            fclose(script);
        return hx_cmd_fail(s->o.cmd, "--plot: there is no row to draw");
    }
    if (!script)
        return hx_cmd_fail(s->o.cmd, "--plot: %s", strerror(errno));
    put_script(script, s, path, rows);
    rc = fflush(script) || fseek(script, 0, SEEK_SET) ? errno : 0;
    if (!rc)
        rc = spawn(&pid, fileno(script));
    fclose(script);
    if (rc)
        return hx_cmd_fail(s->o.cmd, "--plot: gnuplot: %s", strerror(rc));
    return wait_for(pid) ? hx_cmd_fail(s->o.cmd, "--plot: gnuplot could not draw %s", path) : 0;
}
