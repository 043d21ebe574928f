/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of gotrace view: view.c parses the command line, view_data.c reads the trace,
 * view_server.c answers the browser.
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include <stddef.h>
#include <sys/stat.h>

#include "gotrace/command.h"
#include "report/lanes.h"

#define VIEW_TOKEN 32 /* characters */

/* JSON in memory, which the owner frees. */
struct view_text {
	char *data;
	size_t len;
};

struct view {
	struct trace_args in;
	struct report_lanes_opts opts; /* of the whole */
	const char *name;	       /* of the file, for users */
	struct stat stat;	       /* of the file, when it was read */
	int64_t start;		       /* time of the first event, ns */
	uint64_t ns;		       /* until the last one */
	struct view_text whole;	       /* the answer to data.json */
	char token[VIEW_TOKEN + 1];    /* without it, other users of the machine are refused */
	uint16_t port;
	int fd; /* that listens */
};

/* A part of the trace, and how much of it is shown. */
struct view_range {
	uint64_t from, to; /* ns since the start */
	uint64_t width;	   /* pixels */
	const char *lanes; /* IDs, or NULL: all */
};

/* ---- view_data.c ---- */

/* Reads the whole trace: sets start, ns and whole. 0 or a negative errno with the reason. */
int view__read(struct view *v, struct error *error);
/* Reads a part, through the index if there is one. -ESTALE: the file has changed. */
int view__read_range(struct view *v, const struct view_range *range, struct view_text *ret,
		     struct error *error);

/* ---- view_server.c ---- */

/* Listens on a loopback port, 0: a free one, and chooses the token. */
int view__listen(struct view *v, uint16_t port, struct error *error);
/* Serves until SIGINT or SIGTERM, which the caller has blocked. */
int view__serve(struct view *v, struct error *error);

#endif
