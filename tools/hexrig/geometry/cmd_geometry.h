/* The actions of `hexrig geometry`.  Each gets its own argv (argv[0] = "hexrig geometry ACTION") and returns an enum hx_exit. */
#ifndef HX_CMD_GEOMETRY_H
#define HX_CMD_GEOMETRY_H

int hx_geometry_cmd_claims(int argc, char **argv);
int hx_geometry_cmd_cloud(int argc, char **argv);
int hx_geometry_cmd_coverage(int argc, char **argv);
int hx_geometry_cmd_geodesic(int argc, char **argv);
int hx_geometry_cmd_lookup(int argc, char **argv);
int hx_geometry_cmd_metric(int argc, char **argv);
int hx_geometry_cmd_resonance(int argc, char **argv);
int hx_geometry_cmd_simulate(int argc, char **argv);
int hx_geometry_cmd_star(int argc, char **argv);
int hx_geometry_cmd_store(int argc, char **argv);
int hx_geometry_cmd_substitute(int argc, char **argv);
int hx_geometry_cmd_validity(int argc, char **argv);
int hx_geometry_cmd_warp(int argc, char **argv);

#endif
