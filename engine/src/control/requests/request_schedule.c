/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "control/requests/request_parts.h"

/* As short as windows may be. */
#define SHORTEST_S 0.001

/* Only streams that end before the trial can come again. */
static int
read_repetition(const struct object *object, struct stream_schedule *schedule)
{
    schedule->repeats = json_object_get(object->json, "pause_s") != NULL;
    if (schedule->repeats && !json_object_get(object->json, "duration_s"))
        return object_set_error(object, "pause_s", "needs duration_s");
    return read_number(object, "pause_s", OPTIONAL, 0, TRIAL_MAX_S, &schedule->pause_s);
}

int
read_schedule(const struct object *object, struct stream_request *stream)
{
    static const char *const names[] = {"start_s", "duration_s", "pause_s", NULL};
    struct stream_schedule *schedule = &stream->schedule;
    struct object given;

    if (!json_object_get(object->json, "schedule"))
        return 0;
    if (stream->pacing.kind == PACING_ONE_IN_FLIGHT)
        return object_set_error(object, "schedule", "one-in-flight streams have none");
    schedule->limited = true;
    if (read_object(object, "schedule", &given) != 0 || object_knows(&given, names) != 0 ||
        read_number(&given, "start_s", OPTIONAL, 0, TRIAL_MAX_S, &schedule->start_s) != 0 ||
        read_number(&given, "duration_s", OPTIONAL, SHORTEST_S, TRIAL_MAX_S,
                    &schedule->duration_s) != 0)
        return -EINVAL;
    return read_repetition(&given, schedule);
}
