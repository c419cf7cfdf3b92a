/* The actions of `hexrig subspace`.  Each gets its own argv (argv[0] = "hexrig subspace ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_SUBSPACE_H
#define HX_CMD_SUBSPACE_H

int hx_subspace_cmd_spectra(int argc, char **argv);
int hx_subspace_cmd_bound(int argc, char **argv);
int hx_subspace_cmd_gsi(int argc, char **argv);
int hx_subspace_cmd_gsi_cost(int argc, char **argv);
int hx_subspace_cmd_intrinsic(int argc, char **argv);
int hx_subspace_cmd_gauge(int argc, char **argv);
int hx_subspace_cmd_learn(int argc, char **argv);
int hx_subspace_cmd_mcr(int argc, char **argv);
int hx_subspace_cmd_sweep(int argc, char **argv);
int hx_subspace_cmd_thermal(int argc, char **argv);

#endif
