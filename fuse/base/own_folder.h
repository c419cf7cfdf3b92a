/* Where this program lies, and beside it what belongs to it. */
#ifndef HX_OWN_FOLDER_H
#define HX_OWN_FOLDER_H

#include <stddef.h>

/* Folder of this program's own file, without a trailing slash. */
void hx_own_folder(char *path, size_t bytes);

#endif
