// SPDX-License-Identifier: GPL-2.0
/*
 * The trace of a flight recorder buffer: see blackbox_image.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blackbox/blackbox_copy.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "rawfile/rawfile.h"
#include "blackbox_image.h"
#include "replay.h"

#define LEAD_NS	  1000000000ull /* before the window, which then begins with a generation */
#define SETTLE_US 10000 /* a thread may be preempted between the time of a record and its slot */

int blackbox_image__read_checkpoints(struct kmod *kmod, struct blackbox_image *ret,
				     struct error *error)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++) {
		struct error why = {};
		void *data = NULL;
		size_t bytes = 0;

		err = kmod__read_checkpoint(kmod, i, &data, &bytes, NULL, &why);
		ret->checkpoint[i].data = data;
		ret->checkpoint[i].bytes = bytes;
		if (err == -ENODATA) /* its recorder ended before writing it */
			err = 0;
		if (err)
			error__set(error, err, "%s", why.text);
	}
	return err;
}

void blackbox_image__free_checkpoints(struct blackbox_image *image)
{
	for (unsigned int i = 0; i < 2; i++) {
		free((void *)image->checkpoint[i].data);
		image->checkpoint[i].data = NULL;
	}
}

void blackbox_image__report(const struct blackbox_facts *facts, const char *remedy)
{
	if (facts->headless)
		log__msg("no checkpoint is readable: the program and its functions are unknown");
	else if (!facts->snapshots)
		log__msg("no checkpoint contains goroutines: those without an event are missing");
	else if (facts->stale)
		log__msg("the last checkpoint is %.3f s older than the trace: goroutines "
			 "without an event are included only if they were waiting at the "
			 "checkpoint; a larger %s prevents this",
			 (double)(facts->t0 - facts->snapshots) / 1e9, remedy);
	if (facts->lost || facts->stacks_lost)
		log__msg(
			"%llu records of the trace were lost, and %llu stacks since the buffer was "
			"created",
			(unsigned long long)facts->lost, (unsigned long long)facts->stacks_lost);
	if (facts->broken || facts->stacks_gone)
		log__msg("%u incomplete sub-buffers were skipped, %llu stacks had been overwritten",
			 facts->broken, (unsigned long long)facts->stacks_gone);
}

/* ---- snapshots ---- */

/*
 * The checkpoints are read first: later ones would be of a time after the window. The copy is freed
 * when *ret exists, which has the same records.
 */
static int read_running(struct kmod *kmod, const struct symbolizer *symbolizer, uint64_t window_ns,
			struct rawfile **ret, struct blackbox_facts *facts, struct error *error)
{
	struct blackbox_image image = {};
	struct blackbox_copy copy = {};
	int err = blackbox_image__read_checkpoints(kmod, &image, error);
	uint64_t end = clock__now();

	if (!err) {
		usleep(SETTLE_US);
		err = blackbox_copy__take(&copy, kmod__memory(kmod), kmod__bytes(kmod), end);
		image.memory = copy.memory;
		image.bytes = copy.bytes;
		image.from = end > window_ns + LEAD_NS ? end - window_ns - LEAD_NS : 0;
	}
	if (!err)
		err = blackbox__read(&image, symbolizer, ret, facts, error);
	blackbox_copy__free(&copy);
	blackbox_image__free_checkpoints(&image);
	return err;
}

int blackbox_image__write(struct rawfile *raw, const char *name, const struct sink_opts *sink,
			  const struct flight_cause *cause, struct error *error)
{
	struct replay *r;
	size_t size;
	const void *data = rawfile__bytes(raw, &size);
	int err = replay__open_memory(&r, data, size, name, error);

	if (err)
		return err;
	err = replay__write_trace(sink, r, name, cause, error);
	replay__destroy(r);
	return err;
}

bool blackbox_image__save(struct kmod *kmod, const struct symbolizer *symbolizer,
			  const struct sink_opts *sink, const struct flight_cause *cause)
{
	struct blackbox_facts facts;
	struct rawfile *raw = NULL;
	struct error error = {};
	int err = read_running(kmod, symbolizer, sink->flight.window_ns, &raw, &facts, &error);

	if (!err)
		err = blackbox_image__write(raw, "the buffer", sink, cause, &error);
	rawfile__destroy(raw);
	if (err) {
		log__msg("cannot write a snapshot of %s: %s", cause->text,
			 error.text[0] ? error.text : strerror(-err));
		return false;
	}
	if (cause->time < facts.t0)
		log__msg("the snapshot begins %.3f s after its cause, whose events were "
			 "overwritten: use a larger --max-size or a shorter --tail",
			 (double)(facts.t0 - cause->time) / 1e9);
	blackbox_image__report(&facts, "--max-size");
	return true;
}
