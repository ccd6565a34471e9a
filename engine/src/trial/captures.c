/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/captures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pcap_file *
make_file(const char *path, uint32_t snap_bytes, const char *where, struct error *error)
{
    int status;
    struct pcap_file *file = pcap_file_make(path, snap_bytes, &status);

    if (!file)
        set_error(error, status, where, "cannot be made: %s", strerror(-status));
    return file;
}

/* False after a error. */
static bool
begin_capture(struct capture *capture, uint32_t number, struct error *error)
{
    const struct capture_request *request = capture->request;
    char where[32];

    snprintf(where, sizeof(where), "captures[%u].path", number);
    capture->file = make_file(request->path, request->snap_bytes, where, error);
    capture->state = request->on ? CAPTURE_ON : CAPTURE_OFF;
    return capture->file != NULL;
}

struct captures *
captures_make(const struct trial_request *request, struct error *error)
{
    const uint32_t count = request->capture_count;
    const size_t bytes = sizeof(struct captures) + count * sizeof(struct capture);
    struct captures *captures =
        aligned_alloc(CAPTURE_LINE_BYTES, RTE_ALIGN_CEIL(bytes, CAPTURE_LINE_BYTES));

    if (!captures) {
        set_error(error, -ENOMEM, "captures", "no memory for the captures");
        return NULL;
    }
    memset(captures, 0, bytes);
    for (uint32_t i = 0; i < count; i++) {
        captures->capture[i].request = &request->captures[i];
        if (!begin_capture(&captures->capture[i], i, error)) {
            captures_discard(captures);
            return NULL;
        }
        captures->count++;
    }
    return captures;
}

static bool
attach(struct capture *capture, struct rx_queue *queue)
{
    const struct capture_request *request = capture->request;

    queue->capture = capture_ring_make(&capture->state, request->snap_bytes, request->most_frames);
    if (!queue->capture)
        return false;
    capture->rings[capture->ring_count++] = queue->capture;
    return true;
}

bool
captures_attach(struct captures *captures, struct run *run)
{
    for (uint32_t i = 0; i < captures->count; i++) {
        struct capture *capture = &captures->capture[i];

        for (uint32_t w = 0; w < run->worker_count; w++) {
            for (uint32_t q = 0; q < run->workers[w]->rx_queue_count; q++) {
                struct rx_queue *queue = &run->workers[w]->rx_queues[q];

                if (queue->port == capture->request->port && !attach(capture, queue))
                    return false;
            }
        }
    }
    return true;
}

/* The oldest frame of all queues, and the ring that it is in; NULL where all are empty. */
static const struct captured_frame *
oldest(struct capture *capture, struct capture_ring **ring)
{
    const struct captured_frame *found = NULL;

    for (uint32_t i = 0; i < capture->ring_count; i++) {
        const struct captured_frame *frame = capture_ring_oldest(capture->rings[i]);

        if (frame && (!found || frame->tsc < found->tsc)) {
            found = frame;
            *ring = capture->rings[i];
        }
    }
    return found;
}

/* By the line through `now` whose slope is the TSC's rate. */
static uint64_t
unix_time_of(const struct run *run, const struct clock_reading *now, uint64_t tsc)
{
    if (tsc > now->tsc)
        return now->unix_ns + ticks_to_ns(run, tsc - now->tsc);
    return now->unix_ns - ticks_to_ns(run, now->tsc - tsc);
}

static bool
is_full(const struct capture *capture)
{
    const struct pcap_file *file = capture->file;

    return file->error != 0 ||
           file->frames + file->gathered_frames >= capture->request->most_frames;
}

/* Workers copy nothing for a file that takes no more. */
static void
set_state(struct capture *capture, bool on)
{
    const uint32_t state = !on ? CAPTURE_OFF : is_full(capture) ? CAPTURE_FULL : CAPTURE_ON;

    atomic_store_explicit(&capture->state, state, memory_order_relaxed);
}

static void
write_capture(struct capture *capture, const struct run *run, const struct clock_reading *now)
{
    struct pcap_file *file = capture->file;
    const struct captured_frame *frame;
    struct capture_ring *ring = NULL;

    for (uint32_t i = 0; i < capture->ring_count; i++)
        capture_ring_look(capture->rings[i]);
    while ((frame = oldest(capture, &ring)) != NULL) {
        if (is_full(capture))
            capture->left_out++;
        else
            pcap_file_add(file, unix_time_of(run, now, frame->tsc), frame->length, frame->kept,
                          frame->bytes);
        capture_ring_drop(ring, frame);
    }
    pcap_file_flush(file);
    set_state(capture, capture->state != CAPTURE_OFF);
}

void
captures_write(struct captures *captures, const struct run *run, const struct clock_reading *now)
{
    for (uint32_t i = 0; i < captures->count; i++)
        write_capture(&captures->capture[i], run, now);
}

void
captures_switch(struct captures *captures, uint32_t number, bool on)
{
    set_state(&captures->capture[number], on);
}

struct pcap_file *
captures_make_file(const struct captures *captures, const struct capture_switch *change,
                   struct error *error)
{
    const struct capture_request *request = captures->capture[change->capture].request;

    return make_file(change->path, request->snap_bytes, "path", error);
}

/* Frames for which the rings had no room. */
static uint64_t
left_out_of_rings(const struct capture *capture)
{
    uint64_t left_out = 0;

    for (uint32_t i = 0; i < capture->ring_count; i++)
        left_out += atomic_load_explicit(&capture->rings[i]->left_out, memory_order_relaxed);
    return left_out;
}

void
captures_use_file(struct captures *captures, uint32_t number, struct pcap_file *file)
{
    struct capture *capture = &captures->capture[number];

    pcap_file_close(capture->file);
    capture->file = file;
    capture->left_out = 0;
    capture->left_out_earlier = left_out_of_rings(capture);
}

struct capture_counts
captures_count(const struct capture *capture)
{
    const struct pcap_file *file = capture->file;

    return (struct capture_counts){
        .frames = file->frames,
        .left_out =
            capture->left_out + file->lost + left_out_of_rings(capture) - capture->left_out_earlier,
        .error = file->error,
    };
}

void
captures_free(struct captures *captures)
{
    if (!captures)
        return;
    for (uint32_t i = 0; i < captures->count; i++) {
        struct capture *capture = &captures->capture[i];

        pcap_file_close(capture->file);
        for (uint32_t r = 0; r < capture->ring_count; r++)
            capture_ring_free(capture->rings[r]);
    }
    free(captures);
}

void
captures_discard(struct captures *captures)
{
    for (uint32_t i = 0; i < captures->count; i++)
        unlink(captures->capture[i].request->path);
    captures_free(captures);
}
