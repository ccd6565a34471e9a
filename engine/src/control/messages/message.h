/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol's replies and events as JSON; the caller owns what is returned. */
#ifndef PLIMSOLL_MESSAGE_H
#define PLIMSOLL_MESSAGE_H

#include <jansson.h>

#include "config/error.h"
#include "config/link_request.h"
#include "ports/ports.h"
#include "trial/trial.h"

json_t *message_hello(void);
json_t *message_opened(int64_t id, const struct open_request *request, const struct ports *ports,
                       double tsc_hz);
json_t *message_interval(int64_t id, const struct trial *trial, const struct interval *interval);
json_t *message_trial(int64_t id, const struct trial *trial);
/* Which of the requested neighbours are known. */
json_t *message_resolved(int64_t id, const struct neighbours *neighbours);

/* The `streams`, a bit for each, have ended. */
json_t *message_ended(int64_t id, const struct trial *trial, uint64_t streams);

/* `changed` is when all workers had taken the rates over, TSC. */
json_t *message_rates(int64_t id, const struct trial *trial, const struct rates_request *request,
                      uint64_t changed);
/* `switched` is when all workers had seen it, TSC. */
json_t *message_capture(int64_t id, const struct trial *trial, const struct capture_switch *change,
                        uint64_t switched);
/* The link as it is now, which of a card may come up later. */
json_t *message_link(int64_t id, const struct ports *ports, const struct link_request *request);
json_t *message_stopping(int64_t id);
/* `id` below 0 stands for a request whose id could not be read. */
json_t *message_error(int64_t id, const struct error *error, bool fatal);

#endif
