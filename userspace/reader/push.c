// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a trace that is still being written: see reader/push.h.
 *
 * Between the decoder, which gets a generation as if it was the last of a file, and reader/reader.c,
 * which takes it as reader/parallel.c gives it one, and keeps the state of the scheduler.
 */
#include "reader/push.h"

#include <errno.h>

#include "format/header.h"
#include "reader/reader_impl.h"

int reader__create_pushed(struct reader **ret, const void *header, struct error *error)
{
	unsigned int version;
	struct input *in;
	struct reader *r;
	int err = input__open_memory(&in, header, TRACE_HEADER_LEN, error);

	if (err)
		return err;
	err = header__read(in, &version, error);
	if (!err && header__is_v1(version))
		err = error__set(error, -EPROTONOSUPPORT, "a trace without generations");
	if (err) {
		input__destroy(in);
		return err;
	}
	err = reader__open(&r, in, NULL, error);
	if (err)
		return err;
	r->part = r->followed = r->pushed = r->done = true;
	*ret = r;
	return 0;
}

static int decode(struct reader *r, struct input *in, struct error *error)
{
	struct decoder *d = decoder__create(in, r->version);
	int got;

	if (!d)
		return error__set(error, -ENOMEM, "out of memory");
	got = decoder__next(d, &r->gen, error);
	decoder__destroy(d);
	if (got < 0)
		return got;
	if (!got || input__offset(in) != input__size(in))
		return error__set(error, -EBADMSG, "not a single generation");
	return 0;
}

int reader__push(struct reader *r, const void *data, size_t len, struct error *error)
{
	struct input *in;
	int err = input__open_memory(&in, data, len, error);

	if (err)
		return err;
	err = decode(r, in, error);
	input__destroy(in);
	if (!err)
		reader__give(r, 1, NULL);
	return err;
}

void reader__push_end(struct reader *r)
{
	r->part = r->pushed = false;
	reader__give(r, 0, NULL);
}

bool reader__is_pushed(const struct reader *r)
{
	return r->pushed;
}
