/* The actions of `hexrig ugt`.  Each gets its own argv (argv[0] = "hexrig ugt ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_UGT_H
#define HX_CMD_UGT_H

int hx_ugt_cmd_build(int argc, char **argv);
int hx_ugt_cmd_refine(int argc, char **argv);
int hx_ugt_cmd_overlap(int argc, char **argv);
int hx_ugt_cmd_zones(int argc, char **argv);
int hx_ugt_cmd_swap(int argc, char **argv);

#endif
