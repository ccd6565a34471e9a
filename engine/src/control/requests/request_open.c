/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "control/requests/request_parts.h"

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
read_stamps(const struct object *object, enum stamps *stamps)
{
    static const char *const names[] = {"tsc", "hardware", "timesync"};
    const char *name = names[STAMPS_TSC];

    if (read_string(object, "stamps", OPTIONAL, 16, &name) != 0)
        return -EINVAL;
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *stamps = (enum stamps)i;
            return 0;
        }
    }
    return object_set_error(object, "stamps", "must be tsc, hardware or timesync");
}

static int
read_port(const struct object *object, struct port_request *port)
{
    static const char *const names[] = {"devargs", "descriptors", "stamps", "host", NULL};
    uint64_t descriptors = 1024;
    const char *devargs;

    if (object_knows(object, names) != 0 ||
        read_string(object, "devargs", REQUIRED, DEVARGS_MAX, &devargs) != 0 ||
        read_integer(object, "descriptors", OPTIONAL, 32, 32768, &descriptors) != 0 ||
        read_stamps(object, &port->stamps) != 0 || read_host(object, &port->host) != 0)
        return -EINVAL;
    if (!isalnum((unsigned char)devargs[0]))
        return object_set_error(object, "devargs", "must begin with a device's name or address");
    snprintf(port->devargs, sizeof(port->devargs), "%s", devargs);
    port->descriptors = (uint16_t)descriptors;
    return 0;
}

static int
read_ports(const struct object *top, struct open_request *request)
{
    struct object object;
    const json_t *array;

    if (read_array(top, "ports", REQUIRED, 0, PORTS_MAX, &array) != 0)
        return -EINVAL;
    request->port_count = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < request->port_count; i++) {
        if (element_object(top, "ports", array, i, &object) != 0 ||
            read_port(&object, &request->ports[i]) != 0)
            return -EINVAL;
    }
    return 0;
}

int
request_open(const json_t *json, struct open_request *request, struct error *error)
{
    static const char *const names[] = {"id",    "request",     "memory",          "main_cpus",
                                        "ports", "link_wait_s", "max_frame_bytes", "workers",
                                        NULL};
    const struct object top = object_top(json, error);
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
