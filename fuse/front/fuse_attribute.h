/* Extended attributes of the device nodes: the text nodes (hx_text_attribute.h). */
#ifndef HX_FUSE_ATTRIBUTE_H
#define HX_FUSE_ATTRIBUTE_H

#include <stddef.h>

struct fuse_req;
struct hx_driver;

/* Answers getxattr() of `name` with room for `bytes` bytes, 0 for its length alone. */
void hx_fuse_attribute(struct fuse_req *req, struct hx_driver *d, const char *name, size_t bytes);

#endif
