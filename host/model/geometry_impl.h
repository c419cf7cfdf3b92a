/* What the readers of geometries have in common. */
#ifndef HX_GEOMETRY_IMPL_H
#define HX_GEOMETRY_IMPL_H

#include "geometry.h"

enum { HX_GEOMETRY_MOST = 1 << 24 }; /* of any of its numbers */

/* Each fills *g, whose name is set.  text: of the whole file.  0, -EINVAL with "FILE:LINE: ...", or -ENOMEM. */
int hx_geometry_read_config(struct hx_geometry *g, const char *text, struct hx_error *err);
int hx_geometry_read_text(struct hx_geometry *g, const char *text, struct hx_error *err);

/* Of a file of this name.  0; as hx_gguf_open(), or -ENOENT for a key that is not there; messages name file, key,
 * value and what is legal. */
int hx_geometry_read_gguf(struct hx_geometry *g, struct hx_error *err);

/* LxHxD and so on, geometry.h. */
int hx_geometry_read_spec(struct hx_geometry *g, struct hx_error *err);

#endif
