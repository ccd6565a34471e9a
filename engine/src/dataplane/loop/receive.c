/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/loop/receive.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "dataplane/frames/buried_signature.h"
#include "dataplane/frames/signature.h"
#include "dataplane/loop/answering.h"
#include "dataplane/loop/arrival.h"
#include "dataplane/loop/capturing.h"
#include "dataplane/loop/received_check.h"
#include "dataplane/loop/stamping.h"
#include "dataplane/loop/worker_clock.h"

/* The measuring loop works on frame i while frame i + this many is on its way to the cache. */
#define PREFETCH_DISTANCE 4

/* Enough of a frame to tell its kind behind several VLAN tags. */
#define HEAD_BYTES 64

/*
 * Frames that were sent in one burst and came one after the other, none between them
 * missing: they share stream, stamp and latency, so they are counted together.
 */
struct train {
    struct rx_stream *stream; /* NULL: there is none */
    struct signature_words next;
    uint64_t stamp;
    uint64_t sequence;  /* of the first frame */
    uint32_t followers; /* frames after the first */
    uint32_t bytes;     /* of all its frames, without FCS */
};

#define NO_TRAIN ((struct train){.next.complement = SIGNATURE_OF_NO_FRAME})

/* The TSC at sending: a stamp is its lower 48 bits, and the frame was received by `now`. */
static inline uint64_t
sending_time(uint64_t stamp, uint64_t now)
{
    return now - ((now - stamp) & SIGNATURE_BITS48);
}

static __rte_noinline void
keep_worst(struct rx_page *page, const struct train *train, uint64_t latency, uint64_t now,
           uint64_t delay)
{
    worst_latencies_keep(&page->worst, (struct worst_latency){.latency = latency,
                                                              .received_at = now,
                                                              .sequence = train->sequence,
                                                              .frames = 1 + train->followers,
                                                              .delay = delay});
}

/* Counts frames that a stall of ours may have delayed, and returns by how much at most. */
static __rte_noinline uint64_t
record_delayed(const struct worker *worker, const struct rx_stream *stream, struct rx_page *page,
               uint64_t held, uint64_t sent_at, uint64_t now, uint32_t frames)
{
    const struct worker *sender = stream->sender;
    const struct tester_delay delay =
        tester_delay(&sender->stall_ring, &sender->last_look, stream->catch_up, held, sent_at, now);
    const uint64_t latency = now - sent_at;
    const uint64_t high = ticks_to_ns(worker->run, latency);
    const uint64_t low = ticks_to_ns(worker->run, latency - delay.ticks);

    if (delay.ticks == 0)
        return 0;
    page->frames.low_end_unknown += delay.unknown ? frames : 0;
    histogram_record_many(&page->latency_across_stalls, high, frames);
    histogram_record_many(&page->latency_less_stalls, low, frames);
    delayed_ends_note(&page->delayed_ends, low, high, frames);
    return delay.ticks;
}

static inline void
record_latency(const struct worker *worker, const struct rx_stream *stream, struct rx_page *page,
               const struct queue_hold *hold, uint64_t now, const struct train *train)
{
    const struct worker *sender = stream->sender;
    const uint64_t sent_at = sending_time(train->stamp, now);
    const uint64_t latency = now - sent_at;
    const uint64_t ns = ticks_to_ns(worker->run, latency);
    const uint32_t frames = 1 + train->followers;
    const uint64_t held = queue_hold_of(hold, sent_at, now);
    uint64_t delay = 0;

    if (unlikely(held > 0 || sender_may_have_delayed(&sender->stall_ring, &sender->last_look,
                                                     worker->run->stall_ticks, sent_at, now)))
        delay = record_delayed(worker, stream, page, held, sent_at, now, frames);
    if (unlikely(worst_latencies_wants(&page->worst, latency)))
        keep_worst(page, train, latency, now, delay);
    if (unlikely(stream->flows))
        flow_counts_note(stream->flows, train->sequence, frames, ns, delay == 0);
    if (unlikely(delay > 0))
        return;
    histogram_record_many(&page->latency, ns, frames);
    if (stream->role == ROLE_LATENCY)
        microseconds_record_many(&page->microseconds, ns, frames);
}

