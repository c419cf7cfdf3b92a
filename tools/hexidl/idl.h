/* The IDL compiler: reads the IDL that FastRPC projects use and writes a header, a stub and a skel (docs/idl.md).
 *
 * One struct hx_idl is one compilation.  It owns every string and every part of the tree until hx_idl_close().  Threads
 * may work on different compilations.  Memory that cannot be had ends the process with a message. */
#ifndef HX_IDL_H
#define HX_IDL_H

#include <stddef.h>

struct hx_idl;

/* Reads a whole file: malloc'ed bytes and *n, or NULL when there is no such file. */
typedef char *hx_idl_reader(const char *path, size_t *n);

/* The reader of the programs: files of this machine, at most 16 MiB. */
char *hx_idl_read_file(const char *path, size_t *n);

/* Compiles the file `path` and what it includes; an include is looked for beside the file that includes it, then in
 * dirs[0..n_dirs).  Returns 0 or -EINVAL, then hx_idl_error() says where and why.  *out is set in both cases. */
int hx_idl_compile(struct hx_idl **out, const char *path, hx_idl_reader *read,
                   const char *const *dirs, size_t n_dirs);
void hx_idl_close(struct hx_idl *idl); /* accepts NULL */

/* "file:line:column: message" of the first error, or NULL. */
const char *hx_idl_error(const struct hx_idl *idl);

/* --- output of a compilation without an error; each returns malloc'ed text */

/* Name of the file's interface number n, from 0 on; NULL when there are not so many. */
const char *hx_idl_interface(const struct hx_idl *idl, size_t n);

/* What the skel does with the code that an implementation returns. */
enum hx_idl_codes {
    HX_IDL_CODES_AS_RETURNED, /* it travels untouched */
    HX_IDL_CODES_DSP,         /* a plain AEE code gets the DSP's offset; one that has it stays */
};

char *hx_idl_header(const struct hx_idl *idl);
/* Of interface n, which must exist.  invoke: the function that methods with a handle call, of the prototype of
 * remote_handle64_invoke(), which NULL stands for. */
char *hx_idl_stub(const struct hx_idl *idl, size_t n, const char *invoke);
char *hx_idl_skel(const struct hx_idl *idl, size_t n, enum hx_idl_codes codes);

/* One line per method, its wire format: `2 sum sc=0x02020100 in=4:vecLen@0 rout=8:res@0`.  `sc+`: a call has more buffers, one
 * or more for each element of a sequence.  Interfaces after the first begin with a line `interface NAME`. */
char *hx_idl_layout(const struct hx_idl *idl);

/* The command: `hexidl FILE.idl -o DIR`, and `hexrig idl`.  argv[0] is what messages call it.  Returns an exit code. */
int hx_idl_main(int argc, char **argv);

#endif
