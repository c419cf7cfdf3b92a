/* Prompts for greedy texts where none are given: beginnings of ordinary English prose. */
#ifndef HX_SPEC_PROMPTS_H
#define HX_SPEC_PROMPTS_H

enum { HX_SPEC_PROMPTS = 20 };

extern const char *const hx_spec_prompts[HX_SPEC_PROMPTS];

#endif
