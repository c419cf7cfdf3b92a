/* The `control` node: commands that change a running rig. */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

int hx_control(struct hx_driver *d, const char *text, size_t n, char *why, size_t why_bytes)
{
    static const char verb[] = "filter ";
    char line[1024];
    const char *what;

    if (n >= sizeof(line)) {
        snprintf(why, why_bytes, "control: %zu bytes, at most %zu", n, sizeof(line) - 1);
        return -E2BIG;
    }
    snprintf(line, sizeof(line), "%.*s", (int)n, text);
    line[strcspn(line, "\n")] = '\0';
    what = line + sizeof(verb) - 1;
    if (strncmp(line, verb, sizeof(verb) - 1) == 0 && *what == '+')
        return hx_filter_push(&d->filters, what + 1, &d->profile, why, why_bytes);
    if (strncmp(line, verb, sizeof(verb) - 1) == 0 && *what == '-')
        return hx_filter_remove(&d->filters, what + 1, why, why_bytes);
    snprintf(why, why_bytes, "control: '%s' is not `filter +NAME:...` or `filter -NAME`", line);
    return -EINVAL;
}
