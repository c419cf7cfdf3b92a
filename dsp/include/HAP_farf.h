/* FARF: messages from DSP code (published names).
 *
 *   #define FARF_HIGH 1                  // before the include: this file's HIGH messages are always logged
 *   #include "HAP_farf.h"
 *   FARF(HIGH, "vtcm at %p", p);
 *   FARF(RUNTIME_LOW, "only when the mask says so");
 *
 * ERROR, FATAL and ALWAYS are logged; LOW, MEDIUM and HIGH where FARF_LOW and so on are 1, as on the device.  RUNTIME_* are
 * logged when the PD's mask has the level's bit (1 LOW, 2 MEDIUM, 4 HIGH, 8 ERROR, 16 FATAL).  The mask comes from
 * HAP_setFARFRuntimeLoggingParams() (HAP_debug.h), or from a file NAME.farf in a folder of DSP_LIBRARY_PATH or
 * ADSP_LIBRARY_PATH, NAME being the client's program: `0x1f`, or `0x1f file.c,other.c`.
 * Whatever these say, HEXRIG_FARF=LOW (MEDIUM, HIGH, ...) in the rig's environment logs everything from that level on.
 *
 * Messages go to the rig's log; a private rig's is the client's stderr.  More than 511 bytes are cut.  A level of one's own
 * needs FARF_NAME (0 or 1) and FARF_NAME_LEVEL (HAP_LEVEL_*). */
#ifndef HAP_FARF_H
#define HAP_FARF_H

#include "HAP_debug.h"

#ifdef _DEBUG
#ifndef FARF_HIGH
#define FARF_HIGH 1
#endif
#endif
#ifndef FARF_LOW
#define FARF_LOW 0
#endif
#ifndef FARF_MEDIUM
#define FARF_MEDIUM 0
#endif
#ifndef FARF_HIGH
#define FARF_HIGH 0
#endif
#ifndef FARF_ERROR
#define FARF_ERROR 1
#endif
#ifndef FARF_FATAL
#define FARF_FATAL 1
#endif
#ifndef FARF_CRITICAL
#define FARF_CRITICAL 0
#endif
#ifndef FARF_ALWAYS
#define FARF_ALWAYS 1
#endif
#define FARF_RUNTIME_LOW 1
#define FARF_RUNTIME_MEDIUM 1
#define FARF_RUNTIME_HIGH 1
#define FARF_RUNTIME_ERROR 1
#define FARF_RUNTIME_FATAL 1

#define FARF_LOW_LEVEL HAP_LEVEL_LOW
#define FARF_MEDIUM_LEVEL HAP_LEVEL_MEDIUM
#define FARF_HIGH_LEVEL HAP_LEVEL_HIGH
#define FARF_ERROR_LEVEL HAP_LEVEL_ERROR
#define FARF_FATAL_LEVEL HAP_LEVEL_FATAL
#define FARF_CRITICAL_LEVEL HAP_LEVEL_CRITICAL
#define FARF_ALWAYS_LEVEL HX_FARF_ALWAYS
#define FARF_RUNTIME_LOW_LEVEL (HAP_LEVEL_RUNTIME | HAP_LEVEL_LOW)
#define FARF_RUNTIME_MEDIUM_LEVEL (HAP_LEVEL_RUNTIME | HAP_LEVEL_MEDIUM)
#define FARF_RUNTIME_HIGH_LEVEL (HAP_LEVEL_RUNTIME | HAP_LEVEL_HIGH)
#define FARF_RUNTIME_ERROR_LEVEL (HAP_LEVEL_RUNTIME | HAP_LEVEL_ERROR)
#define FARF_RUNTIME_FATAL_LEVEL (HAP_LEVEL_RUNTIME | HAP_LEVEL_FATAL)

#define HX_FARF_ALWAYS 6

#define FARF(x, ...) hx_farf(FARF_##x, FARF_##x##_LEVEL, __FILE__, __LINE__, __VA_ARGS__)

#ifdef __cplusplus
extern "C" {
#endif
/* compiled_in: 0: HEXRIG_FARF alone can make it appear.  level: HAP_LEVEL_*, with HAP_LEVEL_RUNTIME or without. */
void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#ifdef __cplusplus
}
#endif

#endif
