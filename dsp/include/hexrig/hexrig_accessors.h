/* Macros that take scalar registers and vector pairs apart and put them together (published names of <hexagon_types.h>).
 *
 *   HEXAGON_V64_GET_H2(v)              element 2 of a 64-bit register seen as halves, lowest first; D UD W UW H UH B UB
 *   HEXAGON_V64_PUT_H2(v, x)           v with that element replaced
 *   HEXAGON_V64_CREATE_H(h3, ..., h0)  a register of four halves, highest first
 *
 * HEXAGON_V32_ is the same of a 32-bit register, HEXAGON_HVX_ of a vector pair; HEXAGON_V_, Q6V64_, Q6V_ and Q6V32_ are older names.
 * Arguments may be of any integer type and are cut to the element's width. */
#ifndef HEXRIG_ACCESSORS_H
#define HEXRIG_ACCESSORS_H

#include "hexrig_hvx_types.h"

typedef long long HEXAGON_Vect64 __attribute__((may_alias));
typedef int HEXAGON_Vect32;
#define HEXAGON_Vect HEXAGON_Vect64

/* Element i of x as a value of `type`; and x in the place of element i, as bits. */
#define HX_ELEMENT64(type, x, i) ((type)((unsigned long long)(long long)(x) >> 8 * sizeof(type) * (i)))
#define HX_PLACED64(type, x, i) ((unsigned long long)(unsigned type)(x) << 8 * sizeof(type) * (i))
#define HX_PUT64(type, v, i, x) \
    ((long long)(((unsigned long long)(long long)(v) & ~HX_PLACED64(type, -1, i)) | HX_PLACED64(type, (type)(x), i)))
#define HX_ELEMENT32(type, x, i) ((type)((unsigned int)(int)(x) >> 8 * sizeof(type) * (i)))
#define HX_PLACED32(type, x, i) ((unsigned int)(unsigned type)(x) << 8 * sizeof(type) * (i))
#define HX_PUT32(type, v, i, x) ((int)(((unsigned int)(int)(v) & ~HX_PLACED32(type, -1, i)) | HX_PLACED32(type, (type)(x), i)))

