/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the frames that a stream sends have checksums that hold, and how much they cover. */
#ifndef PLIMSOLL_STREAM_COVER_H
#define PLIMSOLL_STREAM_COVER_H

#include "dataplane/frames/frame_check.h"
#include "dataplane/loop/run.h"

struct stream_cover {
    bool checkable;         /* no frame is sent with a wrong checksum, and some have one */
    enum frame_cover least; /* of any template */
};

/* By the templates, and by the first frames that the stream's fields make of each. */
struct stream_cover stream_cover(const struct tx_stream *stream);

#endif
