/* SPDX-License-Identifier: Apache-2.0 */
#include "control/requests/request.h"

#include <errno.h>
#include <string.h>

#include "control/requests/json_fields.h"

int
request_head(const json_t *json, int64_t *id, enum request_kind *kind, struct error *error)
{
    const struct object top = object_top(json, error);
    const char *name = NULL;
    uint64_t number = 0;

    *id = -1;
    if (!json_is_object(json))
        return set_error(error, -EINVAL, "", "a request is a JSON object");
    if (read_integer(&top, "id", REQUIRED, 0, INT64_MAX, &number) != 0)
        return -EINVAL;
    *id = (int64_t)number;
    if (read_string(&top, "request", REQUIRED, 16, &name) != 0)
        return -EINVAL;
    if (strcmp(name, "open") == 0)
        *kind = REQUEST_OPEN;
    else if (strcmp(name, "trial") == 0)
        *kind = REQUEST_TRIAL;
    else if (strcmp(name, "rates") == 0)
        *kind = REQUEST_RATES;
    else if (strcmp(name, "capture") == 0)
        *kind = REQUEST_CAPTURE;
    else if (strcmp(name, "link") == 0)
        *kind = REQUEST_LINK;
    else if (strcmp(name, "resolve") == 0)
        *kind = REQUEST_RESOLVE;
    else if (strcmp(name, "stop") == 0)
        *kind = REQUEST_STOP;
    else
        return object_set_error(
            &top, "request",
            "unknown request '%s': open, resolve, trial, rates, capture, link or stop", name);
    return 0;
}

int
request_stop(const json_t *json, struct error *error)
{
    static const char *const names[] = {"id", "request", NULL};
    const struct object top = object_top(json, error);

    return object_knows(&top, names);
}
