/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait so that bytes are touched at a stated rate. */
#ifndef PLIMSOLL_TOUCH_PACE_H
#define PLIMSOLL_TOUCH_PACE_H

#include <stdint.h>

/*
 * Nanoseconds from now until `touched` bytes are due at `bytes_per_s`, `elapsed_ns` after the
 * first. 0 where they are due already, and always where the rate is 0, which is none.
 */
uint64_t touch_wait_ns(uint64_t touched, uint64_t bytes_per_s, uint64_t elapsed_ns);

#endif
