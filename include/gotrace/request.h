/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests, which `record --requests` finds by calls of known functions of a library: at which
 * functions they begin and end, and what is read there.
 *
 * Upstream: userspace/target/probe/presets.c, which fills the table for the program's releases.
 * Downstream: bpf/request.bpf.c, which executes it; userspace/sequence/state_request.c.
 */
#ifndef GOTRACE_REQUEST_H
#define GOTRACE_REQUEST_H

#include "record.h"

/* Presets: kinds of requests. The numbers are part of the format of raw files. */
enum gt_preset {
	GT_PRESET_HTTP = 0, /* net/http servers; texts: method, path; pattern; number: status */
	GT_PRESET_SQL = 1,  /* database/sql; text: statement; number: not 0 is an error */
	/* net/http clients; texts: method, host; number: status, none is an error */
	GT_PRESET_HTTP_CLIENT = 2,
	GT_PRESET_DNS = 3,	   /* net.Resolver; text: name; number: not 0 is an error */
	GT_PRESET_GRPC_CLIENT = 4, /* grpc-go clients; text: method; number: not 0 is an error */
	/* grpc-go servers; text: method; number: grpc status */
	GT_PRESET_GRPC = 5,
	GT_PRESETS
};

/* What the call of a function shows. Only one request of a preset is open on a goroutine. */
enum gt_request_step {
	/* the outermost call begins it; the texts are two parts of its name; http: number: not 0 is TLS */
	GT_REQUEST_BEGINS = 0,
	/* the first text, unless it is empty, is a better name; the last such step counts */
	GT_REQUEST_NAMED = 1,
	/* the first text is its name, if no NAMED step had one; the number is its result */
	GT_REQUEST_ENDS = 2,
	/* the function ends that called the one of BEGINS: the request has ended before */
	GT_REQUEST_LEFT = 3,
	/* the handler takes over the connection: the request has no result */
	GT_REQUEST_TAKEN = 4,
	/* the function of BEGINS returns; the number as for ENDS */
	GT_REQUEST_RETURNS = 5,
	/* the number is its result, and it goes on; the first such step counts */
	GT_REQUEST_RESULT = 6,
	/* a function returns its name: the first text, as for NAMED */
	GT_REQUEST_FOUND = 7,
	GT_REQUEST_STEPS
};

/* The probes of these steps are where the function returns, of the others where it begins. */
#define GT_REQUEST_AT_EXITS(step) ((step) == GT_REQUEST_RETURNS || (step) == GT_REQUEST_FOUND)

#define GT_REQUEST_OFFSETS	  6
#define GT_REQUEST_SITES	  64	      /* of all presets */
#define GT_REQUEST_NO_NUMBER	  0xffffffffu /* nothing was read */

/*
 * A value that is read: the offsets lead from the pointer in a register to it, each but the last to
 * the next pointer. A text is the header of a Go string.
 */
struct gt_request_read {
	gt_u8 reg;     /* as numbered in machine code, plus 1; 0: nothing is read */
	gt_u8 len_reg; /* the same: a text whose address and length are in registers; 0: in memory */
	gt_u8 n;       /* offsets */
	gt_u8 size;    /* of a number: 1, 4 or 8 bytes; 0: the register has it */
	gt_u16 offset[GT_REQUEST_OFFSETS];
};

/* One probed function. Its index is the site's cookie. */
struct gt_request_site {
	gt_u8 preset;	 /* enum gt_preset */
	gt_u8 step;	 /* enum gt_request_step */
	gt_u8 inherited; /* 1: goroutines that are created in the request belong to it */
	gt_u8 pad[5];
	struct gt_request_read text[2], number;
};

#endif
