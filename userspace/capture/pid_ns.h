/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PID namespace of this process: the numbers by which it, the BPF programs and all records name
 * threads and processes.
 */
#ifndef CAPTURE_PID_NS_H
#define CAPTURE_PID_NS_H

#include "gotrace/pid_ns.h"
#include "lib/error.h"

/*
 * Refuses with the remedy where nothing can be recorded: in a user namespace other than the initial
 * one, in which the kernel permits no BPF programs, if /proc shows another PID namespace, and in a
 * PID namespace of its own if the kernel has no BTF. 0, or a negative errno and the reason.
 */
int pid_ns__check(struct error *error);
/* Checks, and finds the namespace for the BPF programs. It is sought once; not by two threads. */
int pid_ns__find(struct gt_pid_ns *ret, struct error *error);

#endif
