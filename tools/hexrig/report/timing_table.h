/* The table of `hexrig report timing`. */
#ifndef HX_TIMING_TABLE_H
#define HX_TIMING_TABLE_H

/* Asks this process's rig for every published row and prints predicted beside measured, as text or JSON.  Returns an enum
 * hx_exit; messages in the name of `cmd`. */
int hx_timing_table(const char *cmd, int json);

#endif
