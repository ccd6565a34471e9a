/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/measures/histogram.h"

#include <string.h>

void
histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->min = UINT64_MAX;
}

void
histogram_add(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    into->count += from->count;
    into->sum += from->sum;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}
