/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sends the files of a spool: which one next, how many at a time, and when again after a failure.
 *
 * A file counts as accepted once the server has confirmed its checksum and, unless it is then
 * removed, the journal is on the disk. A process that is killed at any moment therefore loses
 * nothing, and what it sends again is the same object. Upstream: gotrace ship. Downstream: spool.c,
 * transfer.c, journal.c.
 */
#ifndef SHIP_SENDER_H
#define SHIP_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "ship/place.h"

#define SENDER_SLOTS_DEFAULT   4
#define SENDER_TIMEOUT_DEFAULT 30 /* seconds */
#define SENDER_GIVE_UP_DEFAULT (300 * 1000000000ull)

struct sender_opts {
	const char *dir;	    /* of the spool */
	const char *journal;	    /* path; NULL: JOURNAL_NAME in the spool */
	const char *credentials;    /* path of a file; NULL: the environment */
	const char *ca;		    /* see struct http_opts */
	const char *host, *service; /* in keys and metadata; NULL: those of the file's name */
	struct place place;
	unsigned int slots, timeout; /* see struct http_opts */
	uint64_t give_up_ns; /* without `follow`: fail if nothing was accepted for so long */
	bool follow;	     /* continue until a signal arrives */
	bool remove;	     /* files that were accepted */
};

struct sender_result {
	bool began;	       /* the spool, the journal and the credentials were read */
	uint64_t files, bytes; /* that were accepted in this run */
	uint64_t refused;      /* that the server has otherwise, or that cannot be sent */
	uint64_t lost;	       /* that were removed from the spool before they were accepted */
	uint64_t waiting;      /* that remain */
	uint64_t failures;     /* requests that failed, and were or will be repeated */
};

/*
 * Sends the files that are there, or with `follow` also later ones, until SIGINT or SIGTERM. The
 * result is valid in any case. 0, or a negative errno and the reason: a file was not accepted.
 */
int sender__run(const struct sender_opts *opts, struct sender_result *ret, struct error *error);

#endif
