/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the delay DUT has to do with the frames of each path, right and wrong. Written as
 * one JSON object:
 *
 *   {"seed": 1, "paths": [{
 *       "from": 0, "to": 1,                the ports, in the order of the command line
 *       "hold_ns": [10000, 20000],         uniform between the two; absent: none
 *       "keep_order": false,               absent: true
 *       "padding": 170,                    what fills frames up to 60 bytes; absent: 0
 *       "withhold_late_ns": 1000,          see below; absent: sends all
 *       "wrongs": [{"do": "drop", "stream": 0, "every": 10}, …],
 *       "rewrites": [{"remove": 4, "at": 12}, …]}]}
 *
 * A wrong befalls the frames with the numbers in "frames", or each one of "every": of ten
 * the last. Frames are counted from 0 per path and stream, as they come in; "stream" is
 * absent for all streams. The kinds are those of enum action.
 *
 * A DUT that was away itself does not know when the frames came that waited in that time, and
 * sends others later than it should. With "withhold_late_ns" it keeps those back for which
 * that may be more than so much, so that it knows the holds of all that it sends.
 *
 * Rewrites befall every frame, in their order, after the wrongs: "remove" takes so many
 * bytes out, "insert" puts bytes (hexadecimal) in, "write" changes bytes of even number at
 * an even place and brings the Internet checksums at "fixes" up to date (RFC 1624).
 */
#ifndef DELAY_DUT_BEHAVIOUR_H
#define DELAY_DUT_BEHAVIOUR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATHS_MAX 4
#define WRONGS_MAX 16
#define REWRITES_MAX 8
#define LISTED_MAX 4096
#define BYTES_MAX 1518
#define FIXES_MAX 4
#define ANY_STREAM -1

enum action {
    ACTION_DROP,
    ACTION_DUPLICATE, /* "copies" (1) more of it, right behind it */
    ACTION_CORRUPT,   /* XOR "flip" (1) to the byte that lies "byte" (0) before the last */
    ACTION_REORDER,   /* sent right behind the frame that is "by" (1) numbers later */
    ACTION_MISDIRECT, /* sent back to where it came from */
    ACTION_STALE,     /* bears the mark "mark" (1) instead of its own, and is whole */
    ACTION_INJECT,    /* "frame" (hexadecimal) is sent right behind it */
    ACTIONS,
};

extern const char *const action_names[ACTIONS];

struct bytes {
    uint16_t count;
    uint8_t byte[BYTES_MAX];
};

struct wrong {
    enum action action;
    int stream;
    uint32_t every; /* 0: those listed */
    uint32_t listed_count;
    uint32_t listed[LISTED_MAX]; /* ascending */
    uint32_t copies, byte, flip, by, mark;
    struct bytes frame;
    uint64_t applied;
};

enum rewrite_kind { REWRITE_REMOVE, REWRITE_INSERT, REWRITE_WRITE };

struct rewrite {
    enum rewrite_kind kind;
    uint32_t at;
    uint32_t remove;
    struct bytes bytes;
    uint32_t fix_count;
    uint32_t fixes[FIXES_MAX];
};

struct path_behaviour {
    uint16_t from, to;
    uint64_t least_hold_ns, most_hold_ns;
    uint64_t withhold_late_ns; /* UINT64_MAX: withholds none */
    bool keep_order;
    uint8_t padding;
    uint32_t wrong_count, rewrite_count;
    struct wrong wrongs[WRONGS_MAX];
    struct rewrite rewrites[REWRITES_MAX];
};

struct behaviour {
    uint64_t seed;
    uint32_t path_count;
    struct path_behaviour paths[PATHS_MAX];
};

/*
 * Reads a behaviour for so many ports. Returns 0, or -EINVAL with the reason in `why`; the
 * behaviour is then not fit for use.
 */
int behaviour_read(struct behaviour *behaviour, const json_t *json, uint16_t port_count, char *why,
                   size_t why_size);

#endif
