/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The supervisor's side of the channels: passes requests of requesters (the front, and clients of
 * the control socket) on to recorders, and puts the results of several recorders together.
 *
 * Nothing waits for another process: a recorder that does not answer in time is left out, and an
 * requester that sends something invalid is disconnected. Requests are bounded, for each requester
 * and in all.
 *
 * Upstream: gotrace-bpf/supervisor.c. Downstream: channel.c.
 */
#ifndef SERVICE_ROUTER_H
#define SERVICE_ROUTER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/error.h"

#define ROUTER_RECORDERS  64
#define ROUTER_REQUESTERS 8
#define ROUTER_JOBS	  128 /* requests of all requesters */
#define ROUTER_FDS	  (ROUTER_RECORDERS + ROUTER_REQUESTERS)
#define ROUTER_NAME	  64		      /* bytes of the name of a target: 15, each escaped */
#define ROUTER_PATIENCE	  (2 * 1000000000ull) /* ns, for the result of a recorder */

struct channel_request;
struct router;

/* What a recorder has answered, which is untrusted, or `data` NULL: nothing. */
struct router_part {
	int pid;
	const char *name;
	bool is_ready; /* it records; else it is still being attached */
	const void *data;
	size_t size;
};

struct router_printer {
	/* Prints the result of n parts, by ascending PID. 0, or a negative errno and the reason. */
	int (*print)(FILE *out, const struct router_part *part, size_t n, struct error *error);
	size_t max; /* bytes of a part */
};

struct router_opts {
	struct router_printer targets, metrics, stats; /* `print` NULL: unsupported */
	/* Answers a request of router__request(). */
	void (*answer)(void *ctx, uint64_t client, uint64_t id, int err, const char *text);
	void *ctx;
};

struct router *router__create(const struct router_opts *opts); /* NULL: no memory */
/*
 * Closes all channels; in a child process, too, which then has none of the parent's. NULL allowed.
 */
void router__destroy(struct router *r);

/* Takes the channel over. 0, or -EBUSY: there are ROUTER_REQUESTERS; it is closed. */
int router__add_requester(struct router *r, int channel);
/* False once it was disconnected: it has closed the channel, or sent something invalid. */
bool router__has_requester(const struct router *r, int channel);
/* When it last sent a request; CLOCK_MONOTONIC, ns. 0: not yet, or it is no requester. */
uint64_t router__last_request(const struct router *r, int channel);
/*
 * A request of a client of the control socket, which has checked it, and limits how many each
 * client has: takes the descriptor over, and calls opts.answer() once, now or later.
 */
void router__request(struct router *r, uint64_t client, const struct channel_request *request,
		     int fd, uint64_t now);
/* Takes the channel to the recorder in `slot`, below ROUTER_RECORDERS, over. */
void router__add_recorder(struct router *r, unsigned int slot, int pid, const char *name,
			  int channel);
void router__set_ready(struct router *r, unsigned int slot); /* it records, and answers */
/* Once true if it has sent something invalid: it is not asked any more, and should be replaced. */
bool router__take_invalid(struct router *r, unsigned int slot);
void router__remove_recorder(struct router *r, unsigned int slot);

/* Fills fd[], of ROUTER_FDS, with what to wait for. Returns the number. */
unsigned int router__fds(const struct router *r, struct pollfd *fd);
/* Handles what has arrived. `now`: CLOCK_MONOTONIC, ns. */
void router__step(struct router *r, uint64_t now);
/* Whether requests wait, so that router__step() is to be called again after some 100 ms. */

#endif
