/* See prompts.h; those of tests/data/golden. */
#include "prompts.h"

const char *const hx_spec_prompts[HX_SPEC_PROMPTS] = {
    "The king was",
    "In the year 1911 the regiment",
    "She looked at him and said",
    "The first movement of the sonata",
    "It was a cold morning in",
    "The government of the United States",
    "Once upon a time",
    "The Federal Government must",
    " Music is the art of",
    "He wrote to his brother that",
    "My lords and gentlemen,",
    "The battle began at dawn",
    "Chapter I\n\n",
    "There is no reason to",
    "The old man smiled",
    "Beethoven's letters",
    "In the beginning",
    "The drill regulations require",
    "Poor Jack Sheppard",
    "What is the matter?",
};
