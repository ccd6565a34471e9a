/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "control/json_fields.h"
#include "control/request.h"

static int
read_memory(const struct object *top, struct open_request *request)
{
    static const char *const names[] = {"huge", "megabytes", NULL};
    struct object memory;
    uint64_t megabytes = 0;

    if (read_object(top, "memory", &memory) != 0 || object_knows(&memory, names) != 0 ||
        read_bool(&memory, "huge", REQUIRED, &request->huge) != 0 ||
        read_integer(&memory, "megabytes", REQUIRED, 16, 1048576, &megabytes) != 0)
        return -EINVAL;
    request->memory_megabytes = (uint32_t)megabytes;
    return 0;
}

static int
read_main_cpus(const struct object *top, struct open_request *request)
{
    const json_t *array;
    uint64_t cpu;

    if (read_array(top, "main_cpus", REQUIRED, 1, CPUS_MAX, &array) != 0)
        return -EINVAL;
    request->main_cpu_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->main_cpu_count; i++) {
        if (element_integer(top, "main_cpus", array, i, CPUS_MAX - 1, &cpu) != 0)
            return -EINVAL;
        request->main_cpus[i] = (uint32_t)cpu;
    }
    return 0;
}

static int
read_ports(const struct object *top, struct open_request *request)
{
    static const char *const names[] = {"devargs", "descriptors", NULL};
    const json_t *array;

    if (read_array(top, "ports", REQUIRED, 1, PORTS_MAX, &array) != 0)
        return -EINVAL;
    request->port_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->port_count; i++) {
        struct port_request *port = &request->ports[i];
        uint64_t descriptors = 1024;
        const char *devargs;
        struct object object;

        if (element_object(top, "ports", array, i, &object) != 0 ||
            object_knows(&object, names) != 0 ||
            read_string(&object, "devargs", DEVARGS_MAX, &devargs) != 0 ||
            read_integer(&object, "descriptors", OPTIONAL, 32, 32768, &descriptors) != 0)
            return -EINVAL;
        snprintf(port->devargs, sizeof(port->devargs), "%s", devargs);
        port->descriptors = (uint16_t)descriptors;
    }
    return 0;
}

/* Reads port numbers into a bit set; none may be in `taken`, the other workers' ports. */
static int
read_port_set(const struct object *worker, const char *name, uint32_t port_count, uint32_t *taken,
              uint32_t *ports)
{
    const json_t *array;
    uint64_t port;

    *ports = 0;
    if (read_array(worker, name, REQUIRED, 0, PORTS_MAX, &array) != 0)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (element_integer(worker, name, array, i, port_count - 1, &port) != 0)
            return -EINVAL;
        if (*taken >> port & 1)
            return object_complain(worker, name, "port %u is polled twice", (unsigned)port);
        *taken |= 1u << port;
        *ports |= 1u << port;
    }
    return 0;
}

static int
read_workers(const struct object *top, struct open_request *request)
{
    static const char *const names[] = {"cpu", "tx_ports", "rx_ports", NULL};
    const uint32_t all = (1u << request->port_count) - 1;
    uint32_t sending = 0, receiving = 0;
    const json_t *array;
    uint64_t cpu;

    if (read_array(top, "workers", REQUIRED, 1, WORKERS_MAX, &array) != 0)
        return -EINVAL;
    request->worker_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->worker_count; i++) {
        struct worker_request *worker = &request->workers[i];
        struct object object;

        if (element_object(top, "workers", array, i, &object) != 0 ||
            object_knows(&object, names) != 0 ||
            read_integer(&object, "cpu", REQUIRED, 0, CPUS_MAX - 1, &cpu) != 0 ||
            read_port_set(&object, "tx_ports", request->port_count, &sending, &worker->tx_ports) !=
                0 ||
            read_port_set(&object, "rx_ports", request->port_count, &receiving,
                          &worker->rx_ports) != 0)
            return -EINVAL;
        worker->cpu = (uint32_t)cpu;
        for (uint32_t other = 0; other < i; other++) {
            if (request->workers[other].cpu == worker->cpu)
                return object_complain(&object, "cpu", "CPU %u has a worker already", worker->cpu);
        }
    }
    if (sending != all || receiving != all)
        return object_complain(top, "workers", "every port needs a worker to send and to receive");
    return 0;
}

int
request_open(const json_t *json, struct open_request *request, struct complaint *complaint)
{
    static const char *const names[] = {"id",    "request",     "memory",          "main_cpus",
                                        "ports", "link_wait_s", "max_frame_bytes", "workers",
                                        NULL};
    const struct object top = object_top(json, complaint);
    uint64_t max_frame_bytes = 1518;

    request->link_wait_s = 10;
    if (object_knows(&top, names) != 0 || read_memory(&top, request) != 0 ||
        read_main_cpus(&top, request) != 0 || read_ports(&top, request) != 0 ||
        read_workers(&top, request) != 0 ||
        read_number(&top, "link_wait_s", OPTIONAL, 0, 600, &request->link_wait_s) != 0 ||
        read_integer(&top, "max_frame_bytes", OPTIONAL, FRAME_MIN_BYTES, 9216, &max_frame_bytes) !=
            0)
        return -EINVAL;
    request->max_frame_bytes = (uint32_t)max_frame_bytes;
    return 0;
}
