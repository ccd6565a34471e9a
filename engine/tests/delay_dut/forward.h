/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DELAY_DUT_FORWARD_H
#define DELAY_DUT_FORWARD_H

/* The forwarding loop, on an lcore of its own; `argument` is the struct dut. */
int forward_loop(void *argument);

#endif
