/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a signature that is no longer at its frame's end. A DUT that takes headers off a
 * short frame pads it to Ethernet's minimum again, with bytes of its own after ours.
 */
#ifndef PLIMSOLL_BURIED_SIGNATURE_H
#define PLIMSOLL_BURIED_SIGNATURE_H

#include <stdbool.h>

#include "dataplane/frames/signature.h"

/* All that padding to 60 bytes can add to a frame that holds at least an Ethernet header. */
#define PADDING_MAX 46
#define BURIED_TAIL_BYTES (SIGNATURE_BYTES + PADDING_MAX)

/*
 * Looks for an intact signature with `mark` before 1 to PADDING_MAX bytes of padding.
 * `tail` is the frame's last `length` bytes; more than BURIED_TAIL_BYTES are no use.
 */
bool buried_signature_find(const uint8_t *tail, uint32_t length, uint16_t mark,
                           struct signature_words *found);

#endif
