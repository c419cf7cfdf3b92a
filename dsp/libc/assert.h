/* <assert.h> to compile kernels for Hexagon where the compiler has no C library. */
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : hx_libc_assert_failed())
#endif

#ifndef HEXRIG_LIBC_ASSERT_H
#define HEXRIG_LIBC_ASSERT_H

#if !defined(__cplusplus) && !defined(static_assert)
#define static_assert _Static_assert
#endif
#ifdef __cplusplus
extern "C"
#endif
void hx_libc_assert_failed(void);

#endif
