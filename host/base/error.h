/* Why a call failed, in one line that a person can act on.
 *
 * Functions of the engine that can fail return 0 or a negative errno and, when `err` is not NULL, store one line there
 * that names the file, the thing, the value and the limit.  The caller prints it once. */
#ifndef HX_ERROR_H
#define HX_ERROR_H

struct hx_error {
    char text[512]; /* always terminated; "" when nothing failed */
};

/* Stores the formatted line (cut when too long) and returns rc, so that a failure is one statement. */
int hx_error_set(struct hx_error *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__ /* it sees one file at a time, and would think that a failure may return 0 */
#define hx_error_set(err, rc, ...) ((hx_error_set)(err, rc, __VA_ARGS__), rc)
#endif

#endif
