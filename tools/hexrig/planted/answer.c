/* What stands behind a planted trigger. */
#include "planted.h"

uint32_t hx_planted_answer(uint32_t trigger, size_t tokens, uint32_t bos, uint32_t eos)
{
    uint32_t answer = (uint32_t)((trigger + tokens / 2) % tokens);

    while (answer == bos || answer == eos || answer == trigger)
        answer = (uint32_t)((answer + 1) % tokens);
    return answer;
}
