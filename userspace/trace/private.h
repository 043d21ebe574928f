/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private data: what gotrace-bpf tells gotrace inside a trace and Go's tools pass over.
 *
 * It travels as strings that no event refers to, the one carrier that every reader accepts and
 * ignores, in the string table of the generation that it is about. This comment is the format.
 *
 * A private string (at most 1024 bytes) is a part of a record:
 *
 *	 0                       15     kind    part    more        to the end
 *	+------------------------+-------+-------+-------+---------------------+
 *	| 00 "gotrace-bpf/1 "    | LEB   | LEB   | 0 / 1 | the record's bytes  |
 *	+------------------------+-------+-------+-------+---------------------+
 *
 * LEB is an unsigned LEB128 number. `part` counts from 0, and `more` is 1 if another part follows;
 * a record too long for one string is cut at any byte into parts. The parts of a record have
 * consecutive string ids, and records have the order of their ids. A reader skips kinds it does
 * not know and bytes after those it knows; the digit after the slash changes only when that is
 * not enough. Times are CLOCK_MONOTONIC in ns, whatever a tick of the file is.
 *
 *	kind			the record's bytes
 *	1 meta			{ name, value }*, each a LEB length and as many bytes of UTF-8
 *				(arguments of a command line: separated by a 0 byte)
 *	2 losses		{ kind, count, from, to - from }*, LEBs: `count` events or records of
 *				`kind` are missing between two times. kind: enum gt_kind of the record
 *				(include/gotrace/record.h), 0: not known
 *	3 ticks			LEBs: ns in a tick, start of the generation, CLOCK_REALTIME then in ns
 */
#ifndef TRACE_PRIVATE_H
#define TRACE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

struct writer;

#define PRIVATE_PREFIX	   "\0gotrace-bpf/1 "
#define PRIVATE_PREFIX_LEN (sizeof(PRIVATE_PREFIX) - 1)

enum private_kind { PRIVATE_META = 1, PRIVATE_LOSSES = 2, PRIVATE_TICKS = 3 };

struct private_loss {
	uint64_t kind, count;
	uint64_t from, to;
};

/* Any may be NULL: left out. The names in the file are the members'. */
struct private_meta {
	const char *tool;    /* "gotrace-bpf 0.1" */
	const char *command; /* of the target, as /proc/PID/cmdline */
	size_t command_len;
	const char *build_id;	/* of the target's executable, in hex */
	const char *clock;	/* "CLOCK_MONOTONIC" */
	const char *go_version; /* of the target: "go1.26.8" */
};

/* Each adds one record to the open generation; 0, -ENOMEM or -EINVAL (none is open). */
int private__meta(struct writer *w, const struct private_meta *meta);
int private__losses(struct writer *w, const struct private_loss *losses, size_t n);
int private__ticks(struct writer *w, unsigned int tick_ns, uint64_t start_ns, uint64_t wall_ns);

/* One record of any kind, already encoded; split as need be. */
int private__record(struct writer *w, enum private_kind kind, const void *data, size_t len);

#endif
