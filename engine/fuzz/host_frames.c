/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a host reads: any frame, some with their checksums put right, for a fuzzer finds
 * none by chance. It must not read outside of the frame, nor write beyond the answer's room;
 * what it answers must be well-formed, for whoever asked, and no longer than what was asked.
 */
#include "dataplane/frames/host_frames.h"

#include <stdlib.h>

#include "dataplane/frames/frame_check.h"
#include "fuzz/invariant.h"

static struct host host = {
    .present = true,
    .mac = {2, 0, 0, 0, 0, 1},
    .vlan = 5,
    .address_count = 2,
    .addresses = {{.version = 4, .bytes = {192, 0, 2, 1}},
                  {.version = 6, .bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}}},
};

/* An advertisement and an ARP answer may have more than the request had. */
#define FIXED_ANSWER_BYTES 90

static uint32_t
add(uint32_t sum, const uint8_t *at, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
    return sum;
}

static void
put(uint8_t *at, uint32_t sum)
{
    while (sum >> 16)
        sum = (sum >> 16) + (sum & UINT16_MAX);
    at[0] = (uint8_t)(~sum >> 8);
    at[1] = (uint8_t)~sum;
}

/* Makes the frame one for the host, with right checksums, as far as there is room. */
static void
put_right(uint8_t *frame, uint32_t length)
{
    uint8_t *at = frame + 14;

    if (length < 14 + 40 + 8)
        return;
    if ((frame[0] & 1) == 0)
        memcpy(frame, host.mac, MAC_BYTES);
    if (frame[12] == 0x08 && frame[13] == 0) {
        at[0] = 0x45;
        at[9] = 1;
        at[2] = (uint8_t)((length - 14) >> 8);
        at[3] = (uint8_t)(length - 14);
        memcpy(at + 16, host.addresses[0].bytes, 4);
        at[10] = at[11] = at[22] = at[23] = 0;
        put(at + 10, add(0, at, 20));
        put(at + 22, add(0, at + 20, length - 34));
    } else if (frame[12] == 0x86 && frame[13] == 0xdd) {
        at[0] = 0x60;
        at[6] = 58;
        at[4] = (uint8_t)((length - 54) >> 8);
        at[5] = (uint8_t)(length - 54);
        at[42] = at[43] = 0;
        put(at + 42, add(length - 54 + 58, at + 8, length - 22));
    }
}

static void
check(const uint8_t *frame, uint32_t length, const struct host_frame *read, const uint8_t *answer)
{
    invariant(read->kind <= HOST_HEARD || read->kind == HOST_NOTHING);
    invariant((read->answer_bytes > 0) == (read->kind <= HOST_ECHO));
    invariant(read->claimed.version == 0 || (read->claimed_mac[0] & 1) == 0);
    if (read->answer_bytes == 0)
        return;
    invariant(read->answer_bytes >= FRAME_MIN_BYTES && read->answer_bytes <= HOST_FRAME_MAX);
    invariant(read->answer_bytes <= length || read->answer_bytes <= FIXED_ANSWER_BYTES);
    invariant(memcmp(answer + MAC_BYTES, host.mac, MAC_BYTES) == 0);
    /* To a station, or, of an advertisement for one without an address, to all nodes. */
    invariant((answer[0] & 1) == 0 || (read->kind == HOST_ND && answer[0] == 0x33));
    if (read->kind == HOST_ECHO)
        invariant(memcmp(answer, frame + MAC_BYTES, MAC_BYTES) == 0);
    const struct frame_check sums = frame_check(answer, read->answer_bytes);
    invariant(!sums.damaged);
    invariant(sums.cover == (read->kind == HOST_ARP ? COVER_NONE : COVER_PACKET));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 2048)
        return 0;
    const uint32_t length = (uint32_t)size - 1;
    uint8_t *frame = malloc(length > 0 ? length : 1), *answer = malloc(HOST_FRAME_MAX);
    uint8_t *asked = malloc(HOST_FRAME_MAX);

    invariant(frame && answer && asked);
    memcpy(frame, data + 1, length);
    host.tagged = data[0] & 1;
    if (data[0] & 2)
        put_right(frame, length);
    const struct host_frame read = host_frame_read(&host, frame, length, answer);
    check(frame, length, &read, answer);
    if (read.claimed.version != 0)
        invariant(host_frame_ask(&host, &read.claimed, asked) <= HOST_FRAME_MAX);
    free(frame);
    free(answer);
    free(asked);
    return 0;
}
