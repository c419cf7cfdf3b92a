/* A Chrome / Perfetto trace in JSON: slices on tracks, written as they come.
 *
 * Slices of one track must not overlap unless one lies inside the other, or viewers drop them.  So a track is taken for a whole
 * stretch of time, and calls that really overlapped (several threads of one client) get tracks beside each other. */
#ifndef HX_TRACE_FILE_H
#define HX_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hx_profile;

/* Kinds of tracks, in the order in which viewers show them inside a session. */
enum hx_track_kind { HX_TRACK_CALLS, HX_TRACK_THREAD, HX_TRACK_DMA, HX_TRACK_HVX };

struct hx_track {
    unsigned session; /* 1.. */
    enum hx_track_kind kind;
    unsigned lane;
    unsigned copy;       /* 1..: of tracks that are the same otherwise */
    uint64_t busy_until; /* ns */
};

struct hx_trace_file {
    FILE *f;
    bool has_events;
    struct hx_track *track; /* [n_tracks]; index + 1 is the track's number in the file */
    unsigned n_tracks;
    const struct hx_profile *profile; /* whose times these are, borrowed; NULL: the file does not say */
};

/* Of what a file says about itself under otherData. */
enum { HX_TRACE_FILE_VERSION = 1 };

/* Opens and truncates.  0 or negative errno. */
int hx_trace_file_open(struct hx_trace_file *t, const char *path);

/* Completes the file: 0, or negative errno when something of it could not be written.  `lost`: events that were not
 * recorded, which the file says under otherData. */
int hx_trace_file_close(struct hx_trace_file *t, uint64_t lost);

/* Names a session; once, before its first track. */
void hx_trace_file_session(struct hx_trace_file *t, unsigned session, int client_id);

/* The number of a track that is free from start_ns to end_ns, and takes it; `name` is for a new one.  0: no memory. */
unsigned hx_trace_file_track(struct hx_trace_file *t, unsigned session, enum hx_track_kind kind,
                             unsigned lane, const char *name, uint64_t start_ns, uint64_t end_ns);

/* One slice; track: of hx_trace_file_track(), 0 = nothing happens.  args: members of a JSON object, or "". */
void hx_trace_file_slice(struct hx_trace_file *t, unsigned track, const char *name,
                         uint64_t start_ns, uint64_t end_ns, const char *args);

#endif
