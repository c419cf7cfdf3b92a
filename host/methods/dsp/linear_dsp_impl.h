/* The linear method on the DSP from the inside, for its own files: linear_dsp.c opens it, linear_dsp_calls.c makes its calls,
 * linear_dsp_report.c says what lies where. */
#ifndef HX_LINEAR_DSP_IMPL_H
#define HX_LINEAR_DSP_IMPL_H

#include "dsp/skel.h"
#include "hex_linear.h"
#include "linear_dsp.h"

struct hx_linear_dsp {
    struct hx_linear_method method;
    struct hx_skel skel;
    int mapped, loaded;
    hex_linear_how how;
    struct hx_linear **matrix;  /* [n]: of the model */
    hex_linear_matrix *table;   /* [n]: as the DSP knows them */
    struct hx_linear_place {
        size_t layer;
        enum hx_matrix which;
        enum hx_matrix_form form;
    } *place;                   /* [n] */
    size_t n;
    uint8_t *weights;           /* rpcmem */
    size_t weights_bytes;
    float *x, *y;               /* rpcmem, of one call */
    size_t x_floats, y_floats;
};

extern const struct hx_linear_ops hx_linear_dsp_ops; /* of every matrix that has been handed over; its state is the method */

#endif
