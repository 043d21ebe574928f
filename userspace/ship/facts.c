// SPDX-License-Identifier: GPL-2.0
/*
 * What the metadata of an object reports about a trace: see facts.h.
 */
#include "ship/facts.h"

#include <stdio.h>
#include <string.h>

#include "format/about.h"
#include "format/header.h"
#include "reader/decode.h"

/* The traced program chooses some of these texts: no byte of them may change a request. */
static void take(char ret[FACTS_TEXT_SIZE], const char *text)
{
	size_t len = strnlen(text, FACTS_TEXT_SIZE - 1);

	for (size_t i = 0; i < len; i++)
		ret[i] = text[i] > ' ' && text[i] <= '~' ? text[i] : '_';
	ret[len] = '\0';
}

static void take_about(struct facts *ret, const struct dictionary *dictionary, uint64_t mtime_ns)
{
	struct about about = {};

	if (about__read(&about, dictionary))
		return;
	take(ret->program, about.program);
	take(ret->build_id, about.build_id);
	take(ret->go_version, about.go_version);
	take(ret->recorder, about.tool);
	if (about.has_ticks)
		host_clock__compare(&ret->clock, about.ticks.start_ns, about.ticks.wall_ns,
				    mtime_ns);
}

static void read_generation(struct facts *ret, struct input *in, unsigned int version,
			    uint64_t mtime_ns)
{
	struct decoder *decoder;
	struct block_pool pool;
	struct generation g;

	input__consume(in, TRACE_HEADER_LEN);
	decoder = decoder__create(in, version);
	if (!decoder)
		return;
	block_pool__init(&pool);
	generation__init(&g, &pool);
	if (decoder__next(decoder, &g, &(struct error){}) == 1)
		take_about(ret, &g.dictionary, mtime_ns);
	generation__deinit(&g);
	block_pool__deinit(&pool);
	decoder__destroy(decoder);
}

void facts__read(struct facts *ret, int fd, uint64_t mtime_ns)
{
	struct input *in;
	unsigned int version;
	char path[40];

	*ret = (struct facts){};
	host_clock__read(&ret->clock);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (input__open(&in, path, &(struct error){}))
		return;
	if (!header__read(in, &version, &(struct error){}) && !header__is_v1(version))
		read_generation(ret, in, version, mtime_ns);
	input__destroy(in);
}
