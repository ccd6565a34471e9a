/* SPDX-License-Identifier: Apache-2.0 */
#include "control/messages/message.h"

#include <arpa/inet.h>
#include <math.h>
#include <rte_version.h>
#include <string.h>
#include <unistd.h>

#include "control/messages/message_delayed.h"
#include "control/messages/message_flows.h"
#include "control/messages/message_times.h"
#include "ports/devargs.h"
#include "version.h"

#define PROTOCOL 8
#define SPIKES_IN_INTERVAL 64
#define LOSSES_IN_INTERVAL 64

static json_t *
unsigned_integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *
message_hello(void)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:i}", "event", "hello", "engine",
                     "plimsoll-engine", "version", PLIMSOLL_VERSION, "protocol", PROTOCOL, "dpdk",
                     rte_version(), "pid", (int)getpid());
}

/* A card's, as its driver states it; null when it does not know. */
static json_t *
link_speed(uint16_t dpdk_port, const char *devargs)
{
    struct rte_eth_link link = {0};

    /* Drivers of virtual devices say 10 Gbit/s, whatever they are. */
    if (!devargs_is_pci(devargs))
        return json_null();
    if (rte_eth_link_get_nowait(dpdk_port, &link) != 0 ||
        link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN || link.link_speed == RTE_ETH_SPEED_NUM_NONE)
        return json_null();
    return unsigned_integer(link.link_speed);
}

static const char *
latency_clock(const struct port *port)
{
    if (port->timesync)
        return "timesync";
    return port->hardware_clock ? "hardware" : "tsc";
}

static json_t *
port_opened(uint32_t number, const struct port_request *request, const struct port *port)
{
    const int numa_node = rte_eth_dev_socket_id(port->dpdk_port);
    struct rte_ether_addr mac = {0};
    char text[RTE_ETHER_ADDR_FMT_SIZE];

    rte_eth_macaddr_get(port->dpdk_port, &mac);
    snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", RTE_ETHER_ADDR_BYTES(&mac));
    return json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:o, s:i, s:i, s:b, s:b, s:b, s:s}", "port",
                     (int)number, "devargs", request->devargs, "driver", port_driver(port), "mac",
                     text, "link_up", (int)port_link_up(port), "link_mbps",
                     link_speed(port->dpdk_port, request->devargs), "numa_node",
                     numa_node >= 0 ? json_integer(numa_node) : json_null(), "rx_queues",
                     (int)port->rx_queues, "tx_queues", (int)port->tx_queues, "rss", (int)port->rss,
                     "rx_stamps", (int)port->rx_stamps, "tx_stamps", (int)port->tx_stamps,
                     "latency_clock", latency_clock(port));
}

json_t *
message_opened(int64_t id, const struct open_request *request, const struct ports *ports,
               double tsc_hz)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < ports->count; i++)
        json_array_append_new(array, port_opened(i, &request->ports[i], &ports->port[i]));
    return json_pack("{s:I, s:b, s:s, s:o, s:o}", "id", (json_int_t)id, "ok", 1, "reply", "open",
                     "tsc_hz", unsigned_integer((uint64_t)llround(tsc_hz)), "ports", array);
}

static json_t *
histogram_json(const struct histogram *histogram)
{
    json_t *buckets = json_array();
    const bool empty = histogram->count == 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && !empty; i++) {
        if (histogram->buckets[i] > 0)
            json_array_append_new(buckets,
                                  json_pack("[i, I]", (int)i, (json_int_t)histogram->buckets[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "count", unsigned_integer(histogram->count),
                     "sum_ns", unsigned_integer(histogram->sum), "min_ns",
                     empty ? json_null() : unsigned_integer(histogram->min), "max_ns",
                     empty ? json_null() : unsigned_integer(histogram->max), "buckets", buckets);
}

static json_t *
microseconds_json(const struct microseconds *microseconds)
{
    json_t *buckets = json_array();

    for (uint32_t us = 0; us <= MICROSECONDS_MAX; us++) {
        if (microseconds->frames[us] > 0)
            json_array_append_new(
                buckets, json_pack("[i, I]", (int)us, (json_int_t)microseconds->frames[us]));
    }
    return buckets;
}

static json_t *
stream_json(const struct run *run, const struct stream_request *request,
            const struct stream_counts *counts, const struct list_lengths *lengths)
{
    json_t *stream = json_pack(
        "{s:i, s:I, s:o, s:o, s:o, s:o, s:o}", "stream", (int)request->stream, "missing",
        (json_int_t)counts->missing, "latency", histogram_json(&counts->latency),
        "latency_across_stalls", histogram_json(&counts->latency_across_stalls),
        "latency_less_stalls", histogram_json(&counts->latency_less_stalls), "lateness",
        histogram_json(&counts->lateness), "latency_us", microseconds_json(&counts->microseconds));

    for (size_t i = 0; i < STREAM_COUNTERS; i++) {
        const struct stream_counter *counter = &stream_counters[i];

        json_object_set_new(stream, counter->name,
                            unsigned_integer(stream_counter_value(&counts->frames, counter)));
    }
    message_times_add(stream, counts, lengths);
    if (request->port_stamps)
        message_stamps_add(stream, run, counts);
    return stream;
}

static json_t *
streams_json(const struct trial *trial, const struct stream_counts *counts,
             const struct list_lengths *lengths)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < trial->request->stream_count; i++)
        json_array_append_new(
            array, stream_json(trial->run, &trial->request->streams[i], &counts[i], lengths));
    return array;
}

