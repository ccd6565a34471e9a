/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold for every input: an assertion that no build leaves out. */
#ifndef PLIMSOLL_INVARIANT_H
#define PLIMSOLL_INVARIANT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define invariant(holds)                                                                           \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* What libFuzzer calls with each input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
