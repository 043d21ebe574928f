// SPDX-License-Identifier: GPL-2.0
/*
 * A trace opened in its middle, by its index: see at.h. Between trace/index.h, which knows the
 * place, and trace/reader.h, which goes on from there.
 */
#include "at.h"

#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "trace/index.h"

struct found {
	int64_t start;
	struct reader_place place;
	struct order state;
	struct origins origins;
};

/* Asks the index. 0; -ENOENT: there is none; else a negative errno with the reason. */
static int find(const char *path, const struct moment *from, struct found *ret, struct error *err)
{
	struct index *ix;
	int code = index__open(&ix, path, err);

	if (code)
		return code;
	ret->start = index__start(ix);
	code = index__place(ix, moment__time(from, ret->start), &ret->place, &ret->state,
			    &ret->origins, err);
	index__destroy(ix);
	return code;
}

static int resume(const char *path, const struct reader_opts *opts, struct found *found,
		  struct reader **ret, struct error *err)
{
	struct reader *r;
	int code = open_trace(path, opts, &r, err);

	if (code)
		return code;
	code = reader__resume(r, &found->place, &found->state, err);
	if (code)
		reader__destroy(r);
	else
		*ret = r;
	return code;
}

int open_trace_with_origins(const char *path, const struct reader_opts *opts, bool have_from,
			    const struct moment *from, struct reader **ret, int64_t *ret_start,
			    struct origins *ret_origins, struct error *err)
{
	struct error reason = {};
	struct found found = {};
	int code = -ENOENT;

	if (have_from && strcmp(path, "-"))
		code = find(path, from, &found, &reason);
	if (!code) {
		code = resume(path, opts, &found, ret, &reason);
		order__deinit(&found.state);
		if (!code) {
			*ret_start = found.start;
			*ret_origins = found.origins;
			return 0;
		}
		origins__deinit(&found.origins);
	}
	if (code != -ENOENT)
		log__msg("%s.idx is not used: %s", path, reason.text);
	*ret_start = INT64_MIN;
	return open_trace(path, opts, ret, err);
}

int open_trace_at(const char *path, const struct reader_opts *opts, bool have_from,
		  const struct moment *from, struct reader **ret, int64_t *ret_start,
		  struct error *err)
{
	struct origins origins;
	int code =
		open_trace_with_origins(path, opts, have_from, from, ret, ret_start, &origins, err);

	if (!code && *ret_start != INT64_MIN)
		origins__deinit(&origins);
	return code;
}
