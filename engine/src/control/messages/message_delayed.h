/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the frames that a stall may have delayed, in the trial's reply. */
#ifndef PLIMSOLL_MESSAGE_DELAYED_H
#define PLIMSOLL_MESSAGE_DELAYED_H

#include <jansson.h>

#include "dataplane/measures/delayed_ends.h"

/* Adds `delayed_ends` to a stream's counts. */
void message_delayed_add(json_t *stream, const struct delayed_ends *ends);

#endif
