/* SPDX-License-Identifier: Apache-2.0 */
#include "control/messages/message_delayed.h"

void
message_delayed_add(json_t *stream, const struct delayed_ends *ends)
{
    json_t *frames = json_array();

    for (uint32_t i = 0; i < ends->count; i++) {
        const struct delayed_end *entry = &ends->entry[i];

        json_array_append_new(frames, json_pack("[i, i, I]", (int)entry->low, (int)entry->high,
                                                (json_int_t)entry->frames));
    }
    json_object_set_new(
        stream, "delayed_ends",
        json_pack("{s:o, s:I}", "frames", frames, "left_out", (json_int_t)ends->left_out));
}
