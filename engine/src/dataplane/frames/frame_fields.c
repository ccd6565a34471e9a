/* SPDX-License-Identifier: Apache-2.0 */
#include "dataplane/frames/frame_fields.h"

#include <string.h>

#include "dataplane/frames/ones_complement.h"
#include "dataplane/splitmix.h"

void
field_counters_start(struct field_counters *counters, const struct fields *fields)
{
    for (uint32_t i = 0; i < fields->count; i++)
        counters->next[i] = fields->field[i].first;
}

void
field_counters_rewind(struct field_counters *counters, const struct fields *fields, uint32_t frames)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->field[i];
        uint64_t *next = &counters->next[i];

        if (field->kind == FIELD_RANDOM || field->churn != 0)
            *next -= frames;
        else
            *next = (*next + field_cycle(field) - frames % field_cycle(field)) % field_cycle(field);
    }
}

/* (first + n) mod count for the next frames. */
static inline void
number_in_turn(const struct field *field, uint64_t *counter, uint32_t *numbers, uint32_t count)
{
    uint32_t next = (uint32_t)*counter;

    if (next + count < field->count) {
        for (uint32_t i = 0; i < count; i++)
            numbers[i] = next + i;
        *counter = next + count;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = next;
        next = next + 1 < field->count ? next + 1 : 0;
    }
    *counter = next;
}

/* The window of values in use, whose begin moves on by 0, 1 or a few with each frame. */
static void
number_with_churn(const struct field *field, uint64_t *counter, uint32_t *numbers, uint32_t count)
{
    const uint64_t sent = *counter - field->first;
    const unsigned __int128 moved = (unsigned __int128)sent * field->churn;
    const uint64_t window = (uint64_t)(moved >> 32);
    uint64_t fraction = (uint32_t)moved;
    uint32_t turn =
        (uint32_t)((*counter % field->count + field->count - window % field->count) % field->count);
    uint32_t begin = (uint32_t)(window % field->cycle);

    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = (begin + turn) % field->cycle;
        fraction += field->churn;
        const uint32_t steps = (uint32_t)(fraction >> 32);
        fraction = (uint32_t)fraction;
        begin += steps;
        turn = (turn + field->count * FIELD_CHURN_MAX + 1 - steps) % field->count;
    }
    *counter += count;
}

/* (first + n) div every mod count. */
static inline void
number_in_runs(const struct field *field, uint64_t *counter, uint32_t *numbers, uint32_t count)
{
    uint32_t number = (uint32_t)(*counter / field->every);
    uint32_t in_run = (uint32_t)(*counter % field->every);

    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = number;
        if (++in_run == field->every) {
            in_run = 0;
            number = number + 1 < field->count ? number + 1 : 0;
        }
    }
    *counter = (uint64_t)number * field->every + in_run;
}

static inline void
number_randomly(const struct field *field, uint64_t *counter, uint32_t *numbers, uint32_t count)
{
    const uint64_t seed = field->seed, next = *counter;

    for (uint32_t i = 0; i < count; i++)
        numbers[i] =
            (uint32_t)((unsigned __int128)splitmix_at(seed, next + i) * field->count >> 64);
    *counter = next + count;
}

