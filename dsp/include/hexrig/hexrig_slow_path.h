/* Telling that a call takes a slow path.
 *
 * HVX loads and stores whole vectors at multiples of 128.  A skel that also takes buffers that lie elsewhere, with unaligned
 * accesses, by a copy or by scalar code, answers the same and only takes longer, which nobody notices.  So it says so where it finds
 * that out:
 *
 *     if ((uintptr_t)x % 128)
 *         HX_SLOW_PATH();
 *
 * and the call, or the packet of a dspqueue, counts in `slow_path_calls` of the client's figures: once, however often it is said.  To be
 * called by the thread that serves the call.  For hexagon-clang it vanishes. */
#ifndef HEXRIG_SLOW_PATH_H
#define HEXRIG_SLOW_PATH_H

#if defined(__hexagon__) && !defined(__LP64__)
#define HX_SLOW_PATH() ((void)0)
#else
#ifdef __cplusplus
extern "C" {
#endif

void hx_slow_path(void) __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#define HX_SLOW_PATH() hx_slow_path()
#endif

#endif
