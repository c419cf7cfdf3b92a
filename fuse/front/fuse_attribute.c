/* See fuse_attribute.h. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver.h"
#include "fuse_attribute.h"
#include "hx_text_attribute.h"

void hx_fuse_attribute(struct fuse_req *req, struct hx_driver *d, const char *name, size_t bytes)
{
    const size_t prefix = strlen(HX_TEXT_ATTRIBUTE);
    char *text = strncmp(name, HX_TEXT_ATTRIBUTE, prefix) == 0 ? hx_driver_node_text(d, name + prefix) : NULL;
    const size_t n = text ? strlen(text) : 0;

    if (!text)
        fuse_reply_err(req, ENODATA);
    else if (n > HX_TEXT_ATTRIBUTE_MAX)
        fuse_reply_err(req, E2BIG);
    else if (!bytes)
        fuse_reply_xattr(req, n);
    else if (bytes < n)
        fuse_reply_err(req, ERANGE);
    else
        fuse_reply_buf(req, text, n);
    free(text);
}
