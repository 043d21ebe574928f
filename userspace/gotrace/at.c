// SPDX-License-Identifier: GPL-2.0
/*
 * Opens a trace in its middle with the help of its index: see at.h. reader/index.h locates the
 * position, reader/reader.h continues from there.
 */
#include "at.h"

#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "reader/index.h"

struct found {
	int64_t start;
	struct reader_place place;
	struct order state;
	struct start_functions functions;
};

/* Look `from` up in the index. 0; -ENOENT: no index; else a negative errno with the reason. */
static int find(const char *path, const struct moment *from, struct found *ret, struct error *error)
{
	struct index *ix;
	int err = index__open(&ix, path, error);

	if (err)
		return err;
	ret->start = index__start(ix);
	err = index__place(ix, moment__time(from, ret->start), &ret->place, &ret->state,
			   &ret->functions, error);
	index__destroy(ix);
	return err;
}

static int resume(const char *path, const struct reader_opts *opts, struct found *found,
		  struct reader **ret, struct error *error)
{
	struct reader *r;
	int err = open_trace(path, opts, &r, error);

	if (err)
		return err;
	err = reader__resume(r, &found->place, &found->state, error);
	if (err)
		reader__destroy(r);
	else
		*ret = r;
	return err;
}

int open_trace_at(const struct trace_args *args, const struct moment *from, struct reader **ret,
		  int64_t *ret_start, struct start_functions *ret_functions, struct error *error)
{
	struct error reason = {};
	struct found found = {};
	int err = -ENOENT;

	if (from && strcmp(args->path, "-"))
		err = find(args->path, from, &found, &reason);
	if (!err) {
		err = resume(args->path, &args->reader, &found, ret, &reason);
		order__deinit(&found.state);
		if (!err && ret_functions)
			*ret_functions = found.functions;
		else
			start_functions__deinit(&found.functions);
	}
	if (!err) {
		*ret_start = found.start;
		return 0;
	}
	if (err != -ENOENT)
		log__msg("%s.idx is not used: %s", args->path, reason.text);
	*ret_start = INT64_MIN;
	return open_trace(args->path, &args->reader, ret, error);
}
