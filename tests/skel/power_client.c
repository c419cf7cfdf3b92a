/* A client for tests/cases/power.sh: each argument is a call of power_skel.c (`vote=1`), or a node of the rig to print
 * (`cat=clock`).  A line per call: what it was, its result, and what it took on the virtual clock. */
#include <hx_rig.h>
#include <remote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const calls[] = {"vote", "latency", "hvx", "work", "vtcm", "say", "die"};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static remote_handle64 handle;

static int print_node(const char *node)
{
    char *text = NULL;
    int rc = hx_rig_read(NULL, node, &text);

    printf("%s", rc ? "no such node\n" : text);
    free(text);
    return rc;
}

static int call(int32_t what, int32_t arg)
{
    struct hx_session_stats before = {0}, after = {0};
    int32_t in[2] = {what, arg}, out = 0;
    remote_arg args[2] = {{.buf = {in, sizeof(in)}}, {.buf = {&out, sizeof(out)}}};
    int rc;

    hx_rig_session_stats(&before);
    rc = remote_handle64_invoke(handle, REMOTE_SCALARS_MAKE(2, 1, 1), args);
    hx_rig_session_stats(&after);
    printf("%s=%d rc=%#x out=%d dispatch_ns=%llu exec_ns=%llu\n", calls[what], arg, (unsigned)rc, out,
           (unsigned long long)(after.dispatch_ns - before.dispatch_ns),
           (unsigned long long)(after.exec_ns - before.exec_ns));
    return 0;
}

static int act(const char *word)
{
    const char *eq = strchr(word, '=');
    size_t n = eq ? (size_t)(eq - word) : strlen(word);

    if (eq && strncmp(word, "cat=", 4) == 0)
        return print_node(eq + 1);
    for (int i = 0; i < CALLS; i++)
        if (strlen(calls[i]) == n && strncmp(calls[i], word, n) == 0)
            return call(i, eq ? atoi(eq + 1) : 0);
    fprintf(stderr, "power_client: '%s'?\n", word);
    return 1;
}

int main(int argc, char **argv)
{
    int rc = remote_handle64_open("file:///libpower_skel.so?power_skel_handle_invoke&_modver=1.0&_dom=cdsp", &handle);

    if (rc) {
        fprintf(stderr, "power_client: open: %#x\n", (unsigned)rc);
        return 1;
    }
    for (int i = 1; i < argc && !rc; i++)
        rc = act(argv[i]);
    fflush(stdout);
    remote_handle64_close(handle);
    return rc != 0;
}
