/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "control/requests/request_parts.h"

static const char *const kinds[] = {
    [PACING_CONSTANT] = "constant",         [PACING_BURST] = "burst",
    [PACING_POISSON] = "poisson",           [PACING_CAPTURED] = "captured",
    [PACING_BACK_TO_BACK] = "back-to-back", [PACING_ONE_IN_FLIGHT] = "one-in-flight",
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int
read_kind(const struct object *object, enum pacing_kind *kind)
{
    const char *name;

    if (read_string(object, "kind", REQUIRED, 16, &name) != 0)
        return -EINVAL;
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i]) == 0) {
            *kind = (enum pacing_kind)i;
            return 0;
        }
    }
    return object_set_error(
        object, "kind",
        "must be constant, burst, poisson, captured, back-to-back or one-in-flight");
}

/* What each kind has apart from its name, and nothing else. */
static int
read_shape(const struct object *object, struct pacing *pacing)
{
    static const char *const plain[] = {"kind", NULL}, *const burst[] = {"kind", "frames", NULL},
                             *const poisson[] = {"kind", "seed", NULL},
                             *const captured[] = {"kind", "gaps_ns", NULL},
                             *const flight[] = {"kind", "timeout_us", NULL};
    uint64_t frames = 0;
    int status;

    switch (pacing->kind) {
    case PACING_BURST:
        status = object_knows(object, burst);
        status = status ? status : read_integer(object, "frames", REQUIRED, 1, 65536, &frames);
        pacing->burst_frames = (uint32_t)frames;
        return status;
    case PACING_POISSON:
        status = object_knows(object, poisson);
        return status ? status
                      : read_integer(object, "seed", OPTIONAL, 0, INT64_MAX, &pacing->seed);
    case PACING_CAPTURED:
        status = object_knows(object, captured);
        return status ? status : read_gaps(object, pacing);
    case PACING_ONE_IN_FLIGHT:
        status = object_knows(object, flight);
        return status ? status
                      : read_number(object, "timeout_us", REQUIRED, 1, 100e6, &pacing->timeout_us);
    case PACING_CONSTANT:
    case PACING_BACK_TO_BACK:
        break;
    }
    return object_knows(object, plain);
}

/* A slower rate is a mistake, and its gap beyond the range of the pacer. */
#define SLOWEST_PPS 0.01

int
read_rate_pps(const struct object *object, enum presence presence, double *rate_pps)
{
    if (read_number(object, "rate_pps", presence, 0, 1e9, rate_pps) != 0)
        return -EINVAL;
    if (*rate_pps > 0 && *rate_pps < SLOWEST_PPS)
        return object_set_error(object, "rate_pps", "must be 0 or at least %g", SLOWEST_PPS);
    return 0;
}

static int
read_rate(const struct object *object, struct pacing *pacing)
{
    const bool needed = pacing->kind != PACING_BACK_TO_BACK && pacing->kind != PACING_ONE_IN_FLIGHT;

    if (pacing->kind == PACING_BACK_TO_BACK && json_object_get(object->json, "rate_pps"))
        return object_set_error(object, "rate_pps", "back-to-back streams have no rate");
    pacing->rated = json_object_get(object->json, "rate_pps") != NULL;
    return read_rate_pps(object, needed ? REQUIRED : OPTIONAL, &pacing->rate_pps);
}

int
read_pacing(const struct object *object, struct pacing *pacing)
{
    struct object shape;
    int status = 0;

    *pacing = (struct pacing){.kind = PACING_CONSTANT};
    if (json_object_get(object->json, "pacing")) {
        if (read_object(object, "pacing", &shape) != 0 || read_kind(&shape, &pacing->kind) != 0)
            return -EINVAL;
        status = read_shape(&shape, pacing);
    }
    return status == 0 ? read_rate(object, pacing) : status;
}