static inline void
count_train(const struct worker *worker, const struct train *train, const struct queue_hold *hold,
            uint64_t now)
{
    const uint32_t frames = 1 + train->followers;

    if (!train->stream)
        return;
    struct rx_page *page = &train->stream->pages[worker->open_page];
    page->frames.received += frames;
    page->frames.received_bytes += train->bytes + frames * RTE_ETHER_CRC_LEN;
    sequence_advance(&train->stream->sequence, train->followers);
    record_latency(worker, train->stream, page, hold, now, train);
}

/* A frame that does not say when it was sent, alone. */
static void
count_untimed(const struct worker *worker, const struct train *train)
{
    struct rx_counters *frames = &train->stream->pages[worker->open_page].frames;

    frames->received++;
    frames->received_bytes += train->bytes + RTE_ETHER_CRC_LEN;
    if (train->stream->flows)
        flow_counts_note(train->stream->flows, train->sequence, 1, 0, false);
}

/* A frame that was not the next one: it leaves a gap before it, or fills one. */
static __rte_noinline void
note_out_of_order(const struct rx_stream *stream, struct rx_page *page,
                  const struct signature *signature, uint64_t expected,
                  enum sequence_verdict verdict, uint64_t now)
{
    const uint64_t sequence = signature->sequence;

    if (verdict == SEQUENCE_DUPLICATE && stream->flows)
        flow_counts_note_duplicate(stream->flows, sequence);
    if (!stream->sole_queue)
        return;
    if (verdict == SEQUENCE_IN_ORDER)
        loss_events_note(&page->losses,
                         (struct loss_event){
                             .first = expected,
                             .frames = sequence - expected,
                             .after = expected > 0 ? sending_time(stream->newest_stamp, now) : 0,
                             .before = sending_time(signature->time, now),
                             .seen_at = now,
                         });
    else if (verdict == SEQUENCE_OUT_OF_ORDER && sequence >= page->late.begin)
        loss_events_fill(&page->losses, sequence, 1);
    else if (verdict == SEQUENCE_OUT_OF_ORDER)
        late_ranges_note(&page->late, sequence);
}

/* Whether the frame came in order. */
static inline bool
count_order(struct rx_stream *stream, struct rx_page *page, const struct signature *signature,
            uint64_t now)
{
    const uint64_t expected = stream->sequence.expected;
    const enum sequence_verdict verdict = sequence_see(&stream->sequence, signature->sequence);

    page->frames.out_of_order += verdict == SEQUENCE_OUT_OF_ORDER;
    page->frames.duplicate += verdict == SEQUENCE_DUPLICATE;
    if (unlikely(signature->sequence != expected))
        note_out_of_order(stream, page, signature, expected, verdict, now);
    if (verdict == SEQUENCE_IN_ORDER)
        stream->newest_stamp = signature->time;
    return verdict == SEQUENCE_IN_ORDER;
}

/* None of ours, as far as one can see: perhaps for the port's host, or cut short, else foreign. */
static void
count_foreign(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf)
{
    const uint32_t length = RTE_MIN(mbuf->pkt_len, (uint32_t)HEAD_BYTES);
    uint8_t copy[HEAD_BYTES];

    if (queue->host && answering_take(worker, queue, mbuf))
        return;
    const uint8_t *head = rte_pktmbuf_read(mbuf, 0, length, copy);
    struct port_page *page = &worker->ports[worker->open_page][queue->port];
    if (cut_short(head, length, mbuf->pkt_len))
        page->truncated++;
    else
        page->foreign[foreign_kind(head, length)]++;
}

/* Looks for a signature before padding that the DUT added; false when there is none. */
static bool
find_buried(const struct worker *worker, const struct rte_mbuf *mbuf, struct signature_words *words)
{
    const uint32_t length = RTE_MIN(mbuf->pkt_len, (uint32_t)BURIED_TAIL_BYTES);
    uint8_t copy[BURIED_TAIL_BYTES];
    const uint8_t *tail = rte_pktmbuf_read(mbuf, mbuf->pkt_len - length, length, copy);

    return buried_signature_find(tail, length, worker->run->mark, words);
}

