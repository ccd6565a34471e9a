/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/xdp_pool.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <stdbool.h>
#include <stdlib.h>

/* Whether the driver registers the whole of a mbuf, with what the pool has before and behind it. */
static bool
is_registered(const struct rte_mempool *pool, const void *mbuf)
{
    const uintptr_t begin = (uintptr_t)STAILQ_FIRST(&pool->mem_list)->addr;
    const uint64_t bytes = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL);
    const uintptr_t at = (uintptr_t)mbuf - pool->header_size;

    return at >= begin && at + bytes <= begin + pool->populated_size * bytes;
}

/* Takes all out, past the caches, and gives back those that may be used. */
static int
retire_unregistered(struct rte_mempool *pool)
{
    const uint32_t all = pool->populated_size;
    void **mbufs = calloc(all, sizeof(*mbufs));
    uint32_t usable = 0;
    int status;

    if (!mbufs)
        return -ENOMEM;
    status = rte_mempool_generic_get(pool, mbufs, all, NULL);
    for (uint32_t i = 0; status == 0 && i < all; i++) {
        if (is_registered(pool, mbufs[i]))
            mbufs[usable++] = mbufs[i];
    }
    if (usable > 0)
        rte_mempool_generic_put(pool, mbufs, usable, NULL);
    free(mbufs);
    return status;
}

static int
populate(struct rte_mempool *pool, uint16_t room)
{
    struct rte_pktmbuf_pool_private size = {.mbuf_data_room_size = room};
    int status = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);

    if (status != 0)
        return status;
    rte_pktmbuf_pool_init(pool, &size);
    status = rte_mempool_populate_default(pool);
    if (status < 0)
        return status;
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
    return retire_unregistered(pool);
}

struct rte_mempool *
xdp_pool_create(const char *name, uint32_t mbufs, uint32_t cache, uint16_t room, int socket)
{
    /* In pages of 4 kB, none of which a mbuf would otherwise leave, half of them were gaps. */
    const unsigned flags = rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
    struct rte_mempool *pool =
        rte_mempool_create_empty(name, mbufs, sizeof(struct rte_mbuf) + room, cache,
                                 sizeof(struct rte_pktmbuf_pool_private), socket, flags);
    int status;

    if (!pool)
        return NULL;
    status = populate(pool, room);
    if (status == 0)
        return pool;
    rte_mempool_free(pool);
    rte_errno = -status;
    return NULL;
}
