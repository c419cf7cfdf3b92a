/* Programs that are run to their end, with a text from or for them. */
#ifndef HX_PROCESS_H
#define HX_PROCESS_H

#include <stddef.h>

#include "args.h"

/* Exit status of the program, 128 + the signal that ended it, or 127 with a line on stderr when it could not be started.
 * `input`: what it reads; NULL: this program's stdin. */
int hx_process_run(const struct hx_arg_list *args, const char *input, size_t bytes);

/* The same; `*output` is what it wrote, the caller frees it. */
int hx_process_read(const struct hx_arg_list *args, char **output, size_t *bytes);

#endif
