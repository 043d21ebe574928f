/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of gotrace view: view.c parses the command line, view_data.c reads the trace,
 * view_server.c answers the browser.
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>

#include "gotrace/views/report.h"
#include "gotrace/views/view_clients.h"

#define VIEW_TOKEN 32 /* characters */

/* JSON in memory, which the owner frees. */
struct view_text {
	char *data;
	size_t len;
};

struct view {
	struct report_data *data;      /* of the whole trace; data->in: what is to be read */
	struct report_lanes_opts opts; /* of the whole */
	struct stat stat;	       /* of the file, when it was read */
	uint64_t ns;		       /* from the first event to the last one */
	struct view_text whole;	       /* the answer to data.json */
	pthread_mutex_t reading;       /* one thread at a time reads the file */
	char token[VIEW_TOKEN + 1];    /* without it, other users of the machine are refused */
	uint16_t port;
	int fd; /* that listens */
	struct view_clients clients;
};

/* A part of the trace, and how much of it is shown. */
struct view_range {
	uint64_t from, to; /* ns since the start */
	uint64_t width;	   /* pixels */
	const char *lanes; /* IDs, or NULL: all */
};

/* ---- view_data.c ---- */

/* Reads the trace of v->data->in. 0 or a negative errno with the reason. */
int view__read(struct view *v, struct error *error);
void view__deinit(struct view *v); /* frees what view__read() has made */
/*
 * Writes a part: of the spans in memory, or read from the file, through its index if there is one.
 * Several threads may call it at once. 0 or a negative errno with the reason; -ESTALE: the file has
 * changed.
 */
int view__read_range(struct view *v, const struct view_range *range, struct view_text *ret,
		     struct error *error);

/* ---- view_server.c ---- */

/* Listens on a loopback port, 0: a free one, and chooses the token. */
int view__listen(struct view *v, uint16_t port, struct error *error);
/* Serves until SIGINT or SIGTERM, which the caller has blocked. */
int view__serve(struct view *v, struct error *error);

#endif
