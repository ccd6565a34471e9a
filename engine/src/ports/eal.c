/* SPDX-License-Identifier: Apache-2.0 */
#include "ports/eal.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "dataplane/loop/driver_memory.h"
#include "ports/devargs.h"

#define ARGUMENTS_MAX (16 + 2 * PORTS_MAX)

struct arguments {
    int count;
    char *value[ARGUMENTS_MAX + 1];
};

static void
add(struct arguments *arguments, const char *value)
{
    /* EAL wants char * and does not write through it. */
    arguments->value[arguments->count++] = (char *)(uintptr_t)value;
}

/* "0@(0,1),1@0": the main lcore on any of the main CPUs, each worker pinned. */
static int
format_lcores(const struct open_request *request, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "0@(");

    for (uint32_t i = 0; i < request->main_cpu_count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "", request->main_cpus[i]);
    for (uint32_t i = 0; i < request->worker_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s,%u@%u", i ? "" : ")", i + 1,
                                 request->workers[i].cpu);
    return used < size ? 0 : -E2BIG;
}

/*
 * EAL puts threads of its own on those CPUs of this process that are no lcore's, which may be the
 * DUT's, and with the main lcore where none is left.
 */
static int
keep_to_main_cpus(const struct open_request *request)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    for (uint32_t i = 0; i < request->main_cpu_count; i++)
        CPU_SET(request->main_cpus[i], &cpus);
    return sched_setaffinity(0, sizeof(cpus), &cpus) == 0 ? 0 : -errno;
}

/* Takes only the PCI devices named, or none; virtual devices are for ports_open() to make. */
static void
add_devices(struct arguments *arguments, const struct open_request *request)
{
    bool pci = false;

    for (uint32_t i = 0; i < request->port_count; i++) {
        if (!devargs_is_pci(request->ports[i].devargs))
            continue;
        add(arguments, "--allow");
        add(arguments, request->ports[i].devargs);
        pci = true;
    }
    if (!pci)
        add(arguments, "--no-pci");
}

int
eal_start(const struct open_request *request, struct error *error)
{
    struct arguments arguments = {0};
    char lcores[8192], megabytes[16], prefix[32];
    int status;

    snprintf(megabytes, sizeof(megabytes), "%u", request->memory_megabytes);
    snprintf(prefix, sizeof(prefix), "plimsoll-%d", (int)getpid());
    if (format_lcores(request, lcores, sizeof(lcores)) != 0)
        return set_error(error, -E2BIG, "main_cpus", "too many CPUs");
    status = keep_to_main_cpus(request);
    if (status != 0)
        return set_error(error, status, "main_cpus", "cannot run there: %s", strerror(-status));
    add(&arguments, "plimsoll-engine");
    add(&arguments, "--lcores");
    add(&arguments, lcores);
    add(&arguments, "-m");
    add(&arguments, megabytes);
    add(&arguments, "--file-prefix");
    add(&arguments, prefix);
    add(&arguments, "--no-telemetry");
    /* Either way nothing is left in hugetlbfs and nothing is shared with other processes. */
    add(&arguments, request->huge ? "--in-memory" : "--no-huge");
    /* A vhost-user peer takes few pieces of memory: one for each kind, not one for each page. */
    add(&arguments, request->huge ? "--single-file-segments" : "--no-shconf");
    add_devices(&arguments, request);
    driver_memory_init();
    if (rte_eal_init(arguments.count, arguments.value) < 0)
        return set_error(error, -EINVAL, "", "DPDK did not start: %s", rte_strerror(rte_errno));
    return 0;
}
