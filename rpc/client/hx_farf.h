/* Messages of host programs that use FARF(): the functions behind that macro, of Qualcomm's HAP_farf.h and of ours (dsp/include), which
 * skels find in the DSP process.
 *
 * A message is a line on stderr, `libcdsprpc: LEVEL: file.c:12: text`.  ERROR, FATAL and ALWAYS, and what the program
 * has compiled in besides, is always written; RUNTIME_* is from the level on that HEXRIG_FARF names (LOW, MEDIUM, HIGH, ...).  Lines of
 * more than 511 bytes are cut.  Any thread. */
#ifndef HX_FARF_H
#define HX_FARF_H

#pragma GCC visibility push(default)
void HAP_debug_v2(int level, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
void HAP_debug_runtime(int level, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#pragma GCC visibility pop

#endif
