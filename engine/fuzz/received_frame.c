/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/received_frame.h"

#include <rte_mbuf_dyn.h>
#include <string.h>

#include "dataplane/frames/signature.h"
#include "fuzz/invariant.h"
#include "fuzz/verdict.h"

#define CUTS_MAX 7

uint32_t
input_number(struct input *input, uint32_t bytes)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < bytes && input->left > 0; i++, input->left--)
        number = number << 8 | *input->at++;
    return number;
}

/* What the input says of a frame, besides its bytes. */
struct plan {
    bool is_signed, is_damaged;
    uint16_t mark, stream;
    uint32_t padding, sequence, time;
    uint32_t cut_count;
    uint32_t cuts[CUTS_MAX]; /* lengths of all segments but the last, modulo what is left */
};

static struct plan
read_plan(struct input *input)
{
    static const uint16_t streams[] = {HOME_STREAM, PROBE_STREAM, AWAY_STREAM, 6};
    static const uint16_t marks[] = {TRIAL_MARK, TRIAL_MARK, 0x4321, 0};
    const uint32_t choice = input_number(input, 1);
    struct plan plan = {
        .is_signed = choice & 1,
        .is_damaged = choice >> 7,
        .mark = marks[choice >> 1 & 3],
        .stream = streams[choice >> 3 & 3],
        .padding = input_number(input, 1) % 64,
        .sequence = input_number(input, 1),
        .time = input_number(input, 3),
    };

    plan.cut_count = input_number(input, 1) % (CUTS_MAX + 1);
    for (uint32_t i = 0; i < plan.cut_count; i++)
        plan.cuts[i] = input_number(input, 2);
    return plan;
}

/* A fuzzer does not find an intact signature by chance, so it may have one put in. */
static void
sign(struct received_frame *frame, const struct plan *plan)
{
    if (!plan->is_signed || frame->length < SIGNATURE_BYTES + plan->padding)
        return;
    uint8_t *at = frame->bytes + frame->length - SIGNATURE_BYTES - plan->padding;

    signature_store(at, signature_words(plan->mark, plan->stream, plan->sequence, plan->time));
    if (plan->is_damaged)
        at[plan->time % SIGNATURE_BYTES] ^= (uint8_t)(1 << plan->sequence % 8);
}

static struct rte_mbuf *
make_segment(const uint8_t *bytes, uint32_t length)
{
    struct rte_mbuf *mbuf = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*mbuf));

    invariant(mbuf);
    memset(mbuf, 0, sizeof(*mbuf));
    /* malloc(0) may give NULL, which no driver does. */
    mbuf->buf_addr = malloc(length > 0 ? length : 1);
    invariant(mbuf->buf_addr);
    memcpy(mbuf->buf_addr, bytes, length);
    mbuf->data_len = (uint16_t)length;
    /* The receiver's freeing takes one and leaves it to received_frame_free(): no mempool. */
    mbuf->refcnt = 2;
    return mbuf;
}

static struct rte_mbuf *
make_segments(const struct received_frame *frame, const struct plan *plan)
{
    struct rte_mbuf *head = NULL, **next = &head;
    uint32_t at = 0;

    for (uint32_t i = 0; i <= plan->cut_count; i++) {
        const uint32_t rest = frame->length - at;
        const uint32_t length = i < plan->cut_count ? plan->cuts[i] % (rest + 1) : rest;

        *next = make_segment(frame->bytes + at, length);
        next = &(*next)->next;
        at += length;
    }
    head->nb_segs = (uint16_t)(plan->cut_count + 1);
    head->pkt_len = frame->length;
    return head;
}

void
received_frame_make(struct received_frame *frame, struct input *input)
{
    frame->length = input_number(input, 2) % (FRAME_BYTES_MAX + 1);
    const struct plan plan = read_plan(input);
    const size_t given = input->left < frame->length ? input->left : frame->length;

    memset(frame->bytes, 0, frame->length);
    memcpy(frame->bytes, input->at, given);
    input->at += given;
    input->left -= given;
    sign(frame, &plan);
    frame->mbuf = make_segments(frame, &plan);
    frame->mbuf->ol_flags = plan.padding & STAMP_FLAG;
    *RTE_MBUF_DYNFIELD(frame->mbuf, STAMP_OFFSET, uint64_t *) = plan.time;
}

void
received_frame_free(struct received_frame *frame)
{
    for (struct rte_mbuf *segment = frame->mbuf, *next; segment; segment = next) {
        next = segment->next;
        invariant(segment->refcnt == 1);
        free(segment->buf_addr);
        free(segment);
    }
}
