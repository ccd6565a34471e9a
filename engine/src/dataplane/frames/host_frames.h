/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host on a wire owes its neighbours: answers to ARP requests (RFC 826), neighbour
 * solicitations (RFC 4861) and echo requests (RFC 792 and 4443), and requests of its own.
 *
 * Frames may be anything. One is read only where it is whole and as those RFCs want it: what
 * has a wrong length, checksum, hop limit or address is ignored, and gets no answer.
 */
#ifndef PLIMSOLL_HOST_FRAMES_H
#define PLIMSOLL_HOST_FRAMES_H

#include "config/host.h"

/* A longer echo request is not answered: Ethernet's usual 1500 bytes, headers and a tag. */
#define HOST_FRAME_MAX 1518

enum host_counter {
    HOST_ARP,      /* ARP requests for an address of the host's */
    HOST_ND,       /* neighbour solicitations for one */
    HOST_ECHO,     /* echo requests to one */
    HOST_HEARD,    /* what neighbours say of themselves: answers, and announcements */
    HOST_ANSWERED, /* of the first three, those whose answer was sent */
    HOST_MOVED,    /* frames by which a neighbour has another MAC address than it had */
    HOST_COUNTERS,
    HOST_NOTHING = HOST_COUNTERS, /* of a frame: it is not for the host */
};

/* As the protocol names them. */
extern const char *const host_counter_names[HOST_COUNTERS];

/* What a frame is to a host. */
struct host_frame {
    enum host_counter kind;    /* one of the first four, or HOST_NOTHING */
    uint32_t answer_bytes;     /* 0: there is none */
    struct ip_address claimed; /* by the sender for itself, also in frames to others */
    uint8_t claimed_mac[MAC_BYTES];
};

/*
 * Reads a frame of `length` bytes without FCS. `answer` has room for HOST_FRAME_MAX bytes and
 * takes the answer, where one is due. Of frames longer than that, none is.
 */
struct host_frame host_frame_read(const struct host *host, const uint8_t *frame, uint32_t length,
                                  uint8_t *answer);

/*
 * The request for the MAC address of `target`, by that of the host's own addresses which is
 * nearest to it. Returns its length, at most HOST_FRAME_MAX; 0 where the host has no address
 * of the IP version.
 */
uint32_t host_frame_ask(const struct host *host, const struct ip_address *target, uint8_t *frame);

#endif
