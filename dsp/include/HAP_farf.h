/* FARF: messages from DSP code (published names).
 *
 *   FARF(HIGH, "vtcm at %p", p);
 *
 * ERROR, FATAL and ALWAYS go to the rig's log (a private rig: the client's stderr); the others when HEXRIG_FARF names
 * their level or a lower one (LOW, MEDIUM, HIGH) in the rig's environment. */
#ifndef HAP_FARF_H
#define HAP_FARF_H

enum hx_farf_level {
    HX_FARF_LOW,
    HX_FARF_MEDIUM,
    HX_FARF_HIGH,
    HX_FARF_ERROR,
    HX_FARF_FATAL,
    HX_FARF_ALWAYS
};

#define FARF(level, ...) hx_farf(HX_FARF_##level, __FILE__, __LINE__, __VA_ARGS__)

#ifdef __cplusplus
extern "C" {
#endif
void hx_farf(enum hx_farf_level level, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#ifdef __cplusplus
}
#endif

#endif
