/* End-to-end tests of the `hexrig` command: every run gets its own XDG_RUNTIME_DIR, so that its rigs, sockets and
 * processes can be told from anybody else's, and nothing of them may be left. */
#ifndef E2E_H
#define E2E_H

#include <ctype.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"

#define E2E_MAX_ARGS 40

/* Sanitizer builds are several times slower. */
#define E2E_TIMEOUT_S 180

const char *e2e_dir(void);

struct e2e_run {
    const char *argv[E2E_MAX_ARGS];
    char words[1024]; /* what argv points into */
    char env[300];
    const char *envs[3];
    struct hxt_cmd cmd;
};

/* hexrig with space-separated `words`; the word PROMPT stands for a prompt of several words.  r must stay. */
void e2e_command(struct e2e_run *r, const char *words);

void e2e_run(struct hxt_result *res, const char *words);

/* Runs with --json and returns the object (json_decref). */
json_t *e2e_json(const char *words);

double e2e_number(const json_t *j, const char *path);

const char *e2e_text(const json_t *j, const char *key);

/* Prints what the rigs of this test logged last. */
void e2e_tell_log(void);

/* Finds a process (not a zombie) of this test by the start of its name; 0 = none. */
pid_t e2e_find(const char *name);

/* No process, mount, socket or folder of this test's rigs is left (they get 10 s to end). */
void e2e_clean(void);
const char *e2e_left(void); /* what is, in words, or NULL */

int e2e_one_line(const char *text);

/* A command that has to fail with `code`, say one line that contains `part`, print nothing, and leave nothing. */
void e2e_refused(const char *words, int code, const char *part);

int e2e_have_fuse(void);

#endif
