/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The spool: the directory in which recorders complete traces, and what became of each.
 *
 * Only files with a name of flight/file_name.h count: files that are still being written have other
 * names. Upstream: the recorders, which also remove the oldest files when the directory reaches its
 * limit. Downstream: sender.c.
 */
#ifndef SHIP_SPOOL_H
#define SHIP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "ship/journal.h"
#include "ship/place.h"

#define SPOOL_FILES_MAX 65536 /* more are seen once others are gone */

enum spool_state {
	SPOOL_WAITING,
	SPOOL_SENDING,
	SPOOL_ACCEPTED,
	SPOOL_REFUSED,
	SPOOL_GONE, /* removed or replaced before it was accepted */
	SPOOL_STATE_END
};

struct spool_file {
	char *name;
	struct place_parts parts; /* of the name */
	dev_t dev;
	ino_t ino;
	uint64_t bytes, mtime_ns;
	enum spool_state state; /* changed by spool__set() */
	unsigned int tries;	/* that failed */
	unsigned int differed;	/* answers that the server has other bytes */
	uint64_t not_before;	/* CLOCK_MONOTONIC, ns: of the next one */
	bool present;		/* in the directory, at the last scan */
};

struct spool {
	int dir;
	char *path;
	uid_t owner;
	struct spool_file **file; /* the oldest first */
	size_t n, cap;
	size_t count[SPOOL_STATE_END]; /* of files in that state */
	size_t first;		       /* no file before this one is waiting */
	uint64_t lost;	    /* files that were missing at a scan, and had not been accepted */
	size_t other_names; /* traces at the last scan whose names have no host and time */
};

/*
 * Opens the directory. 0, or a negative errno and the reason: -EPERM: other users than its owner
 * can put files into it.
 */
int spool__open(struct spool *ret, const char *path, struct error *error);
void spool__close(struct spool *s);

/*
 * Reads the directory again. New files of the journal are SPOOL_ACCEPTED. Files that are being sent
 * stay; all other pointers are invalid. 0, or a negative errno and the reason.
 */
int spool__scan(struct spool *s, const struct journal *j, struct error *error);
void spool__set(struct spool *s, struct spool_file *file, enum spool_state state);
/* The index of the first file that waits; spool->n: none does. */
size_t spool__first(struct spool *s);
/* Whether a file of this name is present; `spool` is a struct spool. */
bool spool__has(void *spool, const char *name);

/*
 * Opens a file for reading. A descriptor, or a negative errno with the reason: -ENOENT: it was
 * removed or replaced.
 */
int spool__open_file(const struct spool *s, const struct spool_file *file, struct error *error);
/* Removes the file unless another one has taken its name. 0 or a negative errno. */
int spool__remove(const struct spool *s, const struct spool_file *file);

#endif
