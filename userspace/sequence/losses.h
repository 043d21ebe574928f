/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records that are missing. Times are stream times, ns.
 *
 * Lost records: how many of which kind, and in which time range. Upstream: merge.c (gaps) and
 * sequencer__lost() (counters). Downstream: writer/private_write.c.
 *
 * Event sets that are not recorded for a while, to save the target their cost (--max-overhead): a
 * GT_RECORDED record states which sets are recorded from its time on. What is missing until then
 * becomes a loss in each generation, with a count of 0 because it was not counted: of an unknown
 * kind if no probe was attached, of kernel events if only these were missing. Readers then treat
 * states across it as unknown. Afterwards the model is corrected as after any loss (resync.c).
 * Upstream: capture/recorder_budget.c, by the sink.
 *
 * Plugins without probes: from GT_PLUGIN_MAPPED to GT_PLUGINS_PROBED any goroutine may execute code that
 * no probe observes. This is missing as in a pause, and GT_PLUGIN records name the plugins.
 */
#ifndef SEQUENCE_LOSSES_H
#define SEQUENCE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/private.h"
#include "gotrace/record.h"

struct sequencer;

#define LOSSES_GAPS 256 /* that are not written yet */

/* Losses that are not in the trace yet, unless a member's comment states otherwise. */
struct losses {
	uint64_t counted;  /* by the probes or the merge; the kind of each is known */
	uint64_t located;  /* by missing ring sequence numbers */
	uint64_t from, to; /* time range of the located ones */
	struct private_gap gaps[LOSSES_GAPS]; /* the time ranges, one by one */
	size_t ngaps, written;		      /* written: to the open generation */
	bool forces;			      /* records are being forced; see losses__late() */
	uint64_t since;			/* watermark at which the first was detected; 0: none */
	uint64_t counted_from;		/* no counted loss is earlier */
	uint64_t counted_to;		/* nor later, if not `open` */
	bool open;			/* the next watermark is the end of the counted ones */
	uint64_t ahead;			/* counted and reported, but not located so far */
	uint64_t by_kind[GT_KIND_END];	/* written to the trace so far */
	uint64_t overflow[GT_KIND_END]; /* total that did not fit into the merge */
	uint64_t seen;			/* sequencer__losses() */
	uint64_t wrong;			/* sequencer__go_losses() */
	unsigned int unexplained;	/* watermarks since a gap without a matching counter */
	unsigned int tries;		/* snapshot pairs since the latest loss */
	bool watching;			/* another pair may follow: strays are recorded */
	uint64_t last;			/* watermark at which the latest loss was detected */
};

void losses__located(struct sequencer *s, uint64_t count, uint64_t from, uint64_t to);
/*
 * An event of the goroutine is written at `to` in place of `from`, the time of its record, because of a
 * loss: the state of the goroutine in between is wrong in the trace.
 */
void losses__late(struct sequencer *s, uint64_t goroutine, uint64_t from, uint64_t to);
/*
 * `count`: the total of this kind. `time`: that of the lost record; 0: it was read from the probes'
 * counters, before the drain begins that leads to the next watermark.
 */
void losses__counted(struct sequencer *s, unsigned int kind, uint64_t count, uint64_t time);
/* At a watermark: writes the known losses to the open generation; all of them if `final`. */
void losses__report(struct sequencer *s, uint64_t time, bool final);
/* Writes the gaps that were located so far to the open generation, which ends at `time`. */
void losses__end_generation(struct sequencer *s, uint64_t time);

struct shedding {
	struct gt_recorded latest; /* whose time is `time`; 0: nothing was ever shed */
	uint64_t time;
	/* No probe is attached, and from here on the trace does not contain that yet. 0: they are. */
	uint64_t paused_from;
	uint64_t kernel_from; /* the same for kernel events; 0: they are recorded, or never were */
	uint64_t mapped; /* when the latest plugin was mapped that has no probes yet; 0: all have */
	struct noted_plugin {
		struct gt_plugin state;
		char *text; /* of the record; allocated */
	} *plugins;
	size_t nplugins, plugins_cap;
};

void shedding__apply(struct sequencer *s, const struct gt_record *rec);
/* Whether the record is of a set that is not recorded: probes are not detached all at once. */
bool shedding__hides(const struct sequencer *s, const struct gt_record *rec);
/* Writes what is missing in the open generation up to `time`, its end. */
void shedding__end_generation(struct sequencer *s, uint64_t time);
/* Applies a GT_PLUGIN_MAPPED, GT_PLUGINS_PROBED or GT_PLUGIN record. */
void shedding__plugin(struct sequencer *s, const struct gt_record *rec);
void shedding__deinit(struct sequencer *s);
/* Writes to the first generation of a file what is recorded from its begin on. */
void shedding__begin_file(struct sequencer *s, uint64_t time);

#endif
