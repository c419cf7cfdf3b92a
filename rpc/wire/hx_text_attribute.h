/* A rig's text nodes as extended attributes of its device nodes: for who has one of these alone, bind-mounted in /dev or in a container.
 *
 * Only under `fuse`.  The attribute of `status` is "user.hexrig.status"; Linux allows 64 KiB. */
#ifndef HX_TEXT_ATTRIBUTE_H
#define HX_TEXT_ATTRIBUTE_H

#define HX_TEXT_ATTRIBUTE "user.hexrig."

enum { HX_TEXT_ATTRIBUTE_MAX = 65536 };

#endif
