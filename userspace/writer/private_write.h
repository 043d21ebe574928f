/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes private data records (format/private.h) into the open generation of a writer.
 *
 * Upstream: sequence/ and rewrite/. Downstream: writer__private() of writer/writer.h.
 */
#ifndef WRITER_PRIVATE_WRITE_H
#define WRITER_PRIVATE_WRITE_H

#include "format/kernel.h"
#include "format/private.h"

struct writer;

/* Each adds one record. Returns 0, -ENOMEM, or -EINVAL if no generation is open. */
int private__meta(struct writer *w, const struct private_meta *meta);
int private__losses(struct writer *w, const struct private_loss *losses, size_t n);
int private__gaps(struct writer *w, const struct private_gap *gaps, size_t n);
int private__correction(struct writer *w, const struct private_correction *correction);
int private__short(struct writer *w, const struct private_short *sum);
/* Of PRIVATE_SAMPLED or PRIVATE_CLOCK. */
int private__number(struct writer *w, enum private_kind kind, uint64_t number);
int private__ticks(struct writer *w, unsigned int tick_ns, uint64_t start_ns, uint64_t wall_ns);
/* PRIVATE_CAUSE: the time of the cause (CLOCK_MONOTONIC, ns); the text is cut at
 * PRIVATE_CAUSE_MAX bytes. */
int private__cause(struct writer *w, uint64_t time, const char *text);
int private__host_clock(struct writer *w, const struct private_host_clock *clock);
int private__cpu_samples(struct writer *w, const struct private_cpu_samples *samples);
int private__recorded(struct writer *w, const struct private_recorded *recorded);
/* Its text ends with a 0, and is cut at PRIVATE_PLUGIN_MAX. */
int private__plugin(struct writer *w, const struct private_plugin *plugin);
int private__table(struct writer *w); /* the event table, format/describe.c */

/* Adds an encoded record of any kind, split into strings. */
int private__record(struct writer *w, enum private_kind kind, const void *data, size_t len);

/* The kernel events collected by `k`. */
int private__kernel(struct writer *w, struct kernel_writer *k);

#endif
