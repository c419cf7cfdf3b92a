/* The actions of `hexrig spec`.  Each gets its own argv (argv[0] = "hexrig spec ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_SPEC_H
#define HX_CMD_SPEC_H

int hx_spec_cmd_sweep(int argc, char **argv);
int hx_spec_cmd_table(int argc, char **argv);
int hx_spec_cmd_law(int argc, char **argv);

#endif
