/* Actions of `hexrig native`; argv[0] = "hexrig native NAME"; each returns an enum hx_exit. */
#ifndef HX_CMD_NATIVE_H
#define HX_CMD_NATIVE_H

int hx_native_cmd_fit(int argc, char **argv);
int hx_native_cmd_expand(int argc, char **argv);
int hx_native_cmd_table(int argc, char **argv);

#endif
