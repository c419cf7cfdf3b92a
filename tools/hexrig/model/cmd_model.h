/* The actions of `hexrig model`.  Each gets its own argv (argv[0] = "hexrig model ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_MODEL_H
#define HX_CMD_MODEL_H

int hx_model_cmd_inspect(int argc, char **argv);
int hx_model_cmd_convert(int argc, char **argv);
int hx_model_cmd_capture(int argc, char **argv);
int hx_model_cmd_rotate(int argc, char **argv);
int hx_model_cmd_synth(int argc, char **argv);

#endif