/* Those of the whole trial; by flow as well where that was requested, and with both ends. */
static json_t *
totals_json(const struct trial *trial, const struct list_lengths *lengths)
{
    json_t *array = streams_json(trial, trial->total.streams, lengths);

    for (uint32_t i = 0; i < trial->request->stream_count; i++) {
        if (trial->total.streams[i].latency_across_stalls.count > 0)
            message_delayed_add(json_array_get(array, i), &trial->total.streams[i].delayed_ends);
        if (trial->flows[i])
            message_flows_add(json_array_get(array, i), trial->flows[i],
                              trial->total.streams[i].frames.tx.sent);
    }
    return array;
}

static json_t *
host_json(const uint64_t *counters)
{
    json_t *host = json_object();

    for (uint32_t kind = 0; kind < HOST_COUNTERS; kind++)
        json_object_set_new(host, host_counter_names[kind], unsigned_integer(counters[kind]));
    return host;
}

static json_t *
port_json(uint32_t number, bool has_host, const struct port_counts *counts)
{
    json_t *kinds = json_object();
    uint64_t foreign = 0;

    for (uint32_t kind = 0; kind < FOREIGN_KINDS; kind++) {
        foreign += counts->foreign[kind];
        json_object_set_new(kinds, foreign_names[kind], unsigned_integer(counts->foreign[kind]));
    }
    return json_pack(
        "{s:i, s:o*, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "port", (int)number, "host",
        has_host ? host_json(counts->host) : NULL, "foreign", unsigned_integer(foreign),
        "foreign_kinds", kinds, "stale", unsigned_integer(counts->stale), "truncated",
        unsigned_integer(counts->truncated), "rx_missed", unsigned_integer(counts->rx_missed),
        "rx_errors", unsigned_integer(counts->rx_errors), "rx_no_mbuf",
        unsigned_integer(counts->rx_no_mbuf), "buffers_in_use",
        unsigned_integer(counts->buffers_in_use), "link_up", (int)counts->link_up);
}

static json_t *
ports_json(const struct trial *trial, const struct port_counts *counts)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < trial->ports->count; i++)
        json_array_append_new(array,
                              port_json(i, trial->config->ports[i].host.present, &counts[i]));
    return array;
}

static json_t *
longest_json(const struct trial *trial, const struct stall_tally *tally, uint32_t most)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < tally->longest_count && i < most; i++)
        json_array_append_new(
            array, json_pack("{s:f, s:o, s:o}", "at_s", trial_seconds(trial, tally->longest[i].end),
                             "tsc", unsigned_integer(tally->longest[i].end), "length_ns",
                             unsigned_integer(ticks_to_ns(trial->run, tally->longest[i].length))));
    return array;
}

static json_t *
cycles_json(const struct cycle_meter *meter)
{
    json_t *cycles = json_object();

    for (uint32_t step = 0; step < STEPS; step++)
        json_object_set_new(cycles, step_names[step],
                            json_pack("{s:o, s:o}", "ticks", unsigned_integer(meter->ticks[step]),
                                      "frames", unsigned_integer(meter->frames[step])));
    return cycles;
}

