/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation over the protocol: requests in, replies and events out, until end of input. */
#ifndef PLIMSOLL_SESSION_H
#define PLIMSOLL_SESSION_H

/* Talks until the peer closes or asks too much; returns the process's exit status. */
int session_run(int in_fd, int out_fd);

/* Ends the session at its next wait; async-signal-safe. */
void session_end(void);

#endif
