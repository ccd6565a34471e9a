/* SPDX-License-Identifier: Apache-2.0 */
/* In which parts of a trial a stream is to send, in seconds from the trial's start. */
#ifndef PLIMSOLL_STREAM_SCHEDULE_H
#define PLIMSOLL_STREAM_SCHEDULE_H

#include <stdbool.h>

struct stream_schedule {
    bool limited;      /* false: it sends all the time, and nothing else here counts */
    double start_s;    /* when it begins */
    double duration_s; /* for how long it sends; 0: to the trial's end */
    bool repeats;
    double pause_s; /* between the end of a repetition and the next */
};

#endif
