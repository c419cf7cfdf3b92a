/* Tells rigs apart in a log that they share: the value of this environment variable of driver and DSP stands behind the
 * program's name in each line, "hexrig-fuse[4711]: text". */
#ifndef HX_LOG_TAG_H
#define HX_LOG_TAG_H

#define HX_LOG_TAG "HEXRIG_LOG_TAG"

#endif
