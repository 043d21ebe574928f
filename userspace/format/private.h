/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private data: data of gotrace-bpf for gotrace inside a trace, which Go's tools ignore.
 *
 * It is stored in strings that no event refers to, in the string table of the generation that it
 * describes: every reader accepts and ignores those. writer/private_write.c writes it,
 * format/private_read.c reads it. gotrace-private(5) defines the format.
 */
#ifndef FORMAT_PRIVATE_H
#define FORMAT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/outbuf.h"

#define PRIVATE_PREFIX	   "\0gotrace-bpf/1 "
#define PRIVATE_PREFIX_LEN (sizeof(PRIVATE_PREFIX) - 1)

enum private_kind {
	PRIVATE_META = 1,
	PRIVATE_LOSSES = 2,
	PRIVATE_TICKS = 3,
	PRIVATE_TABLE = 4,
	PRIVATE_CORRECTION = 5,
	PRIVATE_THREADS = 6,	 /* format/kernel.h: state of the threads at the start */
	PRIVATE_KERNEL = 7,	 /* kernel events of the threads */
	PRIVATE_MACHINE = 8,	 /* gotrace align: other threads on their CPUs */
	PRIVATE_ALIGNMENT = 9,	 /* gotrace align: the aligned file and the fit of its clock */
	PRIVATE_SAMPLED = 10,	 /* since when sizes of the heap are sampled: CLOCK_MONOTONIC, ns */
	PRIVATE_CLOCK = 11,	 /* the largest error of the times of inline probes' records, ns */
	PRIVATE_CAUSE = 12,	 /* why a flight recorder wrote the file: time, text */
	PRIVATE_SHORT = 13,	 /* system calls that were left out because they were short */
	PRIVATE_RECORDED = 14,	 /* event sets that are recorded from then on (--max-overhead) */
	PRIVATE_HOST_CLOCK = 15, /* how exact the wall-clock times of the generation are */
	PRIVATE_CPU_SAMPLES = 16, /* the rate of CPU samples, and for how long it was throttled */
	PRIVATE_SNAPSHOT = 17,	  /* headers before 1.25: what a ClockSnapshot contains */
	PRIVATE_STARTS = 18,	  /* header 1.22: the stacks that a GoStatusStack contains */
	PRIVATE_PARKED = 19,   /* why goroutines wait when the file begins: format/parked_read.h */
	PRIVATE_PLUGIN = 20,   /* a plugin of the program, and since when it is recorded */
	PRIVATE_WAITS = 21,    /* what has the CPUs that threads of the target wait for */
	PRIVATE_REQUESTS = 22, /* when requests arrived, and when their answers were written */
	PRIVATE_GAPS = 23,     /* when records may be missing */
	PRIVATE_KIND_END
};

#define PRIVATE_CAUSE_MAX 256 /* bytes of its text */

struct private_loss {
	uint64_t kind, count; /* enum gt_kind in gotrace/record.h; 0: unknown */
	uint64_t from, to;    /* CLOCK_MONOTONIC, ns */
};

/* What a gap concerns; GAP_GOROUTINES plus an id: one goroutine. */
enum { GAP_ALL, GAP_KERNEL, GAP_GOROUTINES };

/*
 * Records are missing between two times: of any goroutine, or only kernel events. Or the event of a
 * goroutine at `to` was held back since `from`, because records before it were missing.
 */
struct private_gap {
	uint64_t from, to; /* CLOCK_MONOTONIC, ns */
	uint64_t of;
};

/* Corrections that two snapshots after a loss have caused. */
struct private_correction {
	uint64_t from, to;   /* CLOCK_MONOTONIC, ns: first snapshot, inserted events */
	uint64_t goroutines; /* corrected */
	uint64_t threads;    /* whose P was corrected */
	uint64_t events;     /* inserted */
};

/* System calls that were left out of a generation because they took less than `min_ns`. */
struct private_short {
	uint64_t min_ns;
	uint64_t calls, calls_ns;   /* of goroutines, from begin to end */
	uint64_t kernel, kernel_ns; /* in the kernel, with their names */
};

/* How the CPU samples of a generation were taken. */
struct private_cpu_samples {
	uint64_t period_ns;    /* CPU time that one sample stands for */
	uint64_t throttles;    /* how often the kernel stopped taking samples on a CPU */
	uint64_t throttled_ns; /* for how long in total, as a sum over the CPUs */
};

/* State of the host's clock, as chrony, ntpd or systemd-timesyncd has set it in the kernel. */
struct private_host_clock {
	uint64_t time;	    /* of the reading: CLOCK_MONOTONIC, ns */
	bool synchronized;  /* with a server of time or a local source */
	uint64_t max_error; /* bound of the difference from true time, ns */
	uint64_t error;	    /* estimate of it, ns */
	int64_t shift;	    /* how much later the clock is than the times of the file imply, ns */
};

#define PRIVATE_SETS_MAX 128 /* bytes of the names of event sets */

/* Event sets that are recorded from `time` on. Shares are millionths of a CPU. */
struct private_recorded {
	uint64_t time;		     /* CLOCK_MONOTONIC, ns */
	uint64_t cost;		     /* of the second before, for the target */
	uint64_t budget;	     /* at that time */
	char sets[PRIVATE_SETS_MAX]; /* "sched,syscall"; empty: no probe is attached */
};

#define PRIVATE_PLUGIN_MAX 1024 /* bytes of its text */

/* What the plugin executed from `from` to `to` is missing, or from `from` on if it is not recorded. */
struct private_plugin {
	uint64_t from, to; /* CLOCK_MONOTONIC, ns */
	bool recorded;
	const char *
		text; /* the name of its file and, if it is not recorded, a line break and the reason */
	size_t text_len; /* set by the reader: the text has no 0 at its end */
};

/* What a time of a request is; the values are part of the file format. */
enum private_request_what {
	REQUEST_ARRIVED = 0, /* the kernel reported that its first byte can be read */
	REQUEST_READY = 1,   /* its goroutine, which waited for the network, was made runnable */
	REQUEST_READ =
		2, /* its goroutine could begin to read it: it began, or had served another */
	REQUEST_ANSWERED =
		3, /* a write of its answer ended, after its handler; the last one counts */
	REQUEST_WHATS
};

/* A time of a request. Those at which it begins are in the generation in which its task begins. */
struct private_request {
	uint64_t task, g; /* g: the goroutine that serves it */
	uint64_t time;	  /* CLOCK_MONOTONIC, ns */
	uint8_t what;	  /* enum private_request_what */
};

/* Members that are NULL are left out. The member names are the names in the file. */
struct private_meta {
	const char *tool;    /* "gotrace-bpf 0.1" */
	const char *command; /* command line of the target, as in /proc/PID/cmdline */
	size_t command_len;
	const char *build_id;	/* of the target's executable, hexadecimal */
	const char *clock;	/* "CLOCK_MONOTONIC" */
	const char *go_version; /* of the target, such as "go1.26.8" */
};

/*
 * Splits an encoded record into strings and passes each to `put`, which returns 0 or a negative
 * errno. Stops at the first error and returns it.
 */
int private__parts(enum private_kind kind, const void *data, size_t len,
		   int (*put)(void *to, const void *part, size_t len), void *to);

/* Encodes an entry of PRIVATE_LOSSES. Returns 0, or a negative errno with the reason. */
int private__append_loss(struct outbuf *to, const struct private_loss *loss, struct error *error);
/* Appends an entry of PRIVATE_REQUESTS; `last` is the entry before it in the record, at first {}. */
int private__append_request(struct outbuf *to, struct private_request *last,
			    const struct private_request *request, struct error *error);

#endif
