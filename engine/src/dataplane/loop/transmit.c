/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/transmit.h"

#include <assert.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <stddef.h>

#include "dataplane/frames/signature.h"
#include "dataplane/loop/stamping.h"
#include "dataplane/loop/stream_course.h"
#include "dataplane/loop/worker_clock.h"

/* All but the signature, which sign() writes. 42 bytes are quicker copied as 32 and 16. */
static inline void
copy_template(uint8_t *const *frames, uint32_t count, const struct tx_template *template)
{
    const uint32_t bytes = template->bytes - SIGNATURE_BYTES;

    if (bytes == FRAME_MIN_BYTES - SIGNATURE_BYTES) {
        for (uint32_t i = 0; i < count; i++) {
            memcpy(frames[i], template->frame, 32);
            memcpy(frames[i] + 26, template->frame + 26, 16);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        rte_memcpy(frames[i], template->frame, bytes);
}

/* Frames of one burst share its stamp. */
static inline void
sign(struct tx_stream *stream, uint8_t *const *frames, uint32_t count, uint32_t frame_bytes,
     uint16_t mark, uint64_t stamp)
{
    const uint32_t at = frame_bytes - SIGNATURE_BYTES;
    struct signature_words words =
        signature_words(mark, stream->stream, stream->next_sequence, stamp);

    for (uint32_t i = 0; i < count; i++, words = signature_next(words))
        signature_store(frames[i] + at, words);
    stream->next_sequence += count;
}

/*
 * The part of an mbuf that drivers too write in one go when they receive. Its other
 * fields are as freeing left them: one segment, one reference.
 */
struct mbuf_head {
    uint16_t data_off;
    uint16_t refcnt;
    uint16_t nb_segs;
    uint16_t port;
    uint64_t ol_flags;
    uint32_t packet_type;
    uint32_t pkt_len;
    uint16_t data_len;
    uint16_t vlan_tci;
    uint32_t hash;
};
static_assert(offsetof(struct rte_mbuf, data_len) - offsetof(struct rte_mbuf, data_off) ==
                  offsetof(struct mbuf_head, data_len),
              "mbuf layout");

static inline uint8_t *
prepare(struct rte_mbuf *mbuf, const struct mbuf_head *head)
{
    memcpy((void *)&mbuf->rearm_data, head, sizeof(*head));
    return (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM;
}

static inline struct mbuf_head
head_of(const struct tx_template *template)
{
    return (struct mbuf_head){.data_off = RTE_PKTMBUF_HEADROOM,
                              .refcnt = 1,
                              .nb_segs = 1,
                              .port = RTE_MBUF_PORT_INVALID,
                              .ol_flags = template->mbuf_flags,
                              .pkt_len = template->bytes,
                              .data_len = (uint16_t) template->bytes};
}

/* One thing for all frames at a time, so that what it needs stays in registers. */
static inline void
build_alike(struct tx_stream *stream, const struct tx_template *template, struct rte_mbuf **mbufs,
            uint32_t count, uint16_t mark, uint64_t stamp)
{
    const struct mbuf_head head = head_of(template);
    uint8_t *frames[TX_BURST];

    for (uint32_t i = 0; i < count; i++)
        frames[i] = prepare(mbufs[i], &head);
    copy_template(frames, count, template);
    frame_fields_write(&template->fields, &stream->request->fields, &stream->counters, frames,
                       count);
    sign(stream, frames, count, template->bytes, mark, stamp);
}

static inline uint32_t
template_at(const struct tx_stream *stream, uint32_t position)
{
    return stream->request->order ? stream->request->order[position] : position;
}

/*
 * Takes the templates of the next frames, and puts of each all but the signature into its buffer.
 */
static inline void
lay_out_mixed(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count,
              uint32_t signature_bytes, uint8_t **frames, uint8_t **signatures)
{
    const struct frame_fields *prepared[TX_BURST];
    const struct mbuf_head head = head_of(stream->templates);

    for (uint32_t i = 0; i < count; i++) {
        const struct tx_template *template =
            &stream->templates[template_at(stream, stream->position)];
        const uint32_t bytes = template->bytes - signature_bytes;

        /* The lengths in place: a head written in parts cannot be read at once without a stall. */
        frames[i] = prepare(mbufs[i], &head);
        mbufs[i]->pkt_len = template->bytes;
        mbufs[i]->data_len = (uint16_t) template->bytes;
        signatures[i] = frames[i] + bytes;
        prepared[i] = &template->fields;
        rte_memcpy(frames[i], template->frame, bytes);
        stream->position = stream->position + 1 < stream->order_count ? stream->position + 1 : 0;
    }
    frame_fields_write_mixed(prepared, &stream->request->fields, &stream->counters, frames, count);
}

static void
build_mixed(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count, uint16_t mark,
            uint64_t stamp)
{
    struct signature_words words =
        signature_words(mark, stream->stream, stream->next_sequence, stamp);
    uint8_t *frames[TX_BURST], *signatures[TX_BURST];

    lay_out_mixed(stream, mbufs, count, SIGNATURE_BYTES, frames, signatures);
    for (uint32_t i = 0; i < count; i++, words = signature_next(words))
        signature_store(signatures[i], words);
    stream->next_sequence += count;
}

/* Frames that have no room for a time. */
static __rte_noinline void
build_short(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count, uint16_t mark)
{
    uint8_t *frames[TX_BURST], *signatures[TX_BURST];

    lay_out_mixed(stream, mbufs, count, SHORT_SIGNATURE_BYTES, frames, signatures);
    for (uint32_t i = 0; i < count; i++)
        signature_store_short(signatures[i],
                              signature_words(mark, stream->stream, stream->next_sequence++, 0));
}

static inline void
build(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count, uint16_t mark,
      uint64_t stamp)
{
    if (unlikely(stream->short_signature))
        build_short(stream, mbufs, count, mark);
    else if (likely(stream->template_count == 1))
        build_alike(stream, stream->templates, mbufs, count, mark, stamp);
    else
        build_mixed(stream, mbufs, count, mark, stamp);
}

/* What the port refused was never sent: its numbers and flows go to the next frames. */
static void
take_back(struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t count)
{
    const uint32_t order = stream->order_count;

    rte_pktmbuf_free_bulk(mbufs, count);
    stream->next_sequence -= count;
    stream->position = (stream->position + order - count % order) % order;
    field_counters_rewind(&stream->counters, &stream->request->fields, count);
}

/* Builds and sends `due` frames at `stamp`, and returns how many the port took. */
static uint32_t
send_burst(struct worker *worker, struct tx_stream *stream, struct rte_mbuf **mbufs, uint32_t due,
           uint64_t stamp)
{
    struct cycle_meter *meter = &worker->cycles[worker->open_page];
    const uint64_t stall = worker->run->stall_ticks;
    uint64_t built = 0;

    build(stream, mbufs, due, worker->run->mark, stamp);
    if (unlikely(worker_is_metered(worker))) {
        built = rte_rdtsc();
        cycle_meter_record(meter, STEP_BUILD, built - last_look(worker), due, stall);
    }
    const uint32_t sent = rte_eth_tx_burst(stream->dpdk_port, stream->queue, mbufs, (uint16_t)due);
    if (unlikely(worker_is_metered(worker)))
        cycle_meter_record(meter, STEP_SEND, rte_rdtsc() - built, due, stall);
    if (unlikely(sent < due))
        take_back(stream, mbufs + sent, due - sent);
    return sent;
}

/*
 * Sends what is due since `due_at` and returns how many frames the port took. Load
 * frames share their burst's stamp; latency streams send one frame at a time.
 */
static uint32_t
send_due(struct worker *worker, struct tx_stream *stream, uint32_t due, uint64_t due_at)
{
    struct tx_page *page = &stream->pages[worker->open_page];
    struct rte_mbuf *mbufs[TX_BURST];

    overdue_send(&worker->overdue, due_at, worker->turn);
    if (unlikely(rte_mempool_get_bulk(stream->pool, (void **)mbufs, due) != 0)) {
        page->frames.no_buffer += due;
        return 0;
    }
    const uint64_t stamp = rte_rdtsc();
    const uint32_t sent = send_burst(worker, stream, mbufs, due, stamp);
    page->frames.sent += sent;
    /* A stream that takes all there is room for is not refused what there is none for. */
    if (unlikely(sent < due && stream->pacing != PACING_BACK_TO_BACK)) {
        page->frames.refused += due - sent;
        refusals_note(&page->refusals, stamp, due - sent, worker->run->refusal_gap_ticks);
    }
    if (stream->role == ROLE_LATENCY && sent > 0)
        histogram_record(&page->lateness, ticks_to_ns(worker->run, stamp - due_at));
    return sent;
}

static uint32_t
send_one_in_flight(struct worker *worker, struct tx_stream *stream, uint64_t now, uint64_t until)
{
    const bool in_flight = stream->flight->in_flight;

    if (stream->stamping && !stamping_tx_stamp_ready(stream->stamping, stream->flight, now))
        return 0;
    const enum flight_state state = flight_look(stream->flight, now);

    if (state == FLIGHT_TIMED_OUT)
        stream->pages[worker->open_page].frames.timed_out++;
    else if (stream->stamping && in_flight && !stream->flight->in_flight)
        stamping_count(worker, stream->stamping, stream->flight);
    if (state != FLIGHT_DUE || now >= until || stream->frames_left == 0)
        return 0;
    if (stream->stamping)
        stamping_begin(stream->stamping);
    if (send_due(worker, stream, 1, now) == 0) {
        flight_hold(stream->flight, now);
        return 0;
    }
    flight_probe_sent(stream->flight, stream->next_sequence - 1, now);
    if (--stream->frames_left == 0)
        stream_course_over(stream, now);
    return 1;
}

static uint32_t
send_scheduled(struct worker *worker, struct tx_stream *stream, uint64_t now, uint64_t until)
{
    /* Frames meant for before the end are still sent after it, unless they are too late. */
    const uint64_t latest = until + stream->pacer.patience;
    const uint64_t skipped = pacer_skip_late(&stream->pacer, now < latest ? now : latest);
    const uint32_t most = (uint32_t)RTE_MIN(stream->frames_left, (uint64_t)stream->burst_limit);
    uint64_t due_at = now;

    if (unlikely(skipped > 0))
        stream->pages[worker->open_page].frames.skipped += skipped;
    /* Each captured frame at its own time, whatever was skipped or refused before. */
    if (unlikely(stream->pacing == PACING_CAPTURED))
        stream->position = stream->pacer.frame;
    const uint32_t due = pacer_take(&stream->pacer, now < until ? now : until - 1, most, &due_at);
    if (due == 0)
        return 0;
    const uint32_t sent = send_due(worker, stream, due, due_at);
    /* What there was no room for yet is still to be sent by a stream that waits for room. */
    stream->frames_left -= stream->pacing == PACING_BACK_TO_BACK ? sent : due;
    if (unlikely(stream->frames_left == 0))
        stream_course_over(stream, now);
    return due;
}

/* What was due in a window is sent, or skipped as too late, before the next one opens. */
static uint32_t
send_in_window(struct worker *worker, struct tx_stream *stream, uint64_t now, uint64_t until)
{
    struct send_window *window = &stream->window;
    const bool unpaced = stream->pacing == PACING_BACK_TO_BACK;
    uint32_t frames = 0;

    if (now < window->begin)
        return 0;
    if (!unpaced || now < RTE_MIN(window->end, until))
        frames = send_scheduled(worker, stream, now, RTE_MIN(window->end, until));
    if (now >= window->end && (unpaced || pacer_due(&stream->pacer) >= window->end)) {
        send_window_next(window);
        pacer_resume(&stream->pacer, window->begin);
    }
    return frames;
}

/* Before the end, or what was due until then and is not too late. */
static inline uint32_t
send_until(struct worker *worker, struct tx_stream *stream, uint64_t now, uint64_t until)
{
    if (unlikely(stream->windowed))
        return send_in_window(worker, stream, now, until);
    /* There is nothing to catch up on where nothing has its time. */
    if (stream->pacing == PACING_BACK_TO_BACK && now >= until)
        return 0;
    return send_scheduled(worker, stream, now, until);
}

/*
 * A stream's time is over: what was due in it and could not be sent in time is skipped, of a
 * worker that was away perhaps in several windows, one in each turn.
 */
static __rte_noinline uint32_t
end_stream(struct worker *worker, struct tx_stream *stream, uint64_t now)
{
    const uint64_t number = stream->window.number;

    if (!stream->flight)
        send_until(worker, stream, now, stream->until);
    if (!stream->windowed || stream->window.number == number ||
        stream->window.begin >= stream->until)
        stream_course_over(stream, stream->until);
    return 0;
}

uint32_t
transmit(struct worker *worker, struct tx_stream *stream, uint64_t now)
{
    const uint64_t sending = atomic_load_explicit(&worker->run->send_until, memory_order_relaxed);
    const uint64_t until = RTE_MIN(sending, stream->until);

    if (unlikely(now >= stream->over_at))
        return end_stream(worker, stream, now);
    if (stream->pacing == PACING_ONE_IN_FLIGHT)
        return send_one_in_flight(worker, stream, now, until);
    if (unlikely(stream->frames_left == 0))
        return 0;
    return send_until(worker, stream, now, until);
}
