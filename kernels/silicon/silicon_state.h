/* What interface silicon keeps between calls; each part is dropped when the last handle closes. */
#ifndef SILICON_STATE_H
#define SILICON_STATE_H

void hx_matmul_drop_table(void); /* row sums of the last cold matmul */
void hx_forward_drop_tables(void); /* row sums of the last cold forward pass */
void hx_ntt_drop_tables(void);   /* persistent NTT tables */

#endif