static inline void
take_numbers(const struct field *field, uint64_t *counter, uint32_t *numbers, uint32_t count)
{
    if (field->kind == FIELD_RANDOM)
        number_randomly(field, counter, numbers, count);
    else if (field->churn != 0)
        number_with_churn(field, counter, numbers, count);
    else if (field->every > 1)
        number_in_runs(field, counter, numbers, count);
    else
        number_in_turn(field, counter, numbers, count);
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * What is written: of each frame what its template and the fields make or, where all are `alike`,
 * of the first one. All the functions below are made twice, for either is known when they are
 * compiled.
 */
struct written_burst {
    const struct frame_fields *const *prepared;
    bool alike;
    uint8_t *const *frames;
    uint32_t count;
};

static ALWAYS_INLINE const struct frame_fields *
prepared_of(const struct written_burst *burst, uint32_t i)
{
    return burst->prepared[burst->alike ? 0 : i];
}

/*
 * The common field, an IPv4 address, in loops that compilers vectorise. `number` is the field's.
 * Templates of a stream differ in its base alone.
 */
static ALWAYS_INLINE void
write_four_bytes(const struct written_burst *burst, uint32_t number, const struct field *field,
                 const uint32_t *numbers, uint32_t *addends)
{
    const struct frame_field *first = &burst->prepared[0]->field[number];
    const uint32_t step = field->step, offset = field->offset, count = burst->count;
    const uint32_t base = (uint32_t)(first->base >> first->shift);
    /* Even bytes follow the field among its eight, or odd ones. */
    const bool ends_word = first->ends_word != (first->shift / 8 % 2 != 0);
    uint32_t bases[FIELDS_BURST], values[FIELDS_BURST];

    for (uint32_t i = 0; i < count && !burst->alike; i++) {
        const struct frame_field *made = &burst->prepared[i]->field[number];

        bases[i] = (uint32_t)(made->base >> made->shift);
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (burst->alike ? base : bases[i]) + numbers[i] * step;
        addends[i] = addend(values[i], ends_word);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t swapped = __builtin_bswap32(values[i]);

        memcpy(burst->frames[i] + offset, &swapped, sizeof(swapped));
    }
}

static inline uint64_t
value_of(const struct frame_field *made, const struct field *field, uint32_t number)
{
    const uint64_t value = field->kind == FIELD_LIST ? field->values[number] << made->shift
                                                     : made->base + number * made->step;

    return value & made->mask;
}

/* Any other field, in the eight bytes of which it is a part. */
static ALWAYS_INLINE void
write_bits(const struct written_burst *burst, uint32_t number, const struct field *field,
           const uint32_t *numbers, uint32_t *addends)
{
    uint64_t bytes;

    for (uint32_t i = 0; i < burst->count; i++) {
        const struct frame_field *made = &prepared_of(burst, i)->field[number];
        const uint64_t value = value_of(made, field, numbers[i]);
        uint8_t *at = burst->frames[i] + made->offset;

        memcpy(&bytes, at, sizeof(bytes));
        bytes = (bytes & __builtin_bswap64(~made->mask)) | __builtin_bswap64(value);
        memcpy(at, &bytes, sizeof(bytes));
        addends[i] = wide_addend(value, made->ends_word);
    }
}

static ALWAYS_INLINE void
write_field(const struct written_burst *burst, uint32_t number, const struct field *field,
            uint64_t *counter, uint32_t (*sums)[FIELDS_BURST])
{
    const struct frame_field *first = &burst->prepared[0]->field[number];
    uint32_t numbers[FIELDS_BURST], addends[FIELDS_BURST];

    take_numbers(field, counter, numbers, burst->count);
    if (field->width == 4 && field->mask == UINT32_MAX && field->kind != FIELD_LIST)
        write_four_bytes(burst, number, field, numbers, addends);
    else
        write_bits(burst, number, field, numbers, addends);
    for (uint32_t fix = 0; fix < field->fix_count; fix++) {
        for (uint32_t i = 0; i < burst->count; i++)
            sums[first->checksums[fix]][i] += addends[i];
    }
}

static ALWAYS_INLINE void
write_checksum(const struct written_burst *burst, uint32_t number, const uint32_t *sums)
{
    const struct checksum *first = &burst->prepared[0]->checksum[number];
    const uint16_t offset = first->offset, alike = first->zero;
    uint16_t values[FIELDS_BURST];

    for (uint32_t i = 0; i < burst->count; i++) {
        const uint16_t value = (uint16_t)~fold(fold(sums[i]));
        const uint16_t zero = burst->alike ? alike : burst->prepared[i]->checksum[number].zero;

        values[i] = value == 0 ? zero : value;
    }
    for (uint32_t i = 0; i < burst->count; i++)
        memcpy(burst->frames[i] + offset, &values[i], sizeof(values[i]));
}

static ALWAYS_INLINE void
write_burst(const struct written_burst *burst, const struct fields *fields,
            struct field_counters *counters)
{
    const struct frame_fields *first = burst->prepared[0];
    uint32_t sums[FIELDS_CHECKSUMS_MAX][FIELDS_BURST];

    for (uint32_t c = 0; c < first->checksum_count; c++) {
        for (uint32_t i = 0; i < burst->count; i++)
            sums[c][i] = prepared_of(burst, i)->checksum[c].base;
    }
    for (uint32_t f = 0; f < fields->count; f++)
        write_field(burst, f, &fields->field[f], &counters->next[f], sums);
    for (uint32_t c = 0; c < first->checksum_count; c++)
        write_checksum(burst, c, sums[c]);
}

/*
 * DPDK of distributions, and so what is built with its flags, is for CPUs without AVX2; the
 * loops here are a quarter quicker with it. Sanitizers start too late for such a choice.
 */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&      \
    !defined(__clang__)
#define FOR_THE_CPU_AT_HAND __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THE_CPU_AT_HAND
#endif

FOR_THE_CPU_AT_HAND void
frame_fields_write(const struct frame_fields *prepared, const struct fields *fields,
                   struct field_counters *counters, uint8_t *const *frames, uint32_t count)
{
    const struct written_burst burst = {&prepared, true, frames, count};

    write_burst(&burst, fields, counters);
}

FOR_THE_CPU_AT_HAND void
frame_fields_write_mixed(const struct frame_fields *const *prepared, const struct fields *fields,
                         struct field_counters *counters, uint8_t *const *frames, uint32_t count)
{
    const struct written_burst burst = {prepared, false, frames, count};

    write_burst(&burst, fields, counters);
}
