/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist/touch_pace.h"

#define NS_PER_S UINT64_C(1000000000)

uint64_t
touch_wait_ns(uint64_t touched, uint64_t bytes_per_s, uint64_t elapsed_ns)
{
    uint64_t due_ns;

    if (bytes_per_s == 0)
        return 0;
    due_ns = (uint64_t)((__uint128_t)touched * NS_PER_S / bytes_per_s);
    return due_ns > elapsed_ns ? due_ns - elapsed_ns : 0;
}
