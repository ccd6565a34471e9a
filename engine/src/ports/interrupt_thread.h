/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLIMSOLL_PORTS_INTERRUPT_THREAD_H
#define PLIMSOLL_PORTS_INTERRUPT_THREAD_H

/*
 * Wait until EAL's interrupt thread has handled what was pending when this was called, a second
 * at most. Drivers hear there of peers that hang up, and free what a port that is being closed
 * by another thread still uses (memif of DPDK 22.11: SIGSEGV).
 */
void interrupt_thread_settle(void);

#endif
