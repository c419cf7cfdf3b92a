/* Where the files lie that came with this program. */
#ifndef HX_SHARE_H
#define HX_SHARE_H

/* PREFIX/share/hexrig/NAME for PREFIX/bin/hexrig (NAME "": the folder).  malloc'ed; NULL: it cannot be told, or out of memory. */
char *hx_share(const char *name);

#endif
