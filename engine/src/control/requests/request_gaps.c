/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "control/requests/request_parts.h"

/* So the gaps of a round add up to less than 2^62 ns. */
#define LONGEST_GAP_NS (TRIAL_MAX_S * UINT64_C(1000000000))

/* Frame n's time within the round, for now in ns; returns the round's length by `round_ns`. */
static int
read_times(const struct object *shape, const json_t *array, struct pacing *pacing,
           uint64_t *round_ns)
{
    uint64_t gap_ns = 0;

    *round_ns = 0;
    for (uint32_t i = 0; i < pacing->round_frames; i++) {
        pacing->due_shares[i] = *round_ns;
        if (element_integer(shape, "gaps_ns", array, i, LONGEST_GAP_NS, &gap_ns) != 0)
            return -EINVAL;
        *round_ns += gap_ns;
    }
    if (gap_ns == 0)
        return object_set_error(shape, "gaps_ns", "must end with a gap before the next round");
    return 0;
}

int
read_gaps(const struct object *shape, struct pacing *pacing)
{
    const json_t *array;
    uint64_t round_ns;

    if (read_array(shape, "gaps_ns", REQUIRED, 2, GAPS_MAX, &array) != 0)
        return -EINVAL;
    pacing->round_frames = (uint32_t)json_array_size(array);
    pacing->due_shares = calloc(pacing->round_frames, sizeof(pacing->due_shares[0]));
    if (!pacing->due_shares)
        return -ENOMEM;
    if (read_times(shape, array, pacing, &round_ns) != 0)
        return -EINVAL;
    for (uint32_t i = 0; i < pacing->round_frames; i++)
        pacing->due_shares[i] =
            (uint64_t)(((unsigned __int128)pacing->due_shares[i] << 64) / round_ns);
    return 0;
}
