/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "control/requests/request_parts.h"

int
request_link(const json_t *json, const struct open_request *config, struct link_request *request,
             struct error *error)
{
    static const char *const names[] = {"id", "request", "port", "up", NULL};
    const struct object top = object_top(json, error);
    uint64_t port = 0;

    if (config->port_count == 0)
        return set_error(error, -EINVAL, "port", "no port is open");
    if (object_knows(&top, names) != 0 ||
        read_integer(&top, "port", REQUIRED, 0, config->port_count - 1, &port) != 0 ||
        read_bool(&top, "up", REQUIRED, &request->up) != 0)
        return -EINVAL;
    request->port = (uint16_t)port;
    return 0;
}
