/* What `hexrig bench` can measure: one function per kind, as the commands of cmd.h are. */
#ifndef HX_BENCH_H
#define HX_BENCH_H

int hx_bench_engine(int argc, char **argv);
int hx_bench_exact(int argc, char **argv);
int hx_bench_prefetch(int argc, char **argv);

#endif
