/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_PORTS_SEND_BUFFERS_H
#define PLIMSOLL_PORTS_SEND_BUFFERS_H

/*
 * Lets this process's AF_PACKET and AF_XDP sockets have as much under way in the kernel as their
 * rings hold, which bound it already. By itself a socket may have some 300 frames. What is beyond
 * AF_PACKET's driver leaves in its ring until it is given more, so that the last frames of a trial
 * would go out in the next one, and all others late; AF_XDP's tries again and again. Needs
 * CAP_NET_ADMIN; without it the bound is net.core.wmem_max.
 */
void send_buffers_widen(void);

#endif
