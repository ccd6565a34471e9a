/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the protocol's requests, which are JSON, into plain structs. */
#ifndef PLIMSOLL_REQUEST_H
#define PLIMSOLL_REQUEST_H

#include <jansson.h>
#include <stdint.h>

#include "config/capture_request.h"
#include "config/error.h"
#include "config/link_request.h"
#include "config/open_request.h"
#include "config/rates_request.h"
#include "config/resolve_request.h"
#include "config/trial_request.h"

enum request_kind {
    REQUEST_OPEN,
    REQUEST_TRIAL,
    REQUEST_RATES,
    REQUEST_CAPTURE,
    REQUEST_LINK,
    REQUEST_RESOLVE,
    REQUEST_STOP
};

/* Reads id and kind. Returns 0 or -EINVAL; `*id` is -1 when it could not be read. */
int request_head(const json_t *json, int64_t *id, enum request_kind *kind, struct error *error);

int request_open(const json_t *json, struct open_request *request, struct error *error);

/*
 * Reads a trial for the ports of `config` into a cleared struct. Returns 0, -EINVAL or
 * -ENOMEM; in any case trial_request_clear() frees what was read.
 */
int request_trial(const json_t *json, const struct open_request *config,
                  struct trial_request *request, struct error *error);

/* Reads new rates for streams of `trial` into a cleared struct. Returns 0 or -EINVAL. */
int request_rates(const json_t *json, const struct trial_request *trial,
                  struct rates_request *request, struct error *error);

/* Reads a switch of one of `trial`'s captures into a cleared struct. Returns 0 or -EINVAL. */
int request_capture(const json_t *json, const struct trial_request *trial,
                    struct capture_switch *change, struct error *error);

/* Reads which link of `config`'s ports is to change into a cleared struct. Returns 0 or -EINVAL. */
int request_link(const json_t *json, const struct open_request *config,
                 struct link_request *request, struct error *error);

/* Reads whom to ask for into a cleared struct, for hosts of `config`. Returns 0 or -EINVAL. */
int request_resolve(const json_t *json, const struct open_request *config,
                    struct resolve_request *request, struct error *error);

int request_stop(const json_t *json, struct error *error);

#endif
