/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports the state of a service to its manager: sd_notify(3) of systemd, whose protocol is stable and
 * small enough not to require its library.
 *
 * Upstream: gotrace-bpf/serve_control.c. Without a manager nothing here has an effect.
 */
#ifndef SERVICE_NOTIFY_H
#define SERVICE_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* connected to the manager; -1: none */
	uint64_t watchdog_ns; /* between two reports of notify__alive(); 0: none are expected */
	uint64_t next;	      /* CLOCK_MONOTONIC, ns: when the next one is due */
};

/*
 * Connects to $NOTIFY_SOCKET, a path or the name of an abstract socket, and removes it and the
 * variables of the watchdog from the environment, so that no child reports, too. Never fails: a manager
 * that cannot be reached is reported as a message for the user.
 */
void notify__open(struct notify *n);
/* Sends lines such as "READY=1\nSTATUS=recording 2 processes". Never waits, and may be lost. */
void notify__send(const struct notify *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * To be called in each round of the loop that must not stall, at `now` (CLOCK_MONOTONIC, ns): reports
 * that the process is alive whenever half of the manager's time has passed. Never from a thread or a
 * timer of its own, which would go on if the loop stalls.
 */
void notify__alive(struct notify *n, uint64_t now);
void notify__close(struct notify *n);

#endif
