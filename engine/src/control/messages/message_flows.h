/* SPDX-License-Identifier: Apache-2.0 */
/* What came by flow, in the trial's reply. */
#ifndef PLIMSOLL_MESSAGE_FLOWS_H
#define PLIMSOLL_MESSAGE_FLOWS_H

#include <jansson.h>
#include <stdint.h>

#include "dataplane/measures/flow_counts.h"

/* Adds `flows` to a stream's counts: a list for each counter. `sent` is of all of them. */
void message_flows_add(json_t *stream, const struct flow_counts *counts, uint64_t sent);

#endif