/* A probe of which there is but one under way. Where ports stamp it, they alone say how long. */
static __rte_noinline void
land(const struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
     uint64_t now, struct train *train)
{
    struct rx_stream *stream = train->stream;
    const uint64_t number = train->sequence;

    if (stream->stamping) {
        stamping_landed(stream->stamping, stream->flight, queue, mbuf, number, now);
        count_untimed(worker, train);
        *train = NO_TRAIN;
    }
    flight_land(stream->flight, number);
}

/* A frame of ours: begins a train with it if it is whole and came to the right place. */
static inline void
begin_train(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
            struct signature_words words, const struct signature signature, uint64_t now,
            struct train *train)
{
    const uint8_t index = worker->run->stream_index[signature.stream];
    struct rx_stream *stream = queue->streams[index];

    if (unlikely(!stream)) {
        worker->strays[worker->open_page][index].misdirected++;
        return;
    }
    if (unlikely(!received_whole(worker, queue, stream, mbuf))) {
        worker->strays[worker->open_page][index].corrupt++;
        return;
    }
    train->stream = stream;
    train->stamp = signature.time;
    train->sequence = signature.sequence;
    train->bytes = mbuf->pkt_len;
    if (count_order(stream, &stream->pages[worker->open_page], &signature, now))
        train->next = signature_next(words);
    if (stream->flight)
        land(worker, queue, mbuf, now, train);
}

/*
 * A frame that may end with a short signature; false when it does not. It is not known when it
 * was sent: where the time of a loss is requested, it is between the frames' arrivals.
 */
static bool
judge_short(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
            uint64_t now, struct train *train)
{
    const struct run *run = worker->run;
    uint8_t copy[SHORT_SIGNATURE_BYTES];
    const struct signature_words words = signature_load_short(
        rte_pktmbuf_read(mbuf, mbuf->pkt_len - SHORT_SIGNATURE_BYTES, SHORT_SIGNATURE_BYTES, copy));
    struct signature signature = signature_read(words);
    const uint8_t index = run->stream_index[signature.stream];

    if (signature.mark != run->mark || index == NO_STREAM ||
        !run->tx_streams[index]->short_signature)
        return false;
    signature.time = now & SIGNATURE_BITS48;
    if (signature.intact)
        begin_train(worker, queue, mbuf, words, signature, now, train);
    else
        worker->strays[worker->open_page][index].corrupt++;
    /* Alone, as there is no latency that it could share. */
    if (train->stream)
        count_untimed(worker, train);
    *train = NO_TRAIN;
    return true;
}

/* A frame that does not end with a signature of this trial, or with a damaged one. */
static void
judge_stray(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
            const struct signature *signature, uint64_t now, struct train *train)
{
    const struct run *run = worker->run;
    struct signature_words words;

    if (run->short_signatures && judge_short(worker, queue, mbuf, now, train))
        return;
    if (signature->mark == run->mark && run->stream_index[signature->stream] != NO_STREAM) {
        worker->strays[worker->open_page][run->stream_index[signature->stream]].corrupt++;
    } else if (signature->intact && signature->mark != 0 && signature->mark != UINT16_MAX &&
               signature->mark != run->mark) {
        worker->ports[worker->open_page][queue->port].stale++;
    } else if (find_buried(worker, mbuf, &words) &&
               run->stream_index[signature_read(words).stream] != NO_STREAM) {
        begin_train(worker, queue, mbuf, words, signature_read(words), now, train);
    } else {
        count_foreign(worker, queue, mbuf);
    }
}

/* Judges a frame that follows no other of the burst, and notes what may follow it. */
static void
judge(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
      struct signature_words words, uint64_t now, struct train *train)
{
    const struct signature signature = signature_read(words);
    const uint8_t index = worker->run->stream_index[signature.stream];

    *train = NO_TRAIN;
    if (likely(signature.intact && signature.mark == worker->run->mark && index != NO_STREAM))
        begin_train(worker, queue, mbuf, words, signature, now, train);
    else
        judge_stray(worker, queue, mbuf, &signature, now, train);
}

static inline void
prefetch(const struct rte_mbuf *mbuf)
{
    rte_prefetch0(rte_pktmbuf_mtod_offset(mbuf, void *, mbuf->data_len - SIGNATURE_BYTES));
}

