// SPDX-License-Identifier: GPL-2.0
/*
 * Where the members of the runtime's structs stand in each Go release: MADE by "make offsets", not
 * by hand, from the DWARF of a program that was built with each toolchain.
 *
 * The second source of target/layout.c, behind the program's own DWARF, and what its machine code
 * is held against. A release between two ranges is not in here: nobody looked at it.
 */
#include "target/offsets_table.h"

#define NO OFFSET_ABSENT

_Static_assert(OFF_COUNT == 29, "the list OFFSETS was changed: run \"make offsets\"");

static const struct offsets_row rows[] = {
	{ 19, 2, 13, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 312,
		[OFF_G_PARENT_GOID] = NO, [OFF_G_COROARG] = NO, [OFF_G_COROEXIT] = NO,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 336, [OFF_M_BLOCK_REASON] = 648, [OFF_M_SKIP] = 656,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 56, [OFF_P_GC_MODE] = 4656,
		[OFF_CORO_GP] = NO,
	} },
	{ 20, 0, 14, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 312,
		[OFF_G_PARENT_GOID] = NO, [OFF_G_COROARG] = NO, [OFF_G_COROEXIT] = NO,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 336, [OFF_M_BLOCK_REASON] = 648, [OFF_M_SKIP] = 656,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 56, [OFF_P_GC_MODE] = 4648,
		[OFF_CORO_GP] = NO,
	} },
	{ 21, 0, 13, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 296,
		[OFF_G_PARENT_GOID] = 272, [OFF_G_COROARG] = NO, [OFF_G_COROEXIT] = NO,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 336, [OFF_M_BLOCK_REASON] = 648, [OFF_M_SKIP] = 656,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 56, [OFF_P_GC_MODE] = 4656,
		[OFF_CORO_GP] = NO,
	} },
	{ 22, 0, 12, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 296,
		[OFF_G_PARENT_GOID] = 272, [OFF_G_COROARG] = NO, [OFF_G_COROEXIT] = NO,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 328, [OFF_M_BLOCK_REASON] = 936, [OFF_M_SKIP] = 944,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 56, [OFF_P_GC_MODE] = 4688,
		[OFF_CORO_GP] = NO,
	} },
	{ 23, 0, 10, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 160,
		[OFF_G_ATOMICSTATUS] = 152, [OFF_G_WAITREASON] = 184, [OFF_G_STARTPC] = 304,
		[OFF_G_PARENT_GOID] = 280, [OFF_G_COROARG] = 384, [OFF_G_COROEXIT] = 195,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 328, [OFF_M_BLOCK_REASON] = 736, [OFF_M_SKIP] = 728,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4664,
		[OFF_CORO_GP] = 0,
	} },
	{ 23, 12, 12, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 160,
		[OFF_G_ATOMICSTATUS] = 152, [OFF_G_WAITREASON] = 184, [OFF_G_STARTPC] = 304,
		[OFF_G_PARENT_GOID] = 280, [OFF_G_COROARG] = 384, [OFF_G_COROEXIT] = 195,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 352, [OFF_M_BLOCK_REASON] = 760, [OFF_M_SKIP] = 752,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4664,
		[OFF_CORO_GP] = 0,
	} },
	{ 24, 0, 5, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 160,
		[OFF_G_ATOMICSTATUS] = 152, [OFF_G_WAITREASON] = 184, [OFF_G_STARTPC] = 304,
		[OFF_G_PARENT_GOID] = 280, [OFF_G_COROARG] = 384, [OFF_G_COROEXIT] = 195,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 328, [OFF_M_BLOCK_REASON] = 736, [OFF_M_SKIP] = 728,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4664,
		[OFF_CORO_GP] = 0,
	} },
	{ 24, 6, 13, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 160,
		[OFF_G_ATOMICSTATUS] = 152, [OFF_G_WAITREASON] = 184, [OFF_G_STARTPC] = 304,
		[OFF_G_PARENT_GOID] = 280, [OFF_G_COROARG] = 384, [OFF_G_COROEXIT] = 195,
		[OFF_G_SYNC_SAFE_POINT] = NO, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 48, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 72, [OFF_M_CURG] = 192, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 352, [OFF_M_BLOCK_REASON] = 760, [OFF_M_SKIP] = 752,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4664,
		[OFF_CORO_GP] = 0,
	} },
	{ 25, 0, 14, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 296,
		[OFF_G_PARENT_GOID] = 272, [OFF_G_COROARG] = 376, [OFF_G_COROEXIT] = 187,
		[OFF_G_SYNC_SAFE_POINT] = 217, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 40, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 64, [OFF_M_CURG] = 184, [OFF_M_P] = 200, [OFF_M_OLDP] = 216,
		[OFF_M_ALLLINK] = 344, [OFF_M_BLOCK_REASON] = 752, [OFF_M_SKIP] = 744,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4664,
		[OFF_CORO_GP] = 0,
	} },
	{ 26, 0, 11, {
		[OFF_G_STACK] = 0, [OFF_G_M] = 48, [OFF_G_SCHED] = 56, [OFF_G_GOID] = 152,
		[OFF_G_ATOMICSTATUS] = 144, [OFF_G_WAITREASON] = 176, [OFF_G_STARTPC] = 304,
		[OFF_G_PARENT_GOID] = 280, [OFF_G_COROARG] = 384, [OFF_G_COROEXIT] = 187,
		[OFF_G_SYNC_SAFE_POINT] = 219, [OFF_GOBUF_SP] = 0, [OFF_GOBUF_PC] = 8,
		[OFF_GOBUF_BP] = 40, [OFF_STACK_LO] = 0, [OFF_STACK_HI] = 8, [OFF_M_G0] = 0,
		[OFF_M_PROCID] = 64, [OFF_M_CURG] = 184, [OFF_M_P] = 208, [OFF_M_OLDP] = 224,
		[OFF_M_ALLLINK] = 352, [OFF_M_BLOCK_REASON] = 784, [OFF_M_SKIP] = 776,
		[OFF_P_ID] = 0, [OFF_P_STATUS] = 4, [OFF_P_M] = 48, [OFF_P_GC_MODE] = 4672,
		[OFF_CORO_GP] = 0,
	} },
};

const struct offsets_row *offsets_table__row(size_t n)
{
	return n < sizeof(rows) / sizeof(rows[0]) ? &rows[n] : NULL;
}
