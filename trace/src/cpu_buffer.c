/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <traceevent/kbuffer.h>

#include "event_json.h"

/* The low bits of a page's length are its length; the high ones say that events were lost before
 * it (RB_MISSED_EVENTS in the kernel's ring_buffer.c). */
#define LENGTH_MASK ((UINT64_C(1) << 27) - 1)
/* The library reads the header of an event before it looks whether it lies in the page. */
enum { SLACK_BYTES = 64, LENGTH_AT = 8 };

struct reading {
    struct event_formats *formats;
    const struct windows *windows;
    uint64_t limit;
    FILE *out;
    struct cpu_buffer_totals *totals;
};

static void
take_event(const struct reading *reading, const struct event_record *record)
{
    struct cpu_buffer_totals *totals = reading->totals;
    uint16_t type;

    if (totals->read++ == 0)
        totals->first = record->time;
    if (totals->complete_from == 0)
        totals->complete_from = record->time;
    totals->last = record->time;
    if (record->bytes < sizeof(type) || !windows_contain(reading->windows, record->time))
        return;
    /* Every event begins with common_type. */
    memcpy(&type, record->data, sizeof(type));
    struct tep_event *event = tep_find_event(reading->formats->tep, type);

    if (!event)
        return;
    if (totals->kept == reading->limit) {
        totals->left_out++;
        return;
    }
    event_json_write(reading->out, reading->formats, event, record);
    totals->kept++;
}

/* Takes the events of a page; false when the page is damaged. */
static bool
take_page(const struct reading *reading, struct kbuffer *kbuffer, char *page, size_t bytes, int cpu)
{
    const size_t data_at = reading->formats->data_at;
    unsigned long long time;
    uint64_t length;

    if (bytes < data_at)
        return false;
    memcpy(&length, page + LENGTH_AT, sizeof(length));
    length &= LENGTH_MASK;
    if (length > bytes - data_at || kbuffer_load_subbuffer(kbuffer, page) != 0)
        return false;
    const char *end = page + data_at + length;

    if (length > 0 && kbuffer_missed_events(kbuffer) != 0) {
        reading->totals->gaps++;
        reading->totals->complete_from = kbuffer_timestamp(kbuffer);
    }
    for (char *data = kbuffer_read_event(kbuffer, &time); data;
         data = kbuffer_next_event(kbuffer, &time)) {
        const int size = kbuffer_event_size(kbuffer);

        if (data < page || data > end || size < 0 || size > end - data)
            return false;
        take_event(reading, &(struct event_record){time, cpu, data, (size_t)size});
    }
    return true;
}

/* Reads pages until there are none; a pipe of raw pages hands out whole ones. */
static int
take_pages(const struct reading *reading, struct kbuffer *kbuffer, char *page, int fd, int cpu)
{
    for (;;) {
        const ssize_t count = read(fd, page, reading->formats->page_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno != EAGAIN)
            return -errno;
        if (count <= 0)
            return 0;
        memset(page + count, 0, reading->formats->page_bytes - (size_t)count + SLACK_BYTES);
        if (!take_page(reading, kbuffer, page, (size_t)count, cpu))
            reading->totals->damaged_pages++;
    }
}

int
cpu_buffer_read(int fd, int cpu, struct event_formats *formats, const struct windows *windows,
                uint64_t limit, FILE *out, struct cpu_buffer_totals *totals)
{
    const struct reading reading = {formats, windows, limit, out, totals};
    struct kbuffer *kbuffer =
        kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
    char *page = malloc(formats->page_bytes + SLACK_BYTES);
    int status = -ENOMEM;

    *totals = (struct cpu_buffer_totals){0};
    if (kbuffer && page)
        status = take_pages(&reading, kbuffer, page, fd, cpu);
    free(page);
    if (kbuffer)
        kbuffer_free(kbuffer);
    return status;
}
