/* The flags of a skel: what lib/pkgconfig/hexrig-skel.pc says, without pkg-config. */
#ifndef HX_SKEL_FLAGS_H
#define HX_SKEL_FLAGS_H

/* Value of `Cflags` or `Libs` in the file, ${variables} replaced; the caller frees it.  NULL: no such file, or no such line in it. */
char *hx_skel_flags(const char *prefix, const char *key);

#endif
