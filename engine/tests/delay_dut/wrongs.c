/* SPDX-License-Identifier: Apache-2.0 */
#include "wrongs.h"

#include <stdlib.h>

#include "signed_frame.h"

static int
compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static bool
befalls(const struct wrong *wrong, uint16_t stream, uint32_t number)
{
    if (wrong->stream != ANY_STREAM && wrong->stream != stream)
        return false;
    if (wrong->every > 0)
        return number % wrong->every == wrong->every - 1;
    return bsearch(&number, wrong->listed, wrong->listed_count, sizeof(number), compare);
}

static void
corrupt(struct rte_mbuf *mbuf, const struct wrong *wrong)
{
    if (wrong->byte < mbuf->data_len)
        *rte_pktmbuf_mtod_offset(mbuf, uint8_t *, mbuf->data_len - 1 - wrong->byte) ^=
            (uint8_t)wrong->flip;
}

static void
do_wrong(const struct path *path, const struct wrong *wrong, struct held *held, struct fate *fate)
{
    switch (wrong->action) {
    case ACTION_DROP:
        fate->dropped = true;
        break;
    case ACTION_DUPLICATE:
        fate->copies += wrong->copies;
        break;
    case ACTION_CORRUPT:
        corrupt(held->mbuf, wrong);
        break;
    case ACTION_REORDER:
        fate->later = wrong->by;
        break;
    case ACTION_MISDIRECT:
        held->port = path->behaviour->from;
        break;
    case ACTION_STALE:
        signed_frame_remark(rte_pktmbuf_mtod(held->mbuf, uint8_t *), held->mbuf->data_len,
                            (uint16_t)wrong->mark);
        break;
    case ACTION_INJECT:
        fate->frame[fate->injected++] = &wrong->frame;
        break;
    case ACTIONS:
        break;
    }
}

struct fate
wrongs_do(struct path *path, struct held *held, uint32_t number)
{
    struct fate fate = {0};

    for (uint32_t i = 0; i < path->behaviour->wrong_count; i++) {
        struct wrong *wrong = &path->behaviour->wrongs[i];

        if (!befalls(wrong, held->stream, number))
            continue;
        do_wrong(path, wrong, held, &fate);
        wrong->applied++;
        held->done |= UINT32_C(1) << wrong->action;
    }
    return fate;
}
