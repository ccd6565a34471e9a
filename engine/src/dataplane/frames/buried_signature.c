/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/buried_signature.h"

bool
buried_signature_find(const uint8_t *tail, uint32_t length, uint16_t mark,
                      struct signature_words *found)
{
    for (uint32_t padding = 1; padding <= PADDING_MAX; padding++) {
        if (length < SIGNATURE_BYTES + padding)
            return false;
        *found = signature_load(tail + length - padding - SIGNATURE_BYTES);
        const struct signature signature = signature_read(*found);
        if (signature.mark == mark && signature.intact)
            return true;
    }
    return false;
}
