/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/time/tester_delay.h"

static uint64_t
least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/*
 * The time in which the burst's frames before this one came back, which is their number ÷ the rate
 * at which they did. Where the first of them may have waited for the receiving loop, it may have
 * come back earlier than it was taken in.
 */
static uint64_t
behind_burst(struct catch_up *catch_up, uint64_t burst, uint64_t held, uint64_t received_at)
{
    if (!catch_up || burst < catch_up->burst)
        return UINT64_MAX;
    if (burst > catch_up->burst)
        *catch_up = (struct catch_up){.burst = burst, .since = received_at - held};
    return received_at > catch_up->since ? received_at - catch_up->since : 0;
}

static uint64_t
delay_of(const struct past_stall *stall, struct catch_up *catch_up, uint64_t held, uint64_t sent_at,
         uint64_t received_at)
{
    const uint64_t handing_over =
        sent_at < stall->end ? least(stall->end, received_at) - sent_at : 0;
    uint64_t behind = 0;

    if (sent_at >= stall->burst && sent_at < stall->caught_up)
        behind = behind_burst(catch_up, stall->burst, held, received_at);
    /* Both end when the frame was taken in, so the longer one has the other in it. */
    const uint64_t waiting = behind > held ? behind : held;
    const uint64_t latency = received_at - sent_at;
    return waiting < latency ? least(waiting + handing_over, latency) : latency;
}

struct tester_delay
tester_delay(const struct stall_ring *sender, const _Atomic uint64_t *last_look,
             struct catch_up *catch_up, uint64_t held, uint64_t sent_at, uint64_t received_at)
{
    const bool handed_over = atomic_load_explicit(last_look, memory_order_acquire) > sent_at;
    struct tester_delay delay = {.ticks = held};
    struct past_stall stall;

    switch (stall_ring_find(sender, sent_at, &stall)) {
    case STALL_NONE:
        break;
    case STALL_FOUND:
        delay.ticks = delay_of(&stall, catch_up, held, sent_at, received_at);
        break;
    case STALL_FORGOTTEN:
        delay = (struct tester_delay){.ticks = received_at - sent_at, .unknown = true};
        break;
    }
    if (!handed_over)
        delay.ticks = received_at - sent_at;
    return delay;
}
