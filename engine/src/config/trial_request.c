/* SPDX-License-Identifier: Apache-2.0 */
#include "config/trial_request.h"

#include <stdlib.h>
#include <string.h>

static void
clear_stream(struct stream_request *stream)
{
    for (uint32_t i = 0; i < stream->template_count; i++)
        free(stream->templates[i].frame);
    free(stream->templates);
    free(stream->order);
    free(stream->pacing.due_shares);
    for (uint32_t i = 0; i < stream->fields.count; i++)
        free((void *)(uintptr_t)stream->fields.field[i].values);
}

void
trial_request_clear(struct trial_request *request)
{
    for (uint32_t i = 0; i < request->stream_count; i++)
        clear_stream(&request->streams[i]);
    memset(request, 0, sizeof(*request));
}
