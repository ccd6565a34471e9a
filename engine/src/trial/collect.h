/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the workers' closed pages into the trial's counts (see run.h for whose turn it is). */
#ifndef PLIMSOLL_COLLECT_H
#define PLIMSOLL_COLLECT_H

#include "trial/trial.h"

/* Before the start: clears all counts and notes where the ports' own counters stand. */
void collect_begin(struct trial *trial);

/* Has the workers turn their pages and fills trial->interval, adding it to trial->total. */
void collect_interval(struct trial *trial);

/* After the end: makes the totals final. */
void collect_end(struct trial *trial);

#endif
