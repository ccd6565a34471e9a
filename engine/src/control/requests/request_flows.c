/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "control/requests/request_parts.h"

int
read_flows(const struct object *object, struct stream_request *stream)
{
    static const char *const names[] = {"count", "first", NULL};
    uint64_t count = 0, first = 0;
    struct object given;

    if (!json_object_get(object->json, "flows"))
        return 0;
    if (read_object(object, "flows", &given) != 0 || object_knows(&given, names) != 0 ||
        read_integer(&given, "count", REQUIRED, 1, COUNTED_FLOWS_MAX, &count) != 0 ||
        read_integer(&given, "first", OPTIONAL, 0, count - 1, &first) != 0)
        return -EINVAL;
    stream->flow_count = (uint32_t)count;
    stream->first_flow = (uint32_t)first;
    return 0;
}
