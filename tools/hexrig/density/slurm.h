/* A sweep as a job array of Slurm's: a script for sbatch, whose tasks measure a part each (--part), and whose step `merge` prints all
 * rows. */
#ifndef HX_DENSITY_SLURM_H
#define HX_DENSITY_SLURM_H

#include "sweep.h"

/* To stdout.  words: of the command line, [n], but for the option that asks for this.  Returns an enum hx_exit after a message. */
int hx_slurm_print(const struct hx_sweep *s, const char *const *words, size_t n);

#endif