/* --- 64 bits */
#define HEXAGON_V64_GET_D(v) (v)
#define HEXAGON_V64_GET_UD(v) ((unsigned long long)(v))
#define HEXAGON_V64_GET_W0(v) HX_ELEMENT64(int, v, 0)
#define HEXAGON_V64_GET_W1(v) HX_ELEMENT64(int, v, 1)
#define HEXAGON_V64_GET_UW0(v) HX_ELEMENT64(unsigned int, v, 0)
#define HEXAGON_V64_GET_UW1(v) HX_ELEMENT64(unsigned int, v, 1)
#define HEXAGON_V64_GET_H0(v) HX_ELEMENT64(short, v, 0)
#define HEXAGON_V64_GET_H1(v) HX_ELEMENT64(short, v, 1)
#define HEXAGON_V64_GET_H2(v) HX_ELEMENT64(short, v, 2)
#define HEXAGON_V64_GET_H3(v) HX_ELEMENT64(short, v, 3)
#define HEXAGON_V64_GET_UH0(v) HX_ELEMENT64(unsigned short, v, 0)
#define HEXAGON_V64_GET_UH1(v) HX_ELEMENT64(unsigned short, v, 1)
#define HEXAGON_V64_GET_UH2(v) HX_ELEMENT64(unsigned short, v, 2)
#define HEXAGON_V64_GET_UH3(v) HX_ELEMENT64(unsigned short, v, 3)
#define HEXAGON_V64_GET_B0(v) HX_ELEMENT64(signed char, v, 0)
#define HEXAGON_V64_GET_B1(v) HX_ELEMENT64(signed char, v, 1)
#define HEXAGON_V64_GET_B2(v) HX_ELEMENT64(signed char, v, 2)
#define HEXAGON_V64_GET_B3(v) HX_ELEMENT64(signed char, v, 3)
#define HEXAGON_V64_GET_B4(v) HX_ELEMENT64(signed char, v, 4)
#define HEXAGON_V64_GET_B5(v) HX_ELEMENT64(signed char, v, 5)
#define HEXAGON_V64_GET_B6(v) HX_ELEMENT64(signed char, v, 6)
#define HEXAGON_V64_GET_B7(v) HX_ELEMENT64(signed char, v, 7)
#define HEXAGON_V64_GET_UB0(v) HX_ELEMENT64(unsigned char, v, 0)
#define HEXAGON_V64_GET_UB1(v) HX_ELEMENT64(unsigned char, v, 1)
#define HEXAGON_V64_GET_UB2(v) HX_ELEMENT64(unsigned char, v, 2)
#define HEXAGON_V64_GET_UB3(v) HX_ELEMENT64(unsigned char, v, 3)
#define HEXAGON_V64_GET_UB4(v) HX_ELEMENT64(unsigned char, v, 4)
#define HEXAGON_V64_GET_UB5(v) HX_ELEMENT64(unsigned char, v, 5)
#define HEXAGON_V64_GET_UB6(v) HX_ELEMENT64(unsigned char, v, 6)
#define HEXAGON_V64_GET_UB7(v) HX_ELEMENT64(unsigned char, v, 7)
#define HEXAGON_V64_PUT_D(v, x) (x)
#define HEXAGON_V64_PUT_W0(v, x) HX_PUT64(int, v, 0, x)
#define HEXAGON_V64_PUT_W1(v, x) HX_PUT64(int, v, 1, x)
#define HEXAGON_V64_PUT_H0(v, x) HX_PUT64(short, v, 0, x)
#define HEXAGON_V64_PUT_H1(v, x) HX_PUT64(short, v, 1, x)
#define HEXAGON_V64_PUT_H2(v, x) HX_PUT64(short, v, 2, x)
#define HEXAGON_V64_PUT_H3(v, x) HX_PUT64(short, v, 3, x)
#define HEXAGON_V64_PUT_B0(v, x) HX_PUT64(char, v, 0, x)
#define HEXAGON_V64_PUT_B1(v, x) HX_PUT64(char, v, 1, x)
#define HEXAGON_V64_PUT_B2(v, x) HX_PUT64(char, v, 2, x)
#define HEXAGON_V64_PUT_B3(v, x) HX_PUT64(char, v, 3, x)
#define HEXAGON_V64_PUT_B4(v, x) HX_PUT64(char, v, 4, x)
#define HEXAGON_V64_PUT_B5(v, x) HX_PUT64(char, v, 5, x)
#define HEXAGON_V64_PUT_B6(v, x) HX_PUT64(char, v, 6, x)
#define HEXAGON_V64_PUT_B7(v, x) HX_PUT64(char, v, 7, x)
#define HEXAGON_V64_CREATE_D(x) (x)
#define HEXAGON_V64_CREATE_W(w1, w0) \
    ((long long)(HX_PLACED64(int, w1, 1) | HX_PLACED64(int, w0, 0)))
#define HEXAGON_V64_CREATE_H(h3, h2, h1, h0) \
    ((long long)(HX_PLACED64(short, h3, 3) | HX_PLACED64(short, h2, 2) | \
         HX_PLACED64(short, h1, 1) | HX_PLACED64(short, h0, 0)))
#define HEXAGON_V64_CREATE_B(b7, b6, b5, b4, b3, b2, b1, b0) \
    ((long long)(HX_PLACED64(char, b7, 7) | HX_PLACED64(char, b6, 6) | \
         HX_PLACED64(char, b5, 5) | HX_PLACED64(char, b4, 4) | \
         HX_PLACED64(char, b3, 3) | HX_PLACED64(char, b2, 2) | \
         HX_PLACED64(char, b1, 1) | HX_PLACED64(char, b0, 0)))

