/* FastRPC scalars: one u32 that names a method and counts its arguments.
 *
 *   31..29 attributes   28..24 method   23..16 in buffers   15..8 out buffers   7..4 in handles   3..0 out handles
 *
 * Method 31 means "the real method id is the first u32 of in buffer 0".  Spelling as published in remote.h. */
#ifndef HX_REMOTE_SCALARS_H
#define HX_REMOTE_SCALARS_H

#define REMOTE_SCALARS_METHOD_ATTR(sc) (((sc) >> 29) & 0x7)
#define REMOTE_SCALARS_METHOD(sc) (((sc) >> 24) & 0x1f)
#define REMOTE_SCALARS_INBUFS(sc) (((sc) >> 16) & 0xff)
#define REMOTE_SCALARS_OUTBUFS(sc) (((sc) >> 8) & 0xff)
#define REMOTE_SCALARS_INHANDLES(sc) (((sc) >> 4) & 0xf)
#define REMOTE_SCALARS_OUTHANDLES(sc) ((sc) & 0xf)

#define REMOTE_SCALARS_MAKEX(attr, method, in, out, in_handles, out_handles)                       \
    ((((uint32_t)(attr) & 0x7) << 29) | (((uint32_t)(method) & 0x1f) << 24) |                      \
     (((uint32_t)(in) & 0xff) << 16) | (((uint32_t)(out) & 0xff) << 8) |                           \
     (((uint32_t)(in_handles) & 0xf) << 4) | ((uint32_t)(out_handles) & 0xf))
#define REMOTE_SCALARS_MAKE(method, in, out) REMOTE_SCALARS_MAKEX(0, method, in, out, 0, 0)

#define REMOTE_SCALARS_LENGTH(sc)                                                                  \
    (REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc) + REMOTE_SCALARS_INHANDLES(sc) +       \
     REMOTE_SCALARS_OUTHANDLES(sc))

#endif
