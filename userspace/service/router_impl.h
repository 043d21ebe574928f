/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by router.c, which receives requests and answers, and router_rounds.c, which gathers the
 * results of all recorders.
 */
#ifndef SERVICE_ROUTER_IMPL_H
#define SERVICE_ROUTER_IMPL_H

#include "service/router.h"

#define CLIENTS ROUTER_REQUESTERS /* all of the control socket: a requester without a channel */

struct recorder_end {
	int pid; /* 0: free */
	int channel;
	char name[ROUTER_NAME];
	bool is_ready, is_broken;
	bool is_invalid; /* it is broken because of an invalid message */
};

struct requester {
	int channel;	       /* -1: free */
	uint64_t last_request; /* when it last sent a request; CLOCK_MONOTONIC, ns */
	unsigned int pending;  /* jobs */
};

#define GATHERS 3

enum job_state { FREE, QUEUED, GATHERED, STREAMED };

struct job {
	enum job_state state;
	enum channel_kind kind;
	unsigned int requester;
	uint64_t client;   /* of the requester CLIENTS */
	uint64_t id;	   /* the requester's */
	int pid;	   /* 0: all */
	int fd;		   /* the requester's memory file; -1 for a trace, which its recorder has */
	uint64_t passed;   /* STREAMED: the id that the recorder knows */
	unsigned int slot; /* of that recorder */
	uint64_t deadline;
};

struct part {
	int pid; /* of a recorder that is asked; 0: none */
	char name[ROUTER_NAME];
	bool waits, has_result;
	int memory;
};

/* A round of questions to all recorders. */
struct gather {
	enum channel_kind kind, asks; /* of the jobs, and of the recorders */
	const struct router_printer *printer;
	bool is_active;
	uint64_t id, deadline;
	struct part part[ROUTER_RECORDERS];
};

struct router {
	struct router_opts opts;
	struct recorder_end recorder[ROUTER_RECORDERS];
	struct requester requester[ROUTER_REQUESTERS + 1];
	struct job job[ROUTER_JOBS];
	struct gather gather[GATHERS];
	uint64_t last_id; /* of a question to a recorder */
};

/* Answers a job, and frees it. `text` may be NULL. */
void router__finish(struct router *r, struct job *j, int err, const char *text);

/*
 * Ends a round that is complete or too late, and begins the next one if there are requests for it.
 */
void router_round__step(struct router *r, struct gather *g, uint64_t now);
/* A recorder has answered question `id`. */
void router_round__take(struct gather *g, unsigned int slot, uint64_t id, bool has_result);
/* A recorder has ended: no answer will come from it. */
void router_round__give_up(struct gather *g, unsigned int slot);
/* Closes the memory files of the round. */
void router_round__close(struct gather *g);

#endif