/* --- 32 bits */
#define HEXAGON_V32_GET_W(v) (v)
#define HEXAGON_V32_GET_UW(v) ((unsigned int)(v))
#define HEXAGON_V32_GET_H0(v) HX_ELEMENT32(short, v, 0)
#define HEXAGON_V32_GET_H1(v) HX_ELEMENT32(short, v, 1)
#define HEXAGON_V32_GET_UH0(v) HX_ELEMENT32(unsigned short, v, 0)
#define HEXAGON_V32_GET_UH1(v) HX_ELEMENT32(unsigned short, v, 1)
#define HEXAGON_V32_GET_B0(v) HX_ELEMENT32(signed char, v, 0)
#define HEXAGON_V32_GET_B1(v) HX_ELEMENT32(signed char, v, 1)
#define HEXAGON_V32_GET_B2(v) HX_ELEMENT32(signed char, v, 2)
#define HEXAGON_V32_GET_B3(v) HX_ELEMENT32(signed char, v, 3)
#define HEXAGON_V32_GET_UB0(v) HX_ELEMENT32(unsigned char, v, 0)
#define HEXAGON_V32_GET_UB1(v) HX_ELEMENT32(unsigned char, v, 1)
#define HEXAGON_V32_GET_UB2(v) HX_ELEMENT32(unsigned char, v, 2)
#define HEXAGON_V32_GET_UB3(v) HX_ELEMENT32(unsigned char, v, 3)
#define HEXAGON_V32_PUT_W(v, x) (x)
#define HEXAGON_V32_PUT_H0(v, x) HX_PUT32(short, v, 0, x)
#define HEXAGON_V32_PUT_H1(v, x) HX_PUT32(short, v, 1, x)
#define HEXAGON_V32_PUT_B0(v, x) HX_PUT32(char, v, 0, x)
#define HEXAGON_V32_PUT_B1(v, x) HX_PUT32(char, v, 1, x)
#define HEXAGON_V32_PUT_B2(v, x) HX_PUT32(char, v, 2, x)
#define HEXAGON_V32_PUT_B3(v, x) HX_PUT32(char, v, 3, x)
#define HEXAGON_V32_CREATE_W(x) (x)
#define HEXAGON_V32_CREATE_H(h1, h0) \
    ((int)(HX_PLACED32(short, h1, 1) | HX_PLACED32(short, h0, 0)))
#define HEXAGON_V32_CREATE_B(b3, b2, b1, b0) \
    ((int)(HX_PLACED32(char, b3, 3) | HX_PLACED32(char, b2, 2) | \
         HX_PLACED32(char, b1, 1) | HX_PLACED32(char, b0, 0)))

/* --- a vector pair: V0 is the low vector, P a predicate in its place */
#define HEXAGON_HVX_GET_W(v) (v)
#define HEXAGON_HVX_GET_V0(v) Q6_V_lo_W(v)
#define HEXAGON_HVX_GET_V1(v) Q6_V_hi_W(v)
#define HEXAGON_HVX_GET_P(v) ((HVX_VectorPred)Q6_V_lo_W(v))
#define HEXAGON_HVX_PUT_W(v, x) (x)
#define HEXAGON_HVX_PUT_V0(v, x) Q6_W_vcombine_VV(Q6_V_hi_W(v), x)
#define HEXAGON_HVX_PUT_V1(v, x) Q6_W_vcombine_VV(x, Q6_V_lo_W(v))
#define HEXAGON_HVX_PUT_P(v, x) Q6_W_vcombine_VV(Q6_V_hi_W(v), (HVX_Vector)(x))
#define HEXAGON_HVX_CREATE_W(v1, v0) Q6_W_vcombine_VV(v1, v0)

