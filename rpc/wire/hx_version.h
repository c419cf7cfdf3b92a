/* hexrig's version, "0.1.0", for programs and libraries that tell it: one object has the text, so that a new version compiles
 * one file. */
#ifndef HX_VERSION_H
#define HX_VERSION_H

extern const char hx_version[];

#endif