static json_t *
worker_json(const struct trial *trial, uint32_t cpu, const struct worker_counts *counts,
            uint32_t most_stalls)
{
    const struct stall_tally *tally = &counts->stalls;

    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu", (int)cpu, "polls",
                     unsigned_integer(tally->polls), "idle_polls",
                     unsigned_integer(tally->idle_polls), "stalls", unsigned_integer(tally->stalls),
                     "stalled_ns", unsigned_integer(ticks_to_ns(trial->run, tally->stalled)),
                     "worst_stall_ns", unsigned_integer(ticks_to_ns(trial->run, tally->worst)),
                     "gaps", histogram_json(&tally->gaps), "cycles", cycles_json(&counts->cycles),
                     "longest", longest_json(trial, tally, most_stalls));
}

static json_t *
workers_json(const struct trial *trial, const struct worker_counts *counts, uint32_t most_stalls)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < trial->config->worker_count; i++)
        json_array_append_new(
            array, worker_json(trial, trial->config->workers[i].cpu, &counts[i], most_stalls));
    return array;
}

json_t *
message_interval(int64_t id, const struct trial *trial, const struct interval *interval)
{
    const struct list_lengths lengths = {trial->request->worst, SPIKES_IN_INTERVAL,
                                         LOSSES_IN_INTERVAL};

    return json_pack("{s:s, s:I, s:i, s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "event", "interval",
                     "id", (json_int_t)id, "index", (int)interval->index, "phase",
                     interval->draining ? "drain" : "send", "begin_s",
                     trial_seconds(trial, interval->begin), "end_s",
                     trial_seconds(trial, interval->end), "end_unix_ns",
                     unsigned_integer(interval->end_unix_ns), "streams",
                     streams_json(trial, interval->streams, &lengths), "ports",
                     ports_json(trial, interval->ports), "workers",
                     workers_json(trial, interval->workers, trial->request->longest));
}

static json_t *
cpu_time_json(const struct cpu_times *times)
{
    json_t *processes = json_array();

    for (uint32_t i = 0; i < times->count; i++)
        json_array_append_new(
            processes, json_pack("{s:i, s:o}", "pid", (int)times->process[i].pid, "cpu_ns",
                                 times->process[i].known ? unsigned_integer(times->process[i].ns)
                                                         : json_null()));
    return json_pack("{s:o, s:o}", "main_thread_ns", unsigned_integer(times->main_thread_ns),
                     "processes", processes);
}

/* How much is in the file of a capture. */
static json_t *
capture_json(const struct capture *capture)
{
    const struct capture_counts counts = captures_count(capture);

    return json_pack("{s:i, s:o, s:o, s:o}", "port", (int)capture->request->port, "frames",
                     unsigned_integer(counts.frames), "left_out", unsigned_integer(counts.left_out),
                     "error",
                     counts.error != 0 ? json_string(strerror(counts.error)) : json_null());
}

/* NULL where the trial has none. */
static json_t *
captures_json(const struct captures *captures)
{
    json_t *array = captures->count > 0 ? json_array() : NULL;

    for (uint32_t i = 0; i < captures->count; i++)
        json_array_append_new(array, capture_json(&captures->capture[i]));
    return array;
}

json_t *
message_trial(int64_t id, const struct trial *trial)
{
    static const struct list_lengths lengths = {WORST_LIMIT_MAX, WORST_LATENCIES_MAX,
                                                LOSS_EVENTS_MAX};
    static const char *const ended_by[] = {
        [ENDED_BY_DURATION] = "duration",   [ENDED_BY_STOP] = "stop",
        [ENDED_BY_LINK_DOWN] = "link_down", [ENDED_BY_LOSSES] = "losses",
        [ENDED_BY_STREAMS] = "streams",
    };

    return json_pack("{s:I, s:b, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "id",
                     (json_int_t)id, "ok", 1, "reply", "trial", "ended_by",
                     ended_by[trial->ended_by], "sending_s", trial->sending_s, "begin_unix_ns",
                     unsigned_integer(trial->begin_unix_ns), "cpu_time",
                     cpu_time_json(&trial->cpu_times), "streams", totals_json(trial, &lengths),
                     "ports", ports_json(trial, trial->total.ports), "workers",
                     workers_json(trial, trial->total.workers, STALL_LONGEST_MAX), "clock",
                     message_clock(trial), "captures", captures_json(trial->captures));
}

