/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine may no longer ask of the kernel, once it runs. */
#ifndef PLIMSOLL_CONFINEMENT_H
#define PLIMSOLL_CONFINEMENT_H

/*
 * Gives up, for this thread and all that it will start: new privileges by exec, and the system
 * calls that neither the engine nor DPDK's drivers make (docs/decisions/015): other programs,
 * other processes, mounts, modules, namespaces, TCP. They fail with EPERM from now on. Calls that
 * name a process are left where they name this one; call it in the process that is to be confined.
 *
 * Returns 0, or negative errno where the kernel has no seccomp filters or the build left them
 * out (-ENOSYS); then new privileges are given up all the same, where possible.
 */
int confine(void);

#endif
