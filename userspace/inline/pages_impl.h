/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of pages.h: which pages are replaced, and by what. */
#ifndef INLINE_PAGES_IMPL_H
#define INLINE_PAGES_IMPL_H

#include "inline/pages.h"

#define PAGE	  4096ull
#define SPANS_MAX 64
#define SPAN_MAX  4 /* pages */

/* Pages that are replaced at once: more than one if an instruction crosses into the next. */
struct span {
	uint64_t addr;
	unsigned int pages;
	uint64_t copy; /* its address in the process; 0: none, or it has replaced the pages */
};

struct swap {
	struct injection *inj;
	const struct pages_target *target;
	const struct page_patch *patch;
	size_t n;
	struct span span[SPANS_MAX];
	size_t spans;
	long fd; /* of the executable, in the process */
	/* contents of one span: in use, its copy, and in the file */
	unsigned char live[SPAN_MAX * PAGE], copy[SPAN_MAX * PAGE], file[SPAN_MAX * PAGE];
};

/* ---- pages_compare.c ---- */

/* Whether all spans and their copies map the executable alike. 0, -ESRCH, or -ENOTSUP. */
int swap__check_mappings(const struct swap *s, struct error *error);
/* Compares the contents as pages__swap() describes. */
int swap__check_contents(struct swap *s, bool patched, struct error *error);
/* Applies the patches of a span to its contents. */
void swap__patch(const struct swap *s, const struct span *span, unsigned char *bytes);

#endif
