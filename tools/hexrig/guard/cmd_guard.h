/* The actions of `hexrig guard`.  Each gets its own argv (argv[0] = "hexrig guard ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_GUARD_H
#define HX_CMD_GUARD_H

int hx_guard_cmd_build(int argc, char **argv);
int hx_guard_cmd_topics(int argc, char **argv);
int hx_guard_cmd_mcb(int argc, char **argv);
int hx_guard_cmd_ogd(int argc, char **argv);

#endif
