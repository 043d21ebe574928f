/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guaranteed priority for the recorder: its rings must be drained before they overflow, however
 * busy the machine is; and a bound on it, so that it cannot keep the target from its CPUs.
 *
 * The kernel's deadline scheduler (SCHED_DEADLINE) does both: a thread gets a share of one CPU
 * before all others, and no more than that. Upstream: recorder.c.
 */
#ifndef CAPTURE_PRIORITY_H
#define CAPTURE_PRIORITY_H

/*
 * Gives the calling thread up to 80 % of one CPU, before all other threads. The threads that it
 * creates later have a normal priority. Does nothing if the user has chosen another policy than the
 * normal one (chrt), and if the kernel does not permit it: without CAP_SYS_NICE, if the thread may
 * not use all CPUs (taskset, cpusets), or if other such threads need the time.
 */
void priority__guarantee(void);

#endif
