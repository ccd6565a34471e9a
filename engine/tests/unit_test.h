/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and the headers it wants before it. */
#ifndef PLIMSOLL_UNIT_TEST_H
#define PLIMSOLL_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
