/* Interface of the calculator skel: what `calculator.idl` would hold.
 *
 *   long sum(in sequence<long> v, rout long long result);    method 2
 *   long max(in sequence<long> v, rout long result);         method 3
 *   long sleep_ms(in long ms);                               method 4
 *   long crash();                                            method 5
 *   long mapped(in long fd, rout long long address);         method 6: HAP_mmap_get's address, or 0 */
#ifndef CALCULATOR_H
#define CALCULATOR_H

#define calculator_URI "file:///libcalculator_skel.so?calculator_skel_handle_invoke&_modver=1.0"

enum { CALC_SUM = 2, CALC_MAX, CALC_SLEEP_MS, CALC_CRASH, CALC_MAPPED };

#endif