/* Where the frame's signature is; in `copy` when it is split over two segments. */
static inline const uint8_t *
find_signature(const struct rte_mbuf *mbuf, uint8_t *copy)
{
    if (likely(mbuf->data_len == mbuf->pkt_len && mbuf->data_len >= SIGNATURE_BYTES))
        return rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, mbuf->data_len - SIGNATURE_BYTES);
    if (mbuf->pkt_len < SIGNATURE_BYTES)
        return NULL;
    return rte_pktmbuf_read(mbuf, mbuf->pkt_len - SIGNATURE_BYTES, SIGNATURE_BYTES, copy);
}

/* The next frame of the train; a damaged one is none of it, and leaves a gap behind it. */
static inline void
follow(struct worker *worker, const struct rx_queue *queue, const struct rte_mbuf *mbuf,
       struct signature_words words, struct train *train)
{
    if (unlikely(!received_whole(worker, queue, train->stream, mbuf))) {
        const uint8_t index = worker->run->stream_index[signature_read(words).stream];

        worker->strays[worker->open_page][index].corrupt++;
        return;
    }
    train->followers++;
    train->bytes += mbuf->pkt_len;
    train->next = signature_next(words);
}

static inline void
measure_burst(struct worker *worker, const struct rx_queue *queue, struct rte_mbuf **mbufs,
              uint16_t count, uint64_t now)
{
    struct train train = NO_TRAIN;
    uint8_t copy[SIGNATURE_BYTES];

    for (uint16_t i = 0; i < count; i++) {
        if (i + PREFETCH_DISTANCE < count)
            prefetch(mbufs[i + PREFETCH_DISTANCE]);
        const uint8_t *at = find_signature(mbufs[i], copy);
        if (unlikely(!at)) {
            count_foreign(worker, queue, mbufs[i]);
            continue;
        }
        const struct signature_words words = signature_load(at);
        if (likely(signature_same(words, train.next))) {
            follow(worker, queue, mbufs[i], words, &train);
            continue;
        }
        count_train(worker, &train, &queue->hold, now);
        judge(worker, queue, mbufs[i], words, now, &train);
    }
    count_train(worker, &train, &queue->hold, now);
}

/* As measure_burst(), for frames that each have their own time of arrival. */
static void
measure_stamped(struct worker *worker, const struct rx_queue *queue, struct rte_mbuf **mbufs,
                uint16_t count, uint64_t now)
{
    static const struct queue_hold none;
    uint8_t copy[SIGNATURE_BYTES];
    struct train train;

    for (uint16_t i = 0; i < count; i++) {
        const uint8_t *at = find_signature(mbufs[i], copy);

        if (unlikely(!at)) {
            count_foreign(worker, queue, mbufs[i]);
            continue;
        }
        judge(worker, queue, mbufs[i], signature_load(at), now, &train);
        /* What the port stamped did not wait for us. */
        count_train(worker, &train, is_stamped(queue, mbufs[i]) ? &none : &queue->hold,
                    arrival(queue, mbufs[i], now));
    }
}

uint32_t
receive(struct worker *worker, struct rx_queue *queue)
{
    struct cycle_meter *meter = &worker->cycles[worker->open_page];
    const uint64_t stall = worker->run->stall_ticks, begin = last_look(worker);
    struct rte_mbuf *mbufs[RX_BURST];
    const uint16_t count = rte_eth_rx_burst(queue->dpdk_port, queue->queue, mbufs, RX_BURST);

    if (count == 0) {
        /* A stall in this poll is still to be noted, and holds the queue anew. */
        queue_hold_end_if_short(&queue->hold, 0, false);
        return 0;
    }
    const uint64_t now = look_at_clock(worker);
    if (unlikely(queue->capture))
        capturing_take(queue, mbufs, count, now);
    for (uint16_t i = 0; i < count && i < PREFETCH_DISTANCE; i++)
        prefetch(mbufs[i]);
    if (likely(!queue->clock))
        measure_burst(worker, queue, mbufs, count, now);
    else
        measure_stamped(worker, queue, mbufs, count, now);
    rte_pktmbuf_free_bulk(mbufs, count);
    queue_hold_end_if_short(&queue->hold, count, now - begin >= stall);
    if (unlikely(worker_is_metered(worker))) {
        cycle_meter_record(meter, STEP_POLL, now - begin, count, stall);
        cycle_meter_record(meter, STEP_MEASURE, rte_rdtsc() - now, count, stall);
    }
    return count;
}
