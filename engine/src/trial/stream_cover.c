/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/stream_cover.h"

#include <rte_common.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/frames/signature.h"

/* A field is written as eight bytes, however narrow it is. */
#define FIELD_BYTES 8

/*
 * Field values without the fixes that belong to them show in the first frames: only a value
 * that is the template's, or that sums to the same, leaves a checksum right.
 */
static struct frame_check
check_made(const struct tx_stream *stream, const struct tx_template *template, uint8_t *frame)
{
    struct field_counters counters;
    struct frame_check made, least = {COVER_PACKET, false};

    field_counters_start(&counters, &stream->request->fields);
    for (uint32_t i = 0; i < FIELDS_BURST && !least.damaged; i++) {
        memcpy(frame, template->frame, template->bytes);
        frame_fields_write(&template->fields, &stream->request->fields, &counters, &frame, 1);
        made = frame_check(frame, template->bytes);
        least.cover = RTE_MIN(least.cover, made.cover);
        least.damaged = made.damaged;
    }
    return least;
}

struct stream_cover
stream_cover(const struct tx_stream *stream)
{
    struct stream_cover cover = {false, COVER_PACKET};
    uint32_t longest = 0;

    for (uint32_t i = 0; i < stream->template_count; i++)
        longest = RTE_MAX(longest, stream->templates[i].bytes);
    uint8_t *frame = malloc(longest + FIELD_BYTES);
    if (!frame)
        return (struct stream_cover){false, COVER_NONE};
    for (uint32_t i = 0; i < stream->template_count; i++) {
        const struct frame_check made = check_made(stream, &stream->templates[i], frame);

        if (made.damaged) {
            free(frame);
            return (struct stream_cover){false, COVER_NONE};
        }
        cover.checkable |= made.cover != COVER_NONE;
        cover.least = RTE_MIN(cover.least, made.cover);
    }
    free(frame);
    return cover;
}
