// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as flight recorder memory and its two checkpoints: the result must be a valid
 * trace, or an error with a reason.
 *
 * Input: u32 and u32, the sizes of the checkpoints; the checkpoints; the memory.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/blackbox.h"
#include "capture/sink.h"
#include "target/layout/layout.h"
#include "read.h"

static const char *path(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "/dev/shm/fuzz_blackbox.%d", getpid());
	return text;
}

static void must_be_valid(void)
{
	static uint8_t data[8 << 20];
	FILE *file = fopen(path(), "r");
	struct error err = {};
	struct trace_event ev;
	struct reader *r;
	size_t size;
	int code;

	if (!file)
		abort();
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	unlink(path());
	if (size == sizeof(data))
		return;
	if (reader__open(&r, open_plain(data, size), &(struct reader_opts){}, &err))
		abort();
	while ((code = reader__next(r, &ev, &err)) > 0)
		look_at_event(&ev);
	if (code) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	reader__destroy(r);
}

static void write_trace(struct rawfile *raw)
{
	const struct sink_opts opts = { .path = path(), .version = 25, .tick_ns = 1 };
	struct private_meta meta = {
		.tool = "fuzz", .command = "", .clock = "CLOCK_MONOTONIC", .go_version = "go1.25"
	};
	struct symbolizer symbolizer;
	struct go_version version;
	struct layout layout = {};
	struct error err = {};
	struct replay *r;
	struct sink *sink;
	const void *data;
	size_t size;

	data = rawfile__bytes(raw, &size);
	if (replay__open_memory(&r, data, size, "it", &err))
		abort();
	if (!go_version__parse("go1.25", &version) ||
	    layout__for_version(&version, &layout, &err) || sink__open(&sink, &opts, &err))
		abort();
	replay__symbolizer(r, &symbolizer);
	if (sink__create_sequencer(sink, &layout, &symbolizer, &meta) ||
	    sink__commit(sink, replay__run(r, sink__sequencer(sink)), &err))
		abort();
	sink__destroy(sink);
	replay__destroy(r);
	must_be_valid();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	struct blackbox_image image = {};
	struct blackbox_facts facts;
	struct error err = {};
	struct rawfile *raw;
	int i;

	image.checkpoint[0].bytes = buf__u32(&b);
	image.checkpoint[1].bytes = buf__u32(&b);
	for (i = 0; i < 2; i++)
		image.checkpoint[i].data = buf__take(&b, image.checkpoint[i].bytes);
	image.bytes = buf__left(&b);
	image.memory = buf__take(&b, image.bytes);
	if (b.bad)
		return 0;
	if (!blackbox__read(&image, NULL, &raw, &facts, &err)) {
		write_trace(raw);
		rawfile__destroy(raw);
	} else if (!err.text[0]) {
		abort();
	}
	return 0;
}
