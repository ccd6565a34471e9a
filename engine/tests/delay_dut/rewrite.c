/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite.h"

#include <errno.h>
#include <string.h>

/* Without FCS. */
#define LEAST_FRAME 60

static int
remove_bytes(struct rte_mbuf *mbuf, uint32_t at, uint32_t count)
{
    uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

    if (at + count > mbuf->data_len)
        return -EINVAL;
    memmove(frame + count, frame, at);
    return rte_pktmbuf_adj(mbuf, (uint16_t)count) ? 0 : -EINVAL;
}

static int
insert_bytes(struct rte_mbuf *mbuf, uint32_t at, const struct bytes *bytes)
{
    if (at > mbuf->data_len)
        return -EINVAL;
    char *frame = rte_pktmbuf_prepend(mbuf, bytes->count);
    if (!frame)
        return -EINVAL;
    memmove(frame, frame + bytes->count, at);
    memcpy(frame + at, bytes->byte, bytes->count);
    return 0;
}

static uint16_t
big_endian(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void
store_big_endian(uint8_t *bytes, uint16_t value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

/* RFC 1624, equation 3: HC' = ~(~HC + ~m + m'). */
static uint16_t
update_checksum(uint16_t checksum, uint16_t before, uint16_t after)
{
    uint32_t sum = (uint16_t)~checksum + (uint32_t)(uint16_t)~before + after;

    while (sum > UINT16_MAX)
        sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)~sum;
}

static int
write_words(struct rte_mbuf *mbuf, const struct rewrite *rewrite)
{
    uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

    if (rewrite->at + rewrite->bytes.count > mbuf->data_len)
        return -EINVAL;
    for (uint32_t i = 0; i < rewrite->bytes.count; i += 2) {
        const uint16_t before = big_endian(frame + rewrite->at + i);
        const uint16_t after = big_endian(rewrite->bytes.byte + i);

        for (uint32_t fix = 0; fix < rewrite->fix_count; fix++) {
            uint8_t *checksum = frame + rewrite->fixes[fix];

            if (rewrite->fixes[fix] + 2 > mbuf->data_len)
                return -EINVAL;
            store_big_endian(checksum, update_checksum(big_endian(checksum), before, after));
        }
        store_big_endian(frame + rewrite->at + i, after);
    }
    return 0;
}

static int
rewrite_once(const struct rewrite *rewrite, struct rte_mbuf *mbuf)
{
    switch (rewrite->kind) {
    case REWRITE_REMOVE:
        return remove_bytes(mbuf, rewrite->at, rewrite->remove);
    case REWRITE_INSERT:
        return insert_bytes(mbuf, rewrite->at, &rewrite->bytes);
    case REWRITE_WRITE:
        return write_words(mbuf, rewrite);
    }
    return -EINVAL;
}

int
rewrite_frame(const struct path_behaviour *path, struct rte_mbuf *mbuf)
{
    for (uint32_t i = 0; i < path->rewrite_count; i++) {
        const int status = rewrite_once(&path->rewrites[i], mbuf);

        if (status != 0)
            return status;
    }
    if (mbuf->data_len >= LEAST_FRAME)
        return 0;
    const uint16_t missing = (uint16_t)(LEAST_FRAME - mbuf->data_len);
    char *end = rte_pktmbuf_append(mbuf, missing);
    if (!end)
        return -EINVAL;
    memset(end, path->padding, missing);
    return 0;
}
