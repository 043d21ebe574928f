// SPDX-License-Identifier: GPL-2.0
/*
 * What the metadata of an object reports about a trace: see facts.h.
 */
#include "ship/facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/about.h"
#include "format/header.h"
#include "lib/guarded.h"
#include "reader/decode.h"

/* The traced program chooses some of these texts: no byte of them may change a request. */
static void take(char ret[FACTS_TEXT_SIZE], const char *text)
{
	size_t len = strnlen(text, FACTS_TEXT_SIZE - 1);

	for (size_t i = 0; i < len; i++)
		ret[i] = text[i] > ' ' && text[i] <= '~' ? text[i] : '_';
	ret[len] = '\0';
}

static int take_about(struct facts *ret, const struct dictionary *dictionary, uint64_t mtime_ns)
{
	struct about about = {};
	int err = about__read(&about, dictionary);

	if (err)
		return err;
	take(ret->program, about.program);
	take(ret->build_id, about.build_id);
	take(ret->go_version, about.go_version);
	take(ret->recorder, about.tool);
	if (about.has_ticks)
		host_clock__compare(&ret->clock, about.ticks.start_ns, about.ticks.wall_ns,
				    mtime_ns);
	return 0;
}

struct job {
	struct input *in;
	unsigned int version;
	uint64_t mtime_ns;
};

/* The first generation: it has all. In the child, which ends without releasing anything. */
static int read_generation(void *ctx, void *result, struct error *error)
{
	struct facts *ret = result;
	struct job *job = ctx;
	struct decoder *decoder = decoder__create(job->in, job->version);
	struct block_pool pool;
	struct generation g;

	block_pool__init(&pool);
	generation__init(&g, &pool);
	if (!decoder || decoder__next(decoder, &g, error) != 1)
		return -EBADMSG;
	return take_about(ret, &g.dictionary, job->mtime_ns);
}

/*
 * A generation is in memory as a whole, and a small compressed file can contain one of gigabytes:
 * this process has other files to send.
 */
static void read_in_child(struct facts *ret, struct job *job)
{
	static const struct guarded_limits limits = {
		.cpu_seconds = 5,
		.seconds = 10,
		.memory = 256ull << 20,
	};
	const struct host_clock now = ret->clock;
	struct facts got = *ret;

	if (guarded__run(read_generation, job, &limits, &got, sizeof(got), &(struct error){}))
		return;
	*ret = got;
	ret->clock = now;
	ret->clock.shift_known = got.clock.shift_known;
	ret->clock.shift_us = got.clock.shift_us;
}

void facts__read(struct facts *ret, int fd, uint64_t mtime_ns)
{
	struct job job = { .mtime_ns = mtime_ns };
	char path[40];

	*ret = (struct facts){};
	host_clock__read(&ret->clock);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (input__open(&job.in, path, &(struct error){}))
		return;
	if (!header__read(job.in, &job.version, &(struct error){}) && !header__is_v1(job.version)) {
		input__consume(job.in, TRACE_HEADER_LEN);
		read_in_child(ret, &job);
	}
	input__destroy(job.in);
}
