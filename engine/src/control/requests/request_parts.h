/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of requests that are read in files of their own. All return 0, -EINVAL or -ENOMEM. */
#ifndef PLIMSOLL_REQUEST_PARTS_H
#define PLIMSOLL_REQUEST_PARTS_H

#include "control/requests/json_fields.h"
#include "control/requests/request.h"

/* Reads a port's `host`, if it has one, into a cleared struct. */
int read_host(const struct object *port, struct host *host);

/* Reads `workers`, and from them how many queues each port has. */
int read_workers(const struct object *top, struct open_request *request);

int read_stream(const struct object *object, const struct open_request *config,
                struct stream_request *stream);

/* Reads `rate_pps` and `pacing`. */
int read_pacing(const struct object *object, struct pacing *pacing);

/* Reads the `gaps_ns` of a captured `pacing`; their list belongs to the request. */
int read_gaps(const struct object *shape, struct pacing *pacing);

/* Reads `rate_pps`: 0, which pauses a stream, or one that the pacer can keep. */
int read_rate_pps(const struct object *object, enum presence presence, double *rate_pps);

/* Reads `schedule`; one-in-flight streams have none, so the pacing is read before. */
int read_schedule(const struct object *object, struct stream_request *stream);

/* Reads `frames` and `order`. */
int read_templates(const struct object *object, uint32_t max_frame_bytes,
                   struct stream_request *stream);

/* Reads a trial's `captures`, of ports of `config`. */
int read_captures(const struct object *top, const struct open_request *config,
                  struct trial_request *request);

/* Reads `flows`: how many are counted each by itself. */
int read_flows(const struct object *object, struct stream_request *stream);

/* Reads `fields`, which must suit each of the stream's templates. */
int read_fields(const struct object *object, struct stream_request *stream);

#endif
