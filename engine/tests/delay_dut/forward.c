/* SPDX-License-Identifier: Apache-2.0 */
#include "forward.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_memcpy.h>

#include "rewrite.h"
#include "signed_frame.h"
#include "wrongs.h"

#define BURST 32

/* splitmix64, by Sebastiano Vigna (public domain). */
static uint64_t
random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The range is some 2^40 at most, so the remainder's bias is nothing. */
static uint64_t
choose_hold(struct path *path)
{
    if (path->hold_range == 0)
        return path->least_hold;
    return path->least_hold + random_next(&path->random) % (path->hold_range + 1);
}

/* Returns whether there was a place for it; else it is gone. */
static bool
hold(struct path *path, const struct held *held)
{
    struct held placed = *held;

    placed.order = path->order++;
    if (path->behaviour->keep_order)
        placed.due = RTE_MAX(placed.due, path->last_due);
    path->last_due = placed.due;
    if (held_add(&path->held, &placed) == 0)
        return true;
    rte_pktmbuf_free(placed.mbuf);
    path->overfull++;
    return false;
}

static void
hold_copies(struct dut *dut, struct path *path, const struct held *original, uint32_t copies)
{
    struct held copy = *original;

    while (copies-- > 0) {
        copy.mbuf = rte_pktmbuf_copy(original->mbuf, dut->pool, 0, UINT32_MAX);
        if (copy.mbuf)
            hold(path, &copy);
        else
            path->unmade++;
    }
}

static void
inject(struct dut *dut, struct path *path, const struct held *behind, const struct bytes *bytes)
{
    struct held injected = {
        .mbuf = rte_pktmbuf_alloc(dut->pool), .due = behind->due, .port = path->behaviour->to};
    char *frame = injected.mbuf ? rte_pktmbuf_append(injected.mbuf, bytes->count) : NULL;

    if (!frame) {
        rte_pktmbuf_free(injected.mbuf);
        path->unmade++;
        return;
    }
    rte_memcpy(frame, bytes->byte, bytes->count);
    hold(path, &injected);
}

/* Puts a frame aside until a later one of its stream has come. */
static void
put_aside(struct path *path, const struct held *held, uint32_t until, uint32_t copies)
{
    if (path->aside_count == ASIDES_MAX) {
        rte_pktmbuf_free(held->mbuf);
        path->overfull++;
        return;
    }
    path->asides[path->aside_count++] =
        (struct aside){.until = until, .copies = copies, .held = *held};
}

/* Takes up what waited for this frame. */
static void
take_up(struct dut *dut, struct path *path, const struct held *overtaker, uint32_t number)
{
    for (uint32_t i = 0; i < path->aside_count;) {
        struct aside *aside = &path->asides[i];

        if (aside->held.stream != overtaker->stream || aside->until != number) {
            i++;
            continue;
        }
        aside->held.due = RTE_MAX(aside->held.due, overtaker->due);
        if (hold(path, &aside->held))
            hold_copies(dut, path, &aside->held, aside->copies);
        *aside = path->asides[--path->aside_count];
    }
}

/* A frame of ours, its fate known, goes its way. */
static void
dispatch(struct dut *dut, struct path *path, const struct held *held, const struct fate *fate,
         uint32_t number)
{
    if (fate->dropped || rewrite_frame(path->behaviour, held->mbuf) != 0) {
        path->misfits += !fate->dropped;
        rte_pktmbuf_free(held->mbuf);
    } else if (fate->later > 0) {
        put_aside(path, held, number + fate->later, fate->copies);
    } else if (hold(path, held)) {
        hold_copies(dut, path, held, fate->copies);
    }
    for (uint32_t i = 0; i < fate->injected; i++)
        inject(dut, path, held, fate->frame[i]);
    take_up(dut, path, held, number);
}

static void
withhold(struct path *path, const struct held *held)
{
    path->withheld++;
    rte_pktmbuf_free(held->mbuf);
}

/* Takes one frame in at `now`; it may have come since `uncertainty` ticks. */
static void
admit(struct dut *dut, struct path *path, struct rte_mbuf *mbuf, uint64_t now, uint64_t uncertainty)
{
    const uint64_t time = choose_hold(path);
    struct held held = {.mbuf = mbuf,
                        .due = now + time,
                        .received_at = now,
                        .uncertainty = uncertainty,
                        .port = path->behaviour->to};
    struct frame_identity identity;

    if (!signed_frame_read(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, &identity)) {
        path->without_signature++;
        hold(path, &held);
        return;
    }
    held.signed_frame = true;
    held.stream = identity.stream;
    held.sequence = identity.sequence;
    held.way = (now - identity.time) & SIGNED_TIME_MAX;
    const uint32_t number = path->next_number[identity.stream]++;
    if (uncertainty > path->withhold_late) {
        withhold(path, &held);
        return;
    }
    const struct fate fate = wrongs_do(path, &held, number);
    dispatch(dut, path, &held, &fate, number);
}

static void
receive(struct dut *dut, struct path *path)
{
    struct rte_mbuf *mbufs[BURST];
    const uint64_t begin = rte_rdtsc();
    const uint16_t count = rte_eth_rx_burst(path->behaviour->from, 0, mbufs, BURST);
    const uint64_t now = rte_rdtsc();
    /* What this poll brought may have come right after the last one had looked. */
    const uint64_t uncertainty = now - path->polled_at;

    path->polled_at = begin;
    dut->received[path->behaviour->from] += count;
    for (uint16_t i = 0; i < count; i++)
        admit(dut, path, mbufs[i], now, uncertainty);
}

static void
record(struct dut *dut, const struct held *held, uint64_t began, uint64_t ended)
{
    dut->sent[held->port]++;
    if (!held->signed_frame)
        return;
    if (dut->record_count == RECORDS_MAX) {
        dut->unrecorded++;
        return;
    }
    dut->records[dut->record_count++] =
        (struct record){.sequence = held->sequence,
                        .hold = began - held->received_at,
                        .uncertainty = held->uncertainty + (ended - began),
                        .late = began - held->due,
                        .way = held->way,
                        .port = held->port,
                        .stream = held->stream,
                        .done = held->done};
}

/* Sends what is due, one frame at a time, so that each leaves at its own time. */
static void
send_due(struct dut *dut, struct path *path)
{
    const struct held *next;

    while ((next = held_next(&path->held))) {
        struct held held = *next;
        const uint64_t now = rte_rdtsc();

        if (held.due > now)
            return;
        if (now - held.due > path->withhold_late) {
            held_remove_next(&path->held);
            withhold(path, &held);
            continue;
        }
        if (rte_eth_tx_burst(held.port, 0, &held.mbuf, 1) == 0) {
            path->refusals++;
            return;
        }
        record(dut, &held, now, rte_rdtsc());
        held_remove_next(&path->held);
    }
}

int
forward_loop(void *argument)
{
    struct dut *dut = argument;
    uint64_t before = rte_rdtsc();

    while (!atomic_load_explicit(&dut->stop, memory_order_relaxed)) {
        for (uint32_t i = 0; i < dut->behaviour.path_count; i++) {
            receive(dut, &dut->paths[i]);
            send_due(dut, &dut->paths[i]);
        }
        const uint64_t now = rte_rdtsc();
        dut->longest_turn = RTE_MAX(dut->longest_turn, now - before);
        before = now;
        dut->polls++;
    }
    return 0;
}
