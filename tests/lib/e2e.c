/* Running `hexrig` in a folder of the test's own, and looking for what it left. */
#include "e2e.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *e2e_dir(void)
{
    static char dir[256];

    if (!*dir) {
        snprintf(dir, sizeof(dir), "%s/run", hxt_tmpdir());
        assert_int_equal(mkdir(dir, 0700), 0);
    }
    return dir;
}

void e2e_command(struct e2e_run *r, const char *words)
{
    static char exe[512];
    char *save = NULL;
    size_t n = 0;

    memset(r, 0, sizeof(*r));
    snprintf(exe, sizeof(exe), "%s/bin/hexrig", HXT_BUILD);
    r->argv[n++] = exe;
    assert_true(strlen(words) < sizeof(r->words));
    memcpy(r->words, words, strlen(words));
    for (char *w = strtok_r(r->words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        assert_true(n + 1 < E2E_MAX_ARGS);
        r->argv[n++] = strcmp(w, "PROMPT") == 0 ? "The king was" : w;
    }
    snprintf(r->env, sizeof(r->env), "XDG_RUNTIME_DIR=%s", e2e_dir());
    r->envs[0] = r->env;
    r->envs[1] = "HEXRIG_DEVICE";
    r->cmd = (struct hxt_cmd){.argv = r->argv, .env = r->envs, .timeout_s = E2E_TIMEOUT_S};
}

void e2e_tell_log(void)
{
    char path[300], line[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/hexrig.log", e2e_dir());
    f = fopen(path, "r");
    if (!f)
        return;
    fseek(f, -4000, SEEK_END); /* fails in a shorter one, which is read whole */
    while (fgets(line, sizeof(line), f))
        print_message("log: %s", line);
    fclose(f);
}

void e2e_run(struct hxt_result *res, const char *words)
{
    struct e2e_run r;

    e2e_command(&r, words);
    assert_int_equal(hxt_run(res, &r.cmd), 0);
    if (res->timed_out)
        fail_msg("hexrig %s: no end within %d s; stderr: %s", words, E2E_TIMEOUT_S, res->err);
}

json_t *e2e_json(const char *words)
{
    struct hxt_result res;
    json_error_t err;
    json_t *j;

    e2e_run(&res, words);
    if (res.exit_code != 0)
        fail_msg("hexrig %s: exit %d signal %d: %s", words, res.exit_code, res.signal, res.err);
    j = json_loads(res.out, 0, &err);
    if (!j)
        fail_msg("hexrig %s: not JSON: %s: %s", words, err.text, res.out);
    hxt_result_free(&res);
    return j;
}

double e2e_number(const json_t *j, const char *path)
{
    char key[64];

    while (strchr(path, '.')) {
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
        j = json_object_get(j, key);
        path += strlen(key) + 1;
    }
    j = json_object_get(j, path);
    if (!json_is_number(j))
        fail_msg("no number '%s' in the output", path);
    return json_number_value(j);
}

const char *e2e_text(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s ? s : "";
}

/* --- what is left */
static int e2e_mentions_dir(const char *path)
{
    size_t n, k = strlen(e2e_dir());
    char *text = hxt_read_file(path, &n);
    int hit = text && n >= k && memmem(text, n, e2e_dir(), k) != NULL;

    free(text);
    return hit;
}

/* State letter of a process. */
static char e2e_state(const char *pid)
{
    char *stat = hxt_read_file(hxt_path("/proc/%s/stat", pid), NULL), *p, c = 'X';

    if (stat && (p = strrchr(stat, ')')) && p[1] == ' ')
        c = p[2];
    free(stat);
    return c;
}

pid_t e2e_find(const char *name)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    pid_t found = 0;

    while (!found && (e = readdir(d))) {
        char *comm;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        comm = hxt_read_file(hxt_path("/proc/%s/comm", e->d_name), NULL);
        if (comm && strncmp(comm, name, strlen(name)) == 0 && e2e_state(e->d_name) != 'Z' &&
            e2e_mentions_dir(hxt_path("/proc/%s/environ", e->d_name)))
            found = (pid_t)atoi(e->d_name);
        free(comm);
    }
    closedir(d);
    return found;
}

static int e2e_dir_entries(void)
{
    DIR *d = opendir(e2e_dir());
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.' && strcmp(e->d_name, "hexrig.log") != 0;
    if (d)
        closedir(d);
    return n;
}

static int e2e_is_clean(void *err)
{
    *(const char **)err = e2e_find("hexrig")                      ? "a process"
                          : e2e_mentions_dir("/proc/self/mounts") ? "a mount"
                          : e2e_dir_entries()                     ? "a file or folder"
                                                                  : NULL;
    return *(const char **)err == NULL;
}

const char *e2e_left(void)
{
    const char *left = NULL;

    hxt_until(e2e_is_clean, &left, 10);
    return left;
}

void e2e_clean(void)
{
    const char *left = e2e_left();

    if (left)
        fail_msg("%s of a rig is left (%s)", left, e2e_dir());
}

int e2e_one_line(const char *text)
{
    const char *nl = strchr(text, '\n');

    return nl && nl != text && nl[1] == '\0';
}

void e2e_refused(const char *words, int code, const char *part)
{
    struct hxt_result res;

    e2e_run(&res, words);
    if (res.exit_code != code || !strstr(res.err, part) || !e2e_one_line(res.err) || *res.out)
        fail_msg("hexrig %s: want exit %d and one line with '%s', got exit %d, out '%s', err '%s'", words,
                 code, part, res.exit_code, res.out, res.err);
    hxt_result_free(&res);
    e2e_clean();
}

int e2e_have_fuse(void)
{
    return access("/dev/fuse", R_OK | W_OK) == 0;
}
