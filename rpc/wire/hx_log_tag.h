/* A log that several rigs share tells them apart: what this variable of driver's and DSP's environment says stands behind the
 * program's name in each line, "hexrig-fuse[4711]: text". */
#ifndef HX_LOG_TAG_H
#define HX_LOG_TAG_H

#define HX_LOG_TAG "HEXRIG_LOG_TAG"

#endif
