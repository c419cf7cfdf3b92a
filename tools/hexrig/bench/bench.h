/* What `hexrig bench` can measure, one function per kind, as the commands of cmd.h are; and what the kinds share. */
#ifndef HX_BENCH_H
#define HX_BENCH_H

int hx_bench_compare(int argc, char **argv);
int hx_bench_engine(int argc, char **argv);
int hx_bench_exact(int argc, char **argv);
int hx_bench_prefetch(int argc, char **argv);

/* The model that is measured when none was named: a file of share/hexrig. */
#define HX_BENCH_MODEL "hexrig-tiny-q8_0.gguf"

/* Makes *path that model unless it names a file.  *shipped: what the caller frees in the end, or NULL.  Returns an
 * enum hx_exit. */
int hx_bench_model(const char *cmd, const char **path, char **shipped);

#endif
