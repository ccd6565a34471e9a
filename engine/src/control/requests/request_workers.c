/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "control/requests/request_parts.h"

/* The queues of one direction that have a worker: bit q of queues[p]. */
struct taken {
    uint32_t queues[PORTS_MAX];
};

/* Reads one [port, queue], which no worker may have yet. */
static int
read_queue(const struct object *worker, const char *name, const json_t *pair, uint32_t port_count,
           struct taken *taken, struct queue_request *queue)
{
    const json_t *port = json_array_get(pair, 0), *number = json_array_get(pair, 1);

    if (json_array_size(pair) != 2 || !json_is_integer(port) || !json_is_integer(number))
        return object_set_error(worker, name, "each must be [port, queue]");
    if (json_integer_value(port) < 0 || json_integer_value(port) >= port_count)
        return object_set_error(worker, name, "there is no port %" JSON_INTEGER_FORMAT,
                                json_integer_value(port));
    if (json_integer_value(number) < 0 || json_integer_value(number) >= QUEUES_MAX)
        return object_set_error(worker, name, "queue %" JSON_INTEGER_FORMAT " is not 0 to %d",
                                json_integer_value(number), QUEUES_MAX - 1);
    queue->port = (uint16_t)json_integer_value(port);
    queue->queue = (uint16_t)json_integer_value(number);
    if (taken->queues[queue->port] >> queue->queue & 1)
        return object_set_error(worker, name, "queue %u of port %u is polled twice", queue->queue,
                                queue->port);
    taken->queues[queue->port] |= 1u << queue->queue;
    return 0;
}

static int
read_queues(const struct object *worker, const char *name, uint32_t port_count, struct taken *taken,
            struct queue_request *queues, uint32_t *count)
{
    const json_t *array;

    if (read_array(worker, name, REQUIRED, 0, PORT_QUEUES_MAX, &array) != 0)
        return -EINVAL;
    *count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < *count; i++) {
        if (read_queue(worker, name, json_array_get(array, i), port_count, taken, &queues[i]) != 0)
            return -EINVAL;
    }
    return 0;
}

static int
read_worker(const struct object *object, const struct open_request *request, struct taken *sending,
            struct taken *receiving, struct worker_request *worker)
{
    static const char *const names[] = {"cpu", "tx", "rx", NULL};
    uint64_t cpu;

    if (object_knows(object, names) != 0 ||
        read_integer(object, "cpu", REQUIRED, 0, CPUS_MAX - 1, &cpu) != 0 ||
        read_queues(object, "tx", request->port_count, sending, worker->tx, &worker->tx_count) !=
            0 ||
        read_queues(object, "rx", request->port_count, receiving, worker->rx, &worker->rx_count) !=
            0)
        return -EINVAL;
    worker->cpu = (uint32_t)cpu;
    for (const struct worker_request *other = request->workers; other < worker; other++) {
        if (other->cpu == worker->cpu)
            return object_set_error(object, "cpu", "CPU %u has a worker already", worker->cpu);
    }
    return 0;
}

/* How many queues the set has, which must be those from 0 on; 0 when it has holes or none. */
static uint16_t
count_queues(uint32_t queues)
{
    return queues & (queues + 1) ? 0 : (uint16_t)__builtin_popcount(queues);
}

static int
count_port_queues(const struct object *top, struct open_request *request,
                  const struct taken *sending, const struct taken *receiving)
{
    for (uint32_t i = 0; i < request->port_count; i++) {
        struct port_request *port = &request->ports[i];

        port->tx_queues = count_queues(sending->queues[i]);
        port->rx_queues = count_queues(receiving->queues[i]);
        if (port->tx_queues == 0 || port->rx_queues == 0)
            return object_set_error(top, "workers",
                                    "port %u needs workers for its queues from 0 on, each way", i);
    }
    return 0;
}

int
read_workers(const struct object *top, struct open_request *request)
{
    struct taken sending = {0}, receiving = {0};
    struct object object;
    const json_t *array;

    if (read_array(top, "workers", REQUIRED, 1, WORKERS_MAX, &array) != 0)
        return -EINVAL;
    request->worker_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->worker_count; i++) {
        if (element_object(top, "workers", array, i, &object) != 0 ||
            read_worker(&object, request, &sending, &receiving, &request->workers[i]) != 0)
            return -EINVAL;
    }
    return count_port_queues(top, request, &sending, &receiving);
}
