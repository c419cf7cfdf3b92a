/* The file of --resume: each row of a sweep as it is done, so that an interrupted sweep goes on where it was.
 *
 * Lines of JSON: {"hexrig_density": 1, "sweep": {...}}, where `sweep` says all that rows depend on, then for each row
 * {"key": {...}, "line": {...}}: what is swept, density and position; and the line of work.h.  A last line without its end was not
 * written to the end, and is cut off.
 *
 * Processes that measure parts of a sweep have a file each, FILE.rank0, FILE.rank1, ..., of the same form; besides, lines of rows that
 * failed ({"failed": ...} in place of a row), and a last line {"over": STATUS}.  Such a file's first byte is locked as long as its process
 * lives.  Whoever opens FILE takes over what is left of them. */
#ifndef HX_DENSITY_RESUME_H
#define HX_DENSITY_RESUME_H

#include "sweep.h"

#include <limits.h>

enum { HX_RESUME_VERSION = 1, HX_RESUME_WAIT_S = 120 };

struct hx_resume {
    int fd;      /* -1: there is no file */
    json_t *old; /* "key" as text -> line, of rows that were there */
};

/* A file that somebody else writes, as far as it has been read. */
struct hx_resume_reader {
    char path[PATH_MAX];
    long end;     /* behind the last whole line */
    size_t lines; /* so many */
    int over;     /* the last line was there */
    int status;   /* and said that: an enum hx_exit */
};

/* path NULL: nothing is kept.  Returns an enum hx_exit after a message: a file of another sweep, or none, with the line; or somebody who
 * still writes a part of it, for HX_RESUME_WAIT_S. */
int hx_resume_open(struct hx_resume *r, const struct hx_sweep *s, const char *path);

/* A part's file: of process `rank` of those that measure for `path`.  It goes on where it was. */
int hx_resume_open_part(struct hx_resume *r, const struct hx_sweep *s, const char *path, size_t rank);

/* FILE.rankN.  0, or an enum hx_exit after a message: it is too long. */
int hx_resume_part_path(char out[PATH_MAX], const struct hx_sweep *s, const char *path, size_t rank);

/* Reads the lines that are new into r->old; no file has none.  Returns an enum hx_exit after a message. */
int hx_resume_read(struct hx_resume *r, const struct hx_sweep *s, struct hx_resume_reader *f);

/* 1: the process that writes a part is alive.  0: it is not, or has not begun, or the file is not there. */
int hx_resume_is_written(const struct hx_resume_reader *f);

/* Removes all parts, whatever is in them. */
void hx_resume_drop_parts(const char *path);

/* The line of a point that is there, borrowed; NULL: it is not. */
json_t *hx_resume_find(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p);

/* Adds a point's line.  Returns an enum hx_exit after a message. */
int hx_resume_add(const struct hx_resume *r, const struct hx_sweep *s, const struct hx_sweep_point *p, json_t *line);

/* A part's last line. */
int hx_resume_add_end(const struct hx_resume *r, const struct hx_sweep *s, int status);

/* The first line of all such files: what rows depend on.  And whether a file's is that of this sweep: 0, or HX_EXIT_USAGE after a
 * message. */
int hx_resume_write_head(const struct hx_sweep *s, int fd);
int hx_resume_check_head(const struct hx_sweep *s, const char *path, const json_t *head);

/* Writes a line, which it releases.  Returns an enum hx_exit after a message. */
int hx_resume_write_line(const struct hx_sweep *s, int fd, json_t *j);

void hx_resume_close(struct hx_resume *r);

#endif
