/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and the headers it wants before it. */
#ifndef PLIMSOLL_UNIT_TEST_H
#define PLIMSOLL_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 deprecates assert_in_range() for one of each sign; cmocka 1 has only that. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#endif