static void
write_mac(const uint8_t *mac, char text[RTE_ETHER_ADDR_FMT_SIZE])
{
    snprintf(text, RTE_ETHER_ADDR_FMT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
             mac[3], mac[4], mac[5]);
}

static json_t *
neighbour_json(const struct neighbour *neighbour)
{
    char address[INET6_ADDRSTRLEN] = "", mac[RTE_ETHER_ADDR_FMT_SIZE];

    inet_ntop(neighbour->address.version == 4 ? AF_INET : AF_INET6, neighbour->address.bytes,
              address, sizeof(address));
    write_mac(neighbour->mac, mac);
    return json_pack("{s:i, s:s, s:o, s:i}", "port", (int)neighbour->port, "address", address,
                     "mac", neighbour->known ? json_string(mac) : json_null(), "tries",
                     (int)neighbour->tries);
}

json_t *
message_resolved(int64_t id, const struct neighbours *neighbours)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < neighbours->count; i++)
        json_array_append_new(array, neighbour_json(&neighbours->neighbour[i]));
    return json_pack("{s:I, s:b, s:s, s:o}", "id", (json_int_t)id, "ok", 1, "reply", "resolve",
                     "neighbours", array);
}

json_t *
message_ended(int64_t id, const struct trial *trial, uint64_t streams)
{
    json_t *array = json_array();

    for (uint64_t left = streams; left != 0; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        const struct tx_stream *stream = trial->run->tx_streams[i];

        json_array_append_new(array,
                              json_pack("{s:i, s:f, s:f}", "stream", (int)stream->stream, "begin_s",
                                        trial_seconds(trial, trial->ends.begin_at[i]), "end_s",
                                        trial_seconds(trial, atomic_load(&stream->ended_at))));
    }
    return json_pack("{s:s, s:I, s:I, s:o}", "event", "ended", "id", (json_int_t)id,
                     "begin_unix_ns", (json_int_t)trial->begin_unix_ns, "streams", array);
}

/* From when to when a stream that has just begun is to send. */
static json_t *
course_json(const struct trial *trial, uint32_t index, double duration_s)
{
    const double begin_s = trial_seconds(trial, trial->ends.begin_at[index]);

    return json_pack("{s:i, s:f, s:o}", "stream", (int)trial->request->streams[index].stream,
                     "begin_s", begin_s, "end_s",
                     duration_s > 0 ? json_real(begin_s + duration_s) : json_null());
}

json_t *
message_rates(int64_t id, const struct trial *trial, const struct rates_request *request,
              uint64_t changed)
{
    json_t *array = json_array();

    for (uint64_t left = request->begins; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);

        json_array_append_new(array, course_json(trial, i, request->duration_s[i]));
    }
    return json_pack("{s:I, s:b, s:s, s:f, s:I, s:o}", "id", (json_int_t)id, "ok", 1, "reply",
                     "rates", "at_s", trial_seconds(trial, changed), "begin_unix_ns",
                     (json_int_t)trial->begin_unix_ns, "begun", array);
}

json_t *
message_capture(int64_t id, const struct trial *trial, const struct capture_switch *change,
                uint64_t switched)
{
    json_t *capture = capture_json(&trial->captures->capture[change->capture]);

    json_object_update_new(capture, json_pack("{s:I, s:b, s:s, s:b, s:f}", "id", (json_int_t)id,
                                              "ok", 1, "reply", "capture", "on", (int)change->on,
                                              "at_s", trial_seconds(trial, switched)));
    return capture;
}

json_t *
message_link(int64_t id, const struct ports *ports, const struct link_request *request)
{
    return json_pack("{s:I, s:b, s:s, s:i, s:b}", "id", (json_int_t)id, "ok", 1, "reply", "link",
                     "port", (int)request->port, "link_up",
                     (int)port_link_up(&ports->port[request->port]));
}

json_t *
message_stopping(int64_t id)
{
    return json_pack("{s:I, s:b, s:s}", "id", (json_int_t)id, "ok", 1, "reply", "stop");
}

json_t *
message_error(int64_t id, const struct error *error, bool fatal)
{
    return json_pack("{s:o, s:b, s:{s:s, s:s, s:b}}", "id",
                     id < 0 ? json_null() : json_integer((json_int_t)id), "ok", 0, "error", "where",
                     error->where, "message", error->message, "fatal", (int)fatal);
}
