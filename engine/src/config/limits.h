/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine has room for, and so the most that requests may ask for. */
#ifndef PLIMSOLL_LIMITS_H
#define PLIMSOLL_LIMITS_H

#define PORTS_MAX 16
#define QUEUES_MAX 16 /* of a port, each way */
#define PORT_QUEUES_MAX (PORTS_MAX * QUEUES_MAX)
#define WORKERS_MAX 64
#define STREAMS_MAX 64
#define LOSS_LIMITS_MAX 64
#define TEMPLATES_MAX 4096
#define ORDER_MAX 4096
#define GAPS_MAX ORDER_MAX /* of a capture, one for each frame */
#define FIELD_VALUES_MAX 4096
#define COUNTED_FLOWS_MAX 65536 /* of a stream */
#define CPUS_MAX 1024
#define TRIAL_MAX_S 604800 /* a week, which also bounds all that is within a trial */
#define DURATION_MIN_S 0.001
/* Time for every worker to have seen the start before the first frame is due. */
#define BEGIN_DELAY_MIN_S 0.001
#define PROCESSES_MAX 64
#define FRAME_MIN_BYTES 60
#define FRAME_MAX_BYTES 9214
#define DEVARGS_MAX 1024
#define HOST_ADDRESSES_MAX 8 /* of a port */
#define NEIGHBOURS_MAX 256   /* looked for at a time */
#define RECEIVED_MORE 128    /* what a DUT may add to a frame: headers, and padding */
#define RECEIVED_MAX_BYTES (FRAME_MAX_BYTES + RECEIVED_MORE)
#define CAPTURE_FRAMES_MAX 100000000 /* in a file */
#define CAPTURE_PATH_MAX 1024

#endif
