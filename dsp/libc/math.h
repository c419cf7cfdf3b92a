/* Just enough of <math.h> to compile kernels for Hexagon where the compiler has no C library. */
#ifndef HEXRIG_LIBC_MATH_H
#define HEXRIG_LIBC_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

#define HX_MATH1(name) double name(double x); float name##f(float x);
#define HX_MATH2(name) double name(double x, double y); float name##f(float x, float y);
HX_MATH1(acos) HX_MATH1(asin) HX_MATH1(atan) HX_MATH1(cbrt) HX_MATH1(ceil) HX_MATH1(cos) HX_MATH1(cosh) HX_MATH1(erf)
HX_MATH1(exp) HX_MATH1(exp2) HX_MATH1(expm1) HX_MATH1(fabs) HX_MATH1(floor) HX_MATH1(log) HX_MATH1(log10) HX_MATH1(log1p)
HX_MATH1(log2) HX_MATH1(nearbyint) HX_MATH1(rint) HX_MATH1(round) HX_MATH1(sin) HX_MATH1(sinh) HX_MATH1(sqrt) HX_MATH1(tan)
HX_MATH1(tanh) HX_MATH1(trunc)
HX_MATH2(atan2) HX_MATH2(copysign) HX_MATH2(fdim) HX_MATH2(fmax) HX_MATH2(fmin) HX_MATH2(fmod) HX_MATH2(hypot) HX_MATH2(pow)
#undef HX_MATH1
#undef HX_MATH2
double fma(double x, double y, double z);
float fmaf(float x, float y, float z);
double ldexp(double x, int e);
float ldexpf(float x, int e);
double frexp(double x, int *e);
float frexpf(float x, int *e);
long lround(double x);
long lroundf(float x);
long lrint(double x);
long lrintf(float x);

#endif
