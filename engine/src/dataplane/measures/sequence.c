/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/sequence.h"

#include <stdbool.h>
#include <string.h>

static uint64_t *
ring_word(struct sequence *sequence, uint64_t number)
{
    return &sequence->ring[number % SEQUENCE_WINDOW / 64];
}

static uint64_t
ring_bit(uint64_t number)
{
    return UINT64_C(1) << number % 64;
}

/* Makes room for `number` at the window's front: the number one window older leaves it. */
static void
enter(struct sequence *sequence, uint64_t number, bool missing)
{
    uint64_t *word = ring_word(sequence, number);

    if (*word & ring_bit(number)) {
        *word &= ~ring_bit(number);
        sequence->window_missing--;
    }
    if (missing) {
        *word |= ring_bit(number);
        sequence->window_missing++;
        sequence->missing++;
    }
}

static void
pass_over(struct sequence *sequence, uint64_t upto)
{
    uint64_t gap = upto - sequence->expected;

    /* Of a gap longer than the window only its end can still be filled. */
    if (gap > SEQUENCE_WINDOW) {
        memset(sequence->ring, 0xff, sizeof(sequence->ring));
        sequence->window_missing = SEQUENCE_WINDOW;
        sequence->missing += gap;
        sequence->expected = upto;
        return;
    }
    while (sequence->expected < upto)
        enter(sequence, sequence->expected++, true);
}

void
sequence_reset(struct sequence *sequence)
{
    memset(sequence, 0, sizeof(*sequence));
}

enum sequence_verdict
sequence_see_unusual(struct sequence *sequence, uint64_t number)
{
    if (number >= sequence->expected) {
        pass_over(sequence, number);
        enter(sequence, number, false);
        sequence->expected++;
        return SEQUENCE_IN_ORDER;
    }
    if (sequence->expected - number > SEQUENCE_WINDOW) {
        if (sequence->missing > sequence->window_missing)
            sequence->missing--;
        return SEQUENCE_OUT_OF_ORDER;
    }
    if ((*ring_word(sequence, number) & ring_bit(number)) == 0)
        return SEQUENCE_DUPLICATE;
    *ring_word(sequence, number) &= ~ring_bit(number);
    sequence->window_missing--;
    sequence->missing--;
    return SEQUENCE_OUT_OF_ORDER;
}

void
sequence_advance_past_gaps(struct sequence *sequence, uint32_t numbers)
{
    while (numbers-- > 0)
        enter(sequence, sequence->expected++, false);
}
