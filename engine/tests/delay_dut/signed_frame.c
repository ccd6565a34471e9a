/* SPDX-License-Identifier: Apache-2.0 */
#include "signed_frame.h"

#define SIGNATURE 18
#define COMPLEMENT_AT 16

static uint64_t
little_endian(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

/* The one's complement sum of the signature's first so many bytes. */
static uint16_t
sum_words(const uint8_t *bytes, uint32_t count)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; i += 2)
        sum += (uint32_t)little_endian(bytes + i, 2);
    while (sum > UINT16_MAX)
        sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)sum;
}

bool
signed_frame_read(const uint8_t *frame, uint32_t length, struct frame_identity *identity)
{
    if (length < SIGNATURE)
        return false;
    const uint8_t *signature = frame + length - SIGNATURE;
    const uint64_t mark = little_endian(signature, 2);

    if (mark == 0 || mark == UINT16_MAX || sum_words(signature, SIGNATURE) != UINT16_MAX)
        return false;
    identity->stream = (uint16_t)little_endian(signature + 2, 2);
    identity->sequence = little_endian(signature + 4, 6);
    identity->time = little_endian(signature + 10, 6);
    return true;
}

void
signed_frame_remark(uint8_t *frame, uint32_t length, uint16_t mark)
{
    uint8_t *signature = frame + length - SIGNATURE;

    signature[0] = (uint8_t)mark;
    signature[1] = (uint8_t)(mark >> 8);
    const uint16_t complement = (uint16_t)~sum_words(signature, COMPLEMENT_AT);
    signature[COMPLEMENT_AT] = (uint8_t)complement;
    signature[COMPLEMENT_AT + 1] = (uint8_t)(complement >> 8);
}
