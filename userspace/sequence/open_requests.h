/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that are open, and their names.
 *
 * The name of a request may be known only at its end, but its task's begin is an event of an earlier
 * time. So the name's string id is reserved at the begin. It is resolved when the request ends, or
 * when the generation does: a request that is longer keeps the name that was known then, since
 * readers require that the end of a region has the name of its begin. Different names are limited in
 * number. Upstream: state_request.c. Downstream: names/request_names.c, open_regions.c.
 */
#ifndef SEQUENCE_OPEN_REQUESTS_H
#define SEQUENCE_OPEN_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/private.h"
#include "gotrace/request.h"
#include "lib/map.h"
#include "lib/outbuf.h"
#include "names/request_names.h"

struct goroutine;
struct gt_record;
struct sequencer;
struct text;

struct request {
	struct request *next, **link;	  /* in the list of those without a name */
	struct text *part[REQUEST_PARTS]; /* held; NULL: empty or missing */
	uint32_t id;	/* of its name: reserved, and once it has one, permanent */
	uint32_t bytes; /* of memory, at most */
	enum gt_preset preset;
	bool has_name;
	bool is_taken;	 /* its handler has taken over the connection */
	bool has_result; /* as a log */
};

struct open_requests {
	struct map names; /* their permanent string ids, by hash */
	uint32_t max;	  /* of them; further ones are "other" */
	struct request *unnamed;
	uint64_t begins;     /* when the request arrived whose task is being written; 0: unknown */
	struct outbuf times; /* of the open generation, encoded: PRIVATE_REQUESTS */
	struct private_request last_time;
};

/* What is known of a goroutine that reads a connection, from which requests may come. */
struct served {
	uint64_t connection; /* that it reads outside of requests, as records number it; 0: none */
	/* Of what has been read for the next request, when the first and the last byte came; or 0. */
	uint64_t arrived, latest;
	uint64_t last_read; /* when the last byte came that it has read, whatever it is of; or 0 */
	uint64_t ended;	    /* when the handler of its last request ended; 0: it had none */
	uint64_t writing;   /* the task of that one, until the connection is read again; 0: none */
};

/*
 * A request whose record, of that time, names these texts; missing ones are counted. NULL: no memory
 * (s->error is set).
 */
struct request *open_requests__add(struct sequencer *s, enum gt_preset preset,
				   const uint64_t text[2], uint64_t time);
void open_requests__remove(struct sequencer *s, struct request *r); /* frees it; NULL is allowed */
size_t open_requests__size(const struct request *r);		    /* bytes; NULL is allowed */

/* Replaces the text that names it best, unless the text is empty, or missing, which is counted. */
void open_requests__name(struct sequencer *s, struct request *r, uint64_t text, uint64_t time);
/* The string id of its name, valid in the open generation. */
uint32_t open_requests__id(const struct request *r);
/* Gives it its name, if it has none yet. */
void open_requests__resolve(struct sequencer *s, struct request *r);
void open_requests__resolve_all(struct sequencer *s); /* before a generation is closed */
/* A record of kind GT_SOCKET, of a connection; see state_request.c. */
void open_requests__socket(struct sequencer *s, const struct gt_record *rec);
/* A goroutine was created, by the creator or (NULL) by none. */
void open_requests__created(struct goroutine *g, const struct goroutine *creator);
/* Adds a time of a request to the generation. */
void open_requests__note_time(struct sequencer *s, const struct private_request *time);
int open_requests__end_generation(struct sequencer *s); /* writes these times; 0 or an error */
void open_requests__deinit(struct open_requests *requests);

#endif
