/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The journal of a spool: which of its files the server has accepted, so that the next `gotrace
 * ship` does not send them again. One text line per file: name, bytes, time of modification (ns),
 * SHA-256.
 *
 * It is a shortcut: a file that it lacks is sent again, and the server answers that it has the
 * object. A corrupt or incomplete line is therefore ignored. The open journal is locked, so that
 * one process sends the files of a spool to a place.
 */
#ifndef SHIP_JOURNAL_H
#define SHIP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define JOURNAL_NAME "ship.journal"

struct journal;

struct journal_file {
	const char *name; /* borrowed */
	uint64_t bytes, mtime_ns;
};

/*
 * Opens `name` in the directory, or creates it with mode 0600. `to`: where the files are sent, such
 * as "https://host s3://bucket/prefix". 0, or a negative errno and the reason: -EBUSY: another
 * process sends these files; -EEXIST: it is of another place, or no journal, and stays as it is;
 * -EPERM: another user can have written it.
 */
int journal__open(struct journal **ret, int dir, const char *name, const char *to,
		  struct error *error);
void journal__close(struct journal *j); /* NULL allowed */

/* Whether the file was accepted according to the journal as it was opened. */
bool journal__has(const struct journal *j, const struct journal_file *file);
/* Adds a file, and syncs. 0, or a negative errno and the reason. */
int journal__add(struct journal *j, const struct journal_file *file, const char *sha256,
		 struct error *error);
/*
 * Writes it again, with the lines for which `is_kept` returns true for the name, if at most a half
 * of many lines is needed. `files`: how many files there are. 0, or a negative errno and the
 * reason.
 */
int journal__trim(struct journal *j, size_t files, bool (*is_kept)(void *ctx, const char *name),
		  void *ctx, struct error *error);

#endif
