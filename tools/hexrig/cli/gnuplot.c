/* Feeds gnuplot. */
#include "gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"

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

int hx_gnuplot_check(const char *cmd, const char *path)
{
    if (!ends_in(path, ".svg") && !ends_in(path, ".png"))
        return hx_cmd_bad_value(cmd, "plot", path, "FILE.svg, FILE.png");
    if (!is_installed("gnuplot"))
        return hx_cmd_fail(cmd, "--plot: gnuplot is not installed (Debian: apt-get install gnuplot-nox); nothing was measured");
    return 0;
}

/* In single quotes: '' is one. */
void hx_gnuplot_text(const struct hx_gnuplot *g, const char *t)
{
    fputc('\'', g->script);
    for (; *t; t++)
        fprintf(g->script, *t == '\'' ? "''" : (unsigned char)*t < ' ' ? "?" : "%c", *t);
    fputc('\'', g->script);
}

int hx_gnuplot_begin(struct hx_gnuplot *g, const char *title)
{
    g->script = tmpfile();
    if (!g->script)
        return hx_cmd_fail(g->cmd, "--plot: %s", strerror(errno));
    fprintf(g->script, "set terminal %s size 960,600\nset output ", ends_in(g->path, ".svg") ? "svg" : "png");
    hx_gnuplot_text(g, g->path);
    fputs("\nset title ", g->script);
    hx_gnuplot_text(g, title);
    fputs(" noenhanced\nset key outside noenhanced\nset grid\n", g->script);
    return 0;
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

int hx_gnuplot_draw(struct hx_gnuplot *g)
{
    pid_t pid;
    int rc = fflush(g->script) || fseek(g->script, 0, SEEK_SET) ? errno : 0;

    if (!rc)
        rc = spawn(&pid, fileno(g->script));
    fclose(g->script);
    g->script = NULL;
    if (rc)
        return hx_cmd_fail(g->cmd, "--plot: gnuplot: %s", strerror(rc));
    return wait_for(pid) ? hx_cmd_fail(g->cmd, "--plot: gnuplot could not draw %s", g->path) : 0;
}
