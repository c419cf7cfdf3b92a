/* Lists with commas, see list.h. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"

int hx_spec_read_words(const char *cmd, const char *option, const char *list, struct hx_spec_words *w)
{
    char *rest = w->text = strdup(list);

    if (!rest)
        return hx_cmd_fail(cmd, "out of memory");
    for (w->n = 0; rest;) {
        char *word = strsep(&rest, ",");

        if (!*word)
            return hx_cmd_usage(cmd, "--%s: value %zu of the list is empty", option, w->n + 1);
        if (w->n == HX_SPEC_LIST)
            return hx_cmd_usage(cmd, "--%s: more than %d values", option, HX_SPEC_LIST);
        w->at[w->n++] = word;
    }
    return 0;
}

int hx_spec_read_numbers(const char *cmd, const char *option, const char *list, size_t min, size_t max, struct hx_spec_numbers *n)
{
    struct hx_spec_words words = {NULL};
    int rc = hx_spec_read_words(cmd, option, list, &words);

    for (n->n = 0; !rc && n->n < words.n; n->n++)
        rc = hx_opt_size(cmd, option, words.at[n->n], min, max, &n->at[n->n]);
    free(words.text);
    return rc;
}
