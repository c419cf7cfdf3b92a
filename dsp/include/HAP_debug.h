/* Messages from DSP code (published names); programs use FARF() of HAP_farf.h, which says where messages go. */
#ifndef HAP_DEBUG_H
#define HAP_DEBUG_H

#include "AEEStdDef.h"

#define HAP_LEVEL_LOW 0
#define HAP_LEVEL_MEDIUM 1
#define HAP_LEVEL_HIGH 2
#define HAP_LEVEL_ERROR 3
#define HAP_LEVEL_FATAL 4
#define HAP_LEVEL_CRITICAL 5
#define HAP_LEVEL_RUNTIME (1 << 5)

#ifdef __cplusplus
extern "C" {
#endif

/* A message that was compiled in: it is logged. */
void HAP_debug_v2(int level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void HAP_debug(const char *msg, int level, const char *filename, int line);

/* A message that is logged when the PD's mask has bit 1 << level, and `file` is one of its files. */
void HAP_debug_runtime(int level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the PD's mask (0x1f: everything) and the files whose messages pass; no files: all.  Names without folders, copied.
 * AEE_SUCCESS, or AEE_EBADPARM: more than 16 files, or a name of more than 63 bytes. */
int HAP_setFARFRuntimeLoggingParams(unsigned int mask, const char *files[],
                                    unsigned short numberOfFiles);

#ifdef __cplusplus
}
#endif

#endif