/* --- older names */
typedef HEXAGON_Vect64 Q6Vect64;
typedef HEXAGON_Vect32 Q6Vect32;
typedef HVX_VectorPred Q6VecPred128;
typedef HVX_Vector Q6Vect1024;
typedef HVX_VectorPair Q6Vect2048;
typedef int Q6Pred;
#define Q6Vect Q6Vect64
#define HEXAGON_V_GET_D HEXAGON_V64_GET_D
#define HEXAGON_V_GET_UD HEXAGON_V64_GET_UD
#define HEXAGON_V_GET_W0 HEXAGON_V64_GET_W0
#define HEXAGON_V_GET_W1 HEXAGON_V64_GET_W1
#define HEXAGON_V_GET_UW0 HEXAGON_V64_GET_UW0
#define HEXAGON_V_GET_UW1 HEXAGON_V64_GET_UW1
#define HEXAGON_V_GET_H0 HEXAGON_V64_GET_H0
#define HEXAGON_V_GET_H1 HEXAGON_V64_GET_H1
#define HEXAGON_V_GET_H2 HEXAGON_V64_GET_H2
#define HEXAGON_V_GET_H3 HEXAGON_V64_GET_H3
#define HEXAGON_V_GET_UH0 HEXAGON_V64_GET_UH0
#define HEXAGON_V_GET_UH1 HEXAGON_V64_GET_UH1
#define HEXAGON_V_GET_UH2 HEXAGON_V64_GET_UH2
#define HEXAGON_V_GET_UH3 HEXAGON_V64_GET_UH3
#define HEXAGON_V_GET_B0 HEXAGON_V64_GET_B0
#define HEXAGON_V_GET_B1 HEXAGON_V64_GET_B1
#define HEXAGON_V_GET_B2 HEXAGON_V64_GET_B2
#define HEXAGON_V_GET_B3 HEXAGON_V64_GET_B3
#define HEXAGON_V_GET_B4 HEXAGON_V64_GET_B4
#define HEXAGON_V_GET_B5 HEXAGON_V64_GET_B5
#define HEXAGON_V_GET_B6 HEXAGON_V64_GET_B6
#define HEXAGON_V_GET_B7 HEXAGON_V64_GET_B7
#define HEXAGON_V_GET_UB0 HEXAGON_V64_GET_UB0
#define HEXAGON_V_GET_UB1 HEXAGON_V64_GET_UB1
#define HEXAGON_V_GET_UB2 HEXAGON_V64_GET_UB2
#define HEXAGON_V_GET_UB3 HEXAGON_V64_GET_UB3
#define HEXAGON_V_GET_UB4 HEXAGON_V64_GET_UB4
#define HEXAGON_V_GET_UB5 HEXAGON_V64_GET_UB5
#define HEXAGON_V_GET_UB6 HEXAGON_V64_GET_UB6
#define HEXAGON_V_GET_UB7 HEXAGON_V64_GET_UB7
#define HEXAGON_V_PUT_D HEXAGON_V64_PUT_D
#define HEXAGON_V_PUT_W0 HEXAGON_V64_PUT_W0
#define HEXAGON_V_PUT_W1 HEXAGON_V64_PUT_W1
#define HEXAGON_V_PUT_H0 HEXAGON_V64_PUT_H0
#define HEXAGON_V_PUT_H1 HEXAGON_V64_PUT_H1
#define HEXAGON_V_PUT_H2 HEXAGON_V64_PUT_H2
#define HEXAGON_V_PUT_H3 HEXAGON_V64_PUT_H3
#define HEXAGON_V_PUT_B0 HEXAGON_V64_PUT_B0
#define HEXAGON_V_PUT_B1 HEXAGON_V64_PUT_B1
#define HEXAGON_V_PUT_B2 HEXAGON_V64_PUT_B2
#define HEXAGON_V_PUT_B3 HEXAGON_V64_PUT_B3
#define HEXAGON_V_PUT_B4 HEXAGON_V64_PUT_B4
#define HEXAGON_V_PUT_B5 HEXAGON_V64_PUT_B5
#define HEXAGON_V_PUT_B6 HEXAGON_V64_PUT_B6
#define HEXAGON_V_PUT_B7 HEXAGON_V64_PUT_B7
#define HEXAGON_V_CREATE_D HEXAGON_V64_CREATE_D
#define HEXAGON_V_CREATE_W HEXAGON_V64_CREATE_W
#define HEXAGON_V_CREATE_H HEXAGON_V64_CREATE_H
#define HEXAGON_V_CREATE_B HEXAGON_V64_CREATE_B
#define Q6V64_GET_D HEXAGON_V64_GET_D
#define Q6V_GET_D HEXAGON_V64_GET_D
#define Q6V64_GET_UD HEXAGON_V64_GET_UD
#define Q6V_GET_UD HEXAGON_V64_GET_UD
#define Q6V64_GET_W0 HEXAGON_V64_GET_W0
#define Q6V_GET_W0 HEXAGON_V64_GET_W0
#define Q6V64_GET_W1 HEXAGON_V64_GET_W1
#define Q6V_GET_W1 HEXAGON_V64_GET_W1
#define Q6V64_GET_UW0 HEXAGON_V64_GET_UW0
#define Q6V_GET_UW0 HEXAGON_V64_GET_UW0
#define Q6V64_GET_UW1 HEXAGON_V64_GET_UW1
#define Q6V_GET_UW1 HEXAGON_V64_GET_UW1
#define Q6V64_GET_H0 HEXAGON_V64_GET_H0
#define Q6V_GET_H0 HEXAGON_V64_GET_H0
#define Q6V64_GET_H1 HEXAGON_V64_GET_H1
#define Q6V_GET_H1 HEXAGON_V64_GET_H1
#define Q6V64_GET_H2 HEXAGON_V64_GET_H2
#define Q6V_GET_H2 HEXAGON_V64_GET_H2
#define Q6V64_GET_H3 HEXAGON_V64_GET_H3
#define Q6V_GET_H3 HEXAGON_V64_GET_H3
#define Q6V64_GET_UH0 HEXAGON_V64_GET_UH0
#define Q6V_GET_UH0 HEXAGON_V64_GET_UH0
#define Q6V64_GET_UH1 HEXAGON_V64_GET_UH1
#define Q6V_GET_UH1 HEXAGON_V64_GET_UH1
#define Q6V64_GET_UH2 HEXAGON_V64_GET_UH2
#define Q6V_GET_UH2 HEXAGON_V64_GET_UH2
#define Q6V64_GET_UH3 HEXAGON_V64_GET_UH3
#define Q6V_GET_UH3 HEXAGON_V64_GET_UH3
#define Q6V64_GET_B0 HEXAGON_V64_GET_B0
#define Q6V_GET_B0 HEXAGON_V64_GET_B0
#define Q6V64_GET_B1 HEXAGON_V64_GET_B1
#define Q6V_GET_B1 HEXAGON_V64_GET_B1
#define Q6V64_GET_B2 HEXAGON_V64_GET_B2
#define Q6V_GET_B2 HEXAGON_V64_GET_B2
#define Q6V64_GET_B3 HEXAGON_V64_GET_B3
#define Q6V_GET_B3 HEXAGON_V64_GET_B3
#define Q6V64_GET_B4 HEXAGON_V64_GET_B4
#define Q6V_GET_B4 HEXAGON_V64_GET_B4
#define Q6V64_GET_B5 HEXAGON_V64_GET_B5
#define Q6V_GET_B5 HEXAGON_V64_GET_B5
#define Q6V64_GET_B6 HEXAGON_V64_GET_B6
#define Q6V_GET_B6 HEXAGON_V64_GET_B6
#define Q6V64_GET_B7 HEXAGON_V64_GET_B7
#define Q6V_GET_B7 HEXAGON_V64_GET_B7
#define Q6V64_GET_UB0 HEXAGON_V64_GET_UB0
#define Q6V_GET_UB0 HEXAGON_V64_GET_UB0
#define Q6V64_GET_UB1 HEXAGON_V64_GET_UB1
#define Q6V_GET_UB1 HEXAGON_V64_GET_UB1
#define Q6V64_GET_UB2 HEXAGON_V64_GET_UB2
#define Q6V_GET_UB2 HEXAGON_V64_GET_UB2
#define Q6V64_GET_UB3 HEXAGON_V64_GET_UB3
#define Q6V_GET_UB3 HEXAGON_V64_GET_UB3
#define Q6V64_GET_UB4 HEXAGON_V64_GET_UB4
#define Q6V_GET_UB4 HEXAGON_V64_GET_UB4
#define Q6V64_GET_UB5 HEXAGON_V64_GET_UB5
#define Q6V_GET_UB5 HEXAGON_V64_GET_UB5
#define Q6V64_GET_UB6 HEXAGON_V64_GET_UB6
#define Q6V_GET_UB6 HEXAGON_V64_GET_UB6
#define Q6V64_GET_UB7 HEXAGON_V64_GET_UB7
#define Q6V_GET_UB7 HEXAGON_V64_GET_UB7
#define Q6V64_PUT_D HEXAGON_V64_PUT_D
#define Q6V_PUT_D HEXAGON_V64_PUT_D
#define Q6V64_PUT_W0 HEXAGON_V64_PUT_W0
#define Q6V_PUT_W0 HEXAGON_V64_PUT_W0
#define Q6V64_PUT_W1 HEXAGON_V64_PUT_W1
#define Q6V_PUT_W1 HEXAGON_V64_PUT_W1
#define Q6V64_PUT_H0 HEXAGON_V64_PUT_H0
#define Q6V_PUT_H0 HEXAGON_V64_PUT_H0
#define Q6V64_PUT_H1 HEXAGON_V64_PUT_H1
#define Q6V_PUT_H1 HEXAGON_V64_PUT_H1
#define Q6V64_PUT_H2 HEXAGON_V64_PUT_H2
#define Q6V_PUT_H2 HEXAGON_V64_PUT_H2
#define Q6V64_PUT_H3 HEXAGON_V64_PUT_H3
#define Q6V_PUT_H3 HEXAGON_V64_PUT_H3
#define Q6V64_PUT_B0 HEXAGON_V64_PUT_B0
#define Q6V_PUT_B0 HEXAGON_V64_PUT_B0
#define Q6V64_PUT_B1 HEXAGON_V64_PUT_B1
#define Q6V_PUT_B1 HEXAGON_V64_PUT_B1
#define Q6V64_PUT_B2 HEXAGON_V64_PUT_B2
#define Q6V_PUT_B2 HEXAGON_V64_PUT_B2
#define Q6V64_PUT_B3 HEXAGON_V64_PUT_B3
#define Q6V_PUT_B3 HEXAGON_V64_PUT_B3
#define Q6V64_PUT_B4 HEXAGON_V64_PUT_B4
#define Q6V_PUT_B4 HEXAGON_V64_PUT_B4
#define Q6V64_PUT_B5 HEXAGON_V64_PUT_B5
#define Q6V_PUT_B5 HEXAGON_V64_PUT_B5
#define Q6V64_PUT_B6 HEXAGON_V64_PUT_B6
#define Q6V_PUT_B6 HEXAGON_V64_PUT_B6
#define Q6V64_PUT_B7 HEXAGON_V64_PUT_B7
#define Q6V_PUT_B7 HEXAGON_V64_PUT_B7
#define Q6V64_CREATE_D HEXAGON_V64_CREATE_D
#define Q6V_CREATE_D HEXAGON_V64_CREATE_D
#define Q6V64_CREATE_W HEXAGON_V64_CREATE_W
#define Q6V_CREATE_W HEXAGON_V64_CREATE_W
#define Q6V64_CREATE_H HEXAGON_V64_CREATE_H
#define Q6V_CREATE_H HEXAGON_V64_CREATE_H
#define Q6V64_CREATE_B HEXAGON_V64_CREATE_B
#define Q6V_CREATE_B HEXAGON_V64_CREATE_B
#define Q6V32_GET_W HEXAGON_V32_GET_W
#define Q6V32_GET_UW HEXAGON_V32_GET_UW
#define Q6V32_GET_H0 HEXAGON_V32_GET_H0
#define Q6V32_GET_H1 HEXAGON_V32_GET_H1
#define Q6V32_GET_UH0 HEXAGON_V32_GET_UH0
#define Q6V32_GET_UH1 HEXAGON_V32_GET_UH1
#define Q6V32_GET_B0 HEXAGON_V32_GET_B0
#define Q6V32_GET_B1 HEXAGON_V32_GET_B1
#define Q6V32_GET_B2 HEXAGON_V32_GET_B2
#define Q6V32_GET_B3 HEXAGON_V32_GET_B3
#define Q6V32_GET_UB0 HEXAGON_V32_GET_UB0
#define Q6V32_GET_UB1 HEXAGON_V32_GET_UB1
#define Q6V32_GET_UB2 HEXAGON_V32_GET_UB2
#define Q6V32_GET_UB3 HEXAGON_V32_GET_UB3
#define Q6V32_PUT_W HEXAGON_V32_PUT_W
#define Q6V32_PUT_H0 HEXAGON_V32_PUT_H0
#define Q6V32_PUT_H1 HEXAGON_V32_PUT_H1
#define Q6V32_PUT_B0 HEXAGON_V32_PUT_B0
#define Q6V32_PUT_B1 HEXAGON_V32_PUT_B1
#define Q6V32_PUT_B2 HEXAGON_V32_PUT_B2
#define Q6V32_PUT_B3 HEXAGON_V32_PUT_B3
#define Q6V32_CREATE_W HEXAGON_V32_CREATE_W
#define Q6V32_CREATE_H HEXAGON_V32_CREATE_H
#define Q6V32_CREATE_B HEXAGON_V32_CREATE_B

#endif
