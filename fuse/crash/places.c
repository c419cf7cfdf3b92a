/* Runs addr2line once for each file that has an address, confined: what it reads is hostile. */
#include "places.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

enum { ADDRESSES_MAX = 64 };

const char *hx_place_file(const struct hx_place *p)
{
    const char *slash = p->map && p->map->path ? strrchr(p->map->path, '/') : NULL;

    return slash ? slash + 1 : "?";
}

/* Of the pair of lines that addr2line prints for an address, "??" and "??:0" for what it does not know. */
static void take(char *to, size_t room, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    line[strcspn(line, "(")] = '\0'; /* " (discriminator 3)" */
    for (size_t n = strlen(line); n && line[n - 1] == ' '; n--)
        line[n - 1] = '\0';
    if (strncmp(line, "??", 2) != 0 && strstr(line, ":?") == NULL)
        snprintf(to, room, "%s", line);
}

static bool read_answers(FILE *f, struct hx_place **which, size_t n)
{
    char line[1024];
    size_t i;

    for (i = 0; i < n && fgets(line, sizeof(line), f); i++) {
        take(which[i]->function, sizeof(which[i]->function), line);
        if (!fgets(line, sizeof(line), f))
            break;
        take(which[i]->line, sizeof(which[i]->line), line);
    }
    return i == n;
}

/* Of the first folder of PATH that has one, into path[room]; landlock wants to know which program it is to let through. */
static bool find_addr2line(char *path, size_t room)
{
    const char *folder = getenv("PATH");

    while (folder && *folder) {
        const size_t n = strcspn(folder, ":");

        snprintf(path, room, "%.*s/addr2line", (int)n, folder);
        if (*folder == '/' && access(path, X_OK) == 0)
            return true;
        folder += n + (folder[n] == ':');
    }
    return false;
}

/* A child that prints to `out`, or -1. */
static pid_t start_confined(const char *program, char *const *argv, const char *path, int out)
{
    const pid_t pid = fork();

    if (pid)
        return pid;
    if (dup2(out, STDOUT_FILENO) == STDOUT_FILENO && hx_confine_reader(path) == 0)
        execv(program, argv);
    _exit(127);
}

/* All of one file.  False: there is no addr2line. */
static bool ask(const char *path, struct hx_place **which, size_t n)
{
    char number[ADDRESSES_MAX][24], program[4096];
    char *argv[ADDRESSES_MAX + 6] = {"addr2line", "-f", "-C", "-e", (char *)path};
    int out[2];
    FILE *f;
    pid_t pid;

    if (!find_addr2line(program, sizeof(program)))
        return false;
    for (size_t i = 0; i < n; i++) {
        snprintf(number[i], sizeof(number[i]), "0x%llx", (unsigned long long)which[i]->in_file);
        argv[5 + i] = number[i];
    }
    if (pipe2(out, O_CLOEXEC))
        return true;
    pid = start_confined(program, argv, path, out[1]);
    close(out[1]);
    f = fdopen(out[0], "r");
    if (f) {
        read_answers(f, which, n);
        fclose(f);
    } else {
        close(out[0]);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return true;
}

static void look_up(struct hx_place *p, uint64_t address, bool is_return, const struct hx_maps *maps)
{
    *p = (struct hx_place){.map = hx_maps_find(maps, address)};
    p->is_code = p->map && p->map->executable && hx_map_file_address(p->map, address - is_return, &p->in_file);
}

bool hx_places_find(struct hx_place *place, const uint64_t *address, size_t n, const struct hx_maps *maps)
{
    bool done[ADDRESSES_MAX] = {false}, there = true;
    struct hx_place *which[ADDRESSES_MAX];

    if (n > ADDRESSES_MAX)
        n = ADDRESSES_MAX;
    for (size_t i = 0; i < n; i++) {
        look_up(&place[i], address[i], i > 0, maps);
        done[i] = !place[i].is_code;
    }
    for (size_t i = 0; i < n && there; i++) {
        size_t k = 0;

        for (size_t j = i; j < n && !done[i]; j++)
            if (!done[j] && strcmp(place[j].map->path, place[i].map->path) == 0)
                which[k++] = &place[j];
        if (!k)
            continue;
        there = ask(place[i].map->path, which, k);
        for (size_t j = i; j < n; j++)
            for (size_t l = 0; l < k; l++)
                done[j] |= which[l] == &place[j];
    }
    return there;
}
