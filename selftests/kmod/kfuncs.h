/* SPDX-License-Identifier: GPL-2.0 */
/* A request of kfuncs.c to kfuncs.bpf.c, and its result: one call of a function of the module. */
#ifndef KMOD_KFUNCS_TEST_H
#define KMOD_KFUNCS_TEST_H

#include "gotrace/module.h"

enum ask_call {
	ASK_HASH,
	ASK_PCS,
	ASK_ID,
	ASK_EMIT,
};

struct ask {
	unsigned int call; /* enum ask_call */
	unsigned int session;
	unsigned int depth;
	unsigned int size; /* bytes of `data` */
	unsigned long long tail;
	unsigned int tail_size;
	unsigned int hits; /* out: calls so far */
	unsigned long long answer;
	struct gt_unwind w;
	unsigned long long data[256]; /* the record, or the PCs */
};

#endif
