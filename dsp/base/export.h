/* What hexrig-dsp offers to skels: everything else is hidden (-fvisibility=hidden), so that a skel cannot come to use it. */
#ifndef HX_EXPORT_H
#define HX_EXPORT_H

#define HX_EXPORT __attribute__((visibility("default")))

#endif
