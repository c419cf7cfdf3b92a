/* Ctrl-C while a file is written: the work ends by itself, so that no half of the file stays. */
#ifndef HX_MODEL_INTERRUPT_H
#define HX_MODEL_INTERRUPT_H

/* From here on SIGINT, SIGTERM and SIGHUP are only taken note of; the second of a kind ends the program at once. */
void hx_interrupt_catch(void);

/* 1: one came. */
int hx_interrupted(void);

#endif
