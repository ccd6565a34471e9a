/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captures of a trial: what workers copy of frames that they receive, taken from their rings
 * by the main thread and written to a file for each port.
 */
#ifndef PLIMSOLL_CAPTURES_H
#define PLIMSOLL_CAPTURES_H

#include "config/capture_request.h"
#include "config/error.h"
#include "config/trial_request.h"
#include "dataplane/loop/capture_ring.h"
#include "dataplane/loop/run.h"
#include "trial/clocks/clock_reading.h"
#include "trial/pcap_file.h"

struct capture {
    alignas(CAPTURE_LINE_BYTES) _Atomic uint32_t state; /* enum capture_state */
    const struct capture_request *request;
    uint64_t left_out;         /* by the main thread: the file has as many as requested */
    uint64_t left_out_earlier; /* by the rings, before the file */
    uint32_t ring_count;
    struct capture_ring *rings[PORT_QUEUES_MAX]; /* one for each of the port's receive queues */
    struct pcap_file *file;
};

struct captures {
    uint32_t count;
    struct capture capture[];
};

/* How much was captured of a port since its file was made. */
struct capture_counts {
    uint64_t frames;   /* in the file */
    uint64_t left_out; /* while it was on: there was no room for them */
    int error;         /* errno of why the file takes no more, or 0 */
};

/*
 * Makes the files that a trial requests. NULL after a error, and then no file is left; freed
 * with captures_free(), which leaves them. The request must live as long.
 */
struct captures *captures_make(const struct trial_request *request, struct error *error);

/* Gives each receive queue of a captured port a ring, before workers poll; false without memory. */
bool captures_attach(struct captures *captures, struct run *run);

/*
 * Writes what has come to the files, with times by a reading of the clocks that was taken just
 * now.
 */
void captures_write(struct captures *captures, const struct run *run,
                    const struct clock_reading *now);

/* On or off, from each worker's next burst on; a file that takes no more frames takes none. */
void captures_switch(struct captures *captures, uint32_t number, bool on);

/* Makes another file for a capture. NULL after a error at `path`. */
struct pcap_file *captures_make_file(const struct captures *captures,
                                     const struct capture_switch *change, struct error *error);

/* Goes on with another file, of a capture that is off and whose rings are empty. */
void captures_use_file(struct captures *captures, uint32_t number, struct pcap_file *file);

struct capture_counts captures_count(const struct capture *capture);

void captures_free(struct captures *captures);

/* Takes the files away again, of a trial that could not begin. */
void captures_discard(struct captures *captures);

#endif
