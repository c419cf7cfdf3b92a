/* What the rig knows of a crash, on the client's stderr, where the rig itself writes to a file: most who see the code of a crash
 * would not look there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_crash_note.h"
#include "hx_rig.h"
#include "hx_rig_internal.h"

/* The last report about this process: the lines behind "crash=2 session=1 pid=OURS ...", each with two spaces before it. */
static const char *last_report(const char *text)
{
    const char *found = NULL;
    char key[32];

    snprintf(key, sizeof(key), " pid=%d ", (int)getpid());
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *end = strchr(line, '\n'), *at = strstr(line, key);

        if (strncmp(line, "crash=", 6) == 0 && end && at && at < end)
            found = end + 1;
    }
    return found;
}

static void print_report(const char *line)
{
    while (line && strncmp(line, "  ", 2) == 0) {
        int n = (int)strcspn(line, "\n");

        fprintf(stderr, "hexrig: %.*s\n", n - 2, line + 2);
        line = strchr(line, '\n');
        line += line != NULL;
    }
}

void hx_crash_note(void)
{
    char log[8], *text;

    if (hx_rig_program_reports() || hx_rig_read(NULL, "crashes", &text))
        return;
    if (*hx_rig_value(text, "log", log, sizeof(log))) /* else it is on some terminal already */
        print_report(last_report(text));
    free(text);
}
