// SPDX-License-Identifier: GPL-2.0
/*
 * Infers offsets and addresses from a small synthetic runtime. Its functions contain Go's code and
 * similar code with another meaning: another width, another pointer, an index. These must be
 * ignored.
 */
#include "unit/test.h"
#include "target/infer/calibrate.h"

#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

asm(MADE_TEXT
    "f_inliner: nop; ret; f_nothing: ret; f_gettid: ret; "
    /* its gobuf is in BX; loads from elsewhere, and of other registers */
    "f_gogo: mov rsp, [rax + 160]; mov rbp, [rax + 168]; mov rdx, [rbx + 176]; "
    "mov rsp, [rbx + rcx + 184]; "
    "mov rsp, [rbx]; mov rbp, [rbx + 48]; mov rcx, [rbx + 8]; jmp rcx; "
    "f_mcall: mov [rbx + 8], rbp; lea rcx, [rsp + 16]; mov [r14 + 8], rcx; mov ecx, 1; "
    "mov [r14 + 16], ecx; "
    "lea rcx, [rsp + 8]; mov rdx, [rsp]; "
    "mov [r14 + 56], rcx; mov [r14 + 64], rdx; mov [r14 + 104], rbp; "
    "mov rbx, [r14 + 48]; mov rsi, [rbx + 16]; mov rsp, [rsi + 56]; ret; "
    "f_systemstack: mov rbx, [r14 + 48]; mov rdx, [rbx + 16]; mov rsp, [rdx + 56]; "
    "mov rbx, [r14 + 48]; mov rax, [rbx + 192]; mov rsp, [rax + 56]; ret; "
    "f_execute: mov rcx, [r14 + 48]; mov [rcx + 192], rax; mov [rcx + 200], eax; "
    "mov [rcx + 208], rbx; "
    "mov [rbx + 192], rax; mov [rcx + rbx * 8 + 200], rax; mov [rcx - 8], rax; "
    "mov [rax + 48], rcx; mov byte ptr [rax + 181], 0; "
    "mov rdx, [rbx + 24]; add rdx, 928; mov [rax + 16], rdx; mov rdx, [rax + 24]; "
    "sub rdx, 928; mov [rax + 16], rdx; "
    "mov rdx, [rax]; mov [rax + 24], rdx; add rdx, 928; mov [rbx + 24], rdx; "
    "mov [rax + 16], rdx; ret; "
    "f_newstack: mov rcx, [r14 + 48]; mov rcx, [rcx + 192]; mov byte ptr [rcx + 181], 1; ret; "
    "f_rt0: and rsp, -16; lea rdi, [rip + v_g0]; lea rbx, [rsp - 65432]; mov [rdi + 16], rbx; "
    "mov [rdi], rbx; "
    "mov [rdi + 24], rbx; mov [rdi + 8], rsp; mov [rax + 32], rsp; mov [rdi + 40], rax; "
    "lea rsi, [rip + v_goidgen]; mov [rsi + 48], rsp; mov [rsi + 16], rbx; ret; "
    "f_wirep: mov rcx, [r14 + 48]; mov [rcx + 208], rax; mov [rax + 56], rcx; "
    "mov dword ptr [rax + 4], 1; "
    "mov dword ptr [rax + 8], 2; mov dword ptr [rbx + 12], 1; ret; "
    "f_init: mov [rax + 24], ebx; mov dword ptr [rax + 4], 3; ret; "
    "f_pin: mov rcx, [r14 + 48]; mov rcx, [rcx + 208]; mov eax, [rcx + 24]; ret; "
    "f_cas: mov rsi, rax; lock cmpxchg [rax + 144], ecx; lock cmpxchg [rbx + 152], ecx; "
    "lock cmpxchg [rsi + 160], rcx; ret; "
    "f_park: mov rdx, [r14 + 48]; mov r8, [rdx + 192]; mov [r8 + 176], cl; mov [rdx + 300], dil; "
    "mov [rdx + 304], rsi; mov [rdx + 176], cl; mov [r8 + 300], dil; ret; "
    /* AX = fn, BX = the creator; the new goroutine is what a call returns */
    "f_newproc1: sub rsp, 64; mov [rsp + 16], rax; mov [rsp + 24], rbx; call f_nothing; "
    "mov rdx, rax; "
    "mov rcx, [rdx + 40]; mov [rdx + 56], rcx; mov rcx, [rsp + 24]; mov rcx, [rcx + 24]; "
    "sub rcx, 40; "
    "mov [rdx + 56], rcx; mov rcx, [rdx + 8]; sub rcx, 40; mov [rdx + 72], rcx; "
    "mov [rdx + 56], rcx; "
    "mov rsi, [rsp + 24]; mov r8, [rsi + 160]; mov [rdx + 288], r8; mov r8, [rsi + 152]; "
    "mov [rdx + 272], r8; "
    "mov rsi, [rsp + 16]; mov r8, [rsi]; mov [rdx + 64], r8; mov [rdx + 56], r8; "
    "mov [rdx + 104], r8; "
    "mov [rdx + 296], r8; mov r8, [rsi + 8]; mov [rdx + 312], r8; "
    "mov rsi, [r14 + 48]; mov rdi, [rsi + 208]; mov r8, [rdi + 400]; mov [rdx + 152], r8; inc r8; "
    "mov [rdi + 400], r8; mov r8, [rdi + 408]; mov [rdx + 160], r8; add r8, 2; "
    "mov [rdi + 408], r8; "
    "mov r8, [rdi + 416]; mov [rdx + 168], r8; inc r8; mov [rdi + 424], r8; ret; "
    "f_extra: mov ecx, 1; lea rdx, [rip + v_goidgen]; lock xadd [rdx], rcx; inc rcx; "
    "mov [rbx + 152], rcx; "
    "mov [rip + v_g0], rcx; mov ecx, 1; lock xadd [rbx + 8], rcx; inc rcx; "
    "mov [rbx + 160], rcx; ret; "
    "f_minit: mov rcx, [r14 + 48]; mov [rcx + 80], rax; call f_gettid; mov [rbx + 96], rax; "
    "mov rcx, [r14 + 48]; "
    "mov [rcx + 72], rax; mov [rcx + 88], eax; call f_nothing; mov rcx, [r14 + 48]; "
    "mov [rcx + 80], rax; ret; "
    "f_reenter: mov rcx, [r14 + 48]; mov rdx, [rcx + 208]; mov [rcx + 216], rdx; "
    "mov [rax + 224], rdx; "
    "mov rdx, [rcx + 200]; mov [rcx + 232], rdx; mov rdx, [rax + 208]; mov [rcx + 240], rdx; ret; "
    "f_worker: mov qword ptr [rbx + 4672], 1; mov qword ptr [rbx + 4672], 2; "
    "mov qword ptr [rbx + 4680], 3; ret; "
    "f_coroswitch: mov [r14 + 440], rax; mov [r14 + 448], rbx; mov [rbx + 456], rax; ret; "
    "f_coroexit: mov [r14 + 440], rax; mov byte ptr [r14 + 187], 1; ret; "
    "f_coroswitch_m: mov rsi, rax; mov rcx, [rsi + 440]; lock cmpxchg [rcx + 8], rdx; "
    "mov rcx, [rsi + 448]; "
    "lock cmpxchg [rcx + 16], rdx; mov qword ptr [rsi + 440], 0; mov byte ptr [rsi + 187], 0; ret; "
    /* the globals */
    "f_mcommoninit: mov rcx, [rip + v_allm]; mov [rax + 328], rcx; mov [rbx + 336], rcx; "
    "mov rcx, [rip + v_g0]; "
    "mov [rax + 344], rcx; lea rdx, [rip + v_allm]; mov rsi, rax; xchg [rdx], rsi; "
    "lea rdx, [rip + v_g0]; "
    "xchg [rdx], rbx; ret; "
    "f_allgadd: mov [rip + v_allgs], rcx; mov [rip + v_allgs + 8], rdx; "
    "mov [rip + v_allgs + 16], rsi; "
    "mov rcx, [rip + v_allgs]; mov rdx, [rip + v_allgptr]; cmp rdx, rcx; "
    "mov rdi, [rip + v_g0]; cmp rdi, rdx; "
    "xchg [rip + v_allgptr], rcx; mov rcx, [rip + v_allgs + 8]; xchg [rip + v_allglen], rcx; "
    "xchg [rip + v_g0], ecx; ret; "
    "f_procresize: mov ecx, [rip + v_allp + 8]; cmp eax, ecx; mov edx, [rip + v_g0 + 8]; "
    "cmp eax, edx; cmp ebx, ecx; "
    "mov [rip + v_allp], rdi; mov [rip + v_allp + 8], rdi; mov [rip + v_allp + 16], rdi; "
    "mov ecx, eax; xchg [rip + v_gomaxprocs], ecx; mov ecx, ebx; xchg [rip + v_g0], ecx; "
    "mov rcx, rax; xchg [rip + v_g0 + 8], rcx; ret; "
    "f_execute2: mov rdx, [rax + 32]; add rdx, 928; mov [rax + 16], rdx; ret; "
    "f_all_g1: mov rax, [rip + v_allgptr]; ret; f_all_g2: mov rax, [rip + v_allgptr]; "
    "mov rbx, [rip + v_allglen]; ret; f_all_g3: mov rax, [rip + v_allp]; ret; "
    "f_bad: .byte 6; f_end: ret; "
    ".balign 8, 0x90; v_g0: .skip 32; v_goidgen: .skip 8; v_allm: .skip 8; v_allgs: .skip 24; "
    "v_allgptr: .skip 8; "
    "v_allglen: .skip 8; v_allp: .skip 24; v_gomaxprocs: .skip 8; " MADE_TEXT_END);

extern const unsigned char made_text[], made_text_end[], f_inliner[], f_nothing[], f_gettid[],
	f_gogo[], f_mcall[], f_systemstack[], f_execute[], f_newstack[], f_rt0[], f_wirep[],
	f_init[], f_pin[], f_cas[], f_park[], f_newproc1[], f_extra[], f_minit[], f_reenter[],
	f_worker[], f_coroswitch[], f_coroexit[], f_coroswitch_m[], f_mcommoninit[], f_allgadd[],
	f_procresize[], f_execute2[], f_all_g1[], f_all_g2[], f_all_g3[], f_bad[], f_end[], v_g0[],
	v_allm[], v_allgs[], v_allgptr[], v_allglen[], v_allp[], v_gomaxprocs[];

static const struct made_func funcs[] = {
	{ .name = "runtime.inliner",
	  .code = f_inliner,
	  .tree = { { "x", 0, 0 } },
	  .inlined = { { 1, 0 } } },
	{ .name = "runtime.nothing", .code = f_nothing },
	{ .name = "runtime.gettid", .code = f_gettid },
	{ .name = "gogo", .code = f_gogo },
	{ .name = "runtime.mcall", .code = f_mcall },
	{ .name = "runtime.systemstack", .code = f_systemstack },
	{ .name = "runtime.execute", .code = f_execute },
	{ .name = "runtime.newstack", .code = f_newstack },
	{ .name = "runtime.rt0_go", .code = f_rt0 },
	{ .name = "runtime.wirep", .code = f_wirep },
	{ .name = "runtime.(*p).init", .code = f_init },
	{ .name = "sync.runtime_procPin", .code = f_pin },
	{ .name = "runtime.casgstatus", .code = f_cas },
	{ .name = "runtime.gopark", .code = f_park },
	{ .name = "runtime.newproc1", .code = f_newproc1 },
	{ .name = "runtime.oneNewExtraM", .code = f_extra },
	{ .name = "runtime.minit", .code = f_minit },
	{ .name = "runtime.reentersyscall", .code = f_reenter },
	{ .name = "runtime.(*gcControllerState).findRunnableGCWorker", .code = f_worker },
	{ .name = "runtime.coroswitch", .code = f_coroswitch },
	{ .name = "runtime.coroexit", .code = f_coroexit },
	{ .name = "runtime.coroswitch_m", .code = f_coroswitch_m },
	{ .name = "runtime.mcommoninit", .code = f_mcommoninit },
	{ .name = "runtime.allgadd", .code = f_allgadd },
	{ .name = "runtime.procresize", .code = f_procresize },
	{ .name = "runtime.stackAt32", .code = f_execute2 },
	{ .name = "runtime.one", .code = f_all_g1 },
	{ .name = "runtime.two", .code = f_all_g2 },
	{ .name = "runtime.three", .code = f_all_g3 },
	{ .name = "runtime.bad", .code = f_bad },
	{ .name = "runtime.end", .code = f_end },
	{ .name = "other.data", .code = v_g0 },
};

#define N (sizeof(funcs) / sizeof(funcs[0]))

/* The result expected from the code above, by member. */
static const uint32_t want[OFF_COUNT] = {
	[OFF_GOBUF_SP] = 0,
	[OFF_GOBUF_BP] = 48,
	[OFF_GOBUF_PC] = 8,
	[OFF_G_SCHED] = 56,
	[OFF_G_M] = 48,
	[OFF_M_G0] = 16,
	[OFF_M_CURG] = 192,
	[OFF_STACK_LO] = 0,
	[OFF_STACK_HI] = 8,
	[OFF_G_STACK] = 0,
	[OFF_G_GOID] = 152,
	[OFF_G_PARENT_GOID] = 272,
	[OFF_G_STARTPC] = 296,
	[OFF_G_ATOMICSTATUS] = 144,
	[OFF_G_WAITREASON] = 176,
	[OFF_G_COROARG] = 440,
	[OFF_G_COROEXIT] = 187,
	[OFF_CORO_GP] = 8,
	[OFF_G_SYNC_SAFE_POINT] = 181,
	[OFF_M_P] = 208,
	[OFF_M_OLDP] = 216,
	[OFF_M_PROCID] = 72,
	[OFF_M_BLOCK_REASON] = 300,
	[OFF_M_SKIP] = 304,
	[OFF_M_ALLLINK] = 328,
	[OFF_P_ID] = 24,
	[OFF_P_STATUS] = 4,
	[OFF_P_M] = 56,
	[OFF_P_GC_MODE] = 4672,
};

static struct made_func func[N];

static int calibrate(const char *release, struct offsets *ret)
{
	struct made_program program = { MADE_BYTES, func, N };
	struct error err = { "" };
	static struct go_made p;
	int r;

	go_made__open(&p, release, &program);
	r = calibrate__read(p.elf, p.pt, &p.version, ret, &err);
	assert_int_equal(!r, !err.text[0]);
	return r;
}

static void rename_func(const char *name, const char *to)
{
	for (size_t i = 0; i < N; i++) {
		if (!strcmp(func[i].name, name)) {
			func[i].name = to;
			return;
		}
	}
	fail_msg("no function %s", name);
}

static void begin(void)
{
	memcpy(func, funcs, sizeof(func));
}

/* At most `n` members are unknown. */
static void expect_members(const struct offsets *o, size_t n)
{
	size_t unknown = 0;

	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (o->at[i] != OFFSET_UNKNOWN && o->at[i] != want[i])
			fail_msg("member %zu: %u, not %u", i, o->at[i], want[i]);
		if (o->at[i] == OFFSET_UNKNOWN && unknown++ >= n)
			print_message("# member %zu is not known\n", i);
	}
	assert_int_equal(unknown, n);
}

TEST(all_of_it)
{
	struct offsets o;

	begin();
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	expect_members(&o, 0);
	assert_int_equal(o.global.allm, MADE_ADDR_OF(v_allm));
	assert_int_equal(o.global.allgs, MADE_ADDR_OF(v_allgs));
	assert_int_equal(o.global.allgptr, MADE_ADDR_OF(v_allgptr));
	assert_int_equal(o.global.allglen, MADE_ADDR_OF(v_allglen));
	assert_int_equal(o.global.allp, MADE_ADDR_OF(v_allp));
	assert_int_equal(o.global.gomaxprocs, MADE_ADDR_OF(v_gomaxprocs));
}

/* Without a function, or with invalid instructions in it, only its own members are unknown. */
TEST(without_one)
{
	static const struct {
		const char *name;
		size_t unknown;
	} of[] = {
		{ "runtime.casgstatus", 1 },
		{ "runtime.gopark", 3 },
		{ "runtime.minit", 1 },
		{ "runtime.rt0_go", 0 },
		{ "runtime.reentersyscall", 1 },
		{ "runtime.coroswitch", 0 },
		{ "runtime.coroswitch_m", 2 },
		{ "runtime.mcommoninit", 1 },
		{ "runtime.allgadd", 0 },
		{ "runtime.newstack", 1 },
		{ "runtime.(*gcControllerState).findRunnableGCWorker", 1 },
		{ "runtime.oneNewExtraM", 0 },
	};
	struct offsets o;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin();
		rename_func(of[i].name, "runtime.other");
		assert_int_equal(calibrate("go1.25.0", &o), 0);
		expect_members(&o, of[i].unknown);
		rename_func("runtime.bad", of[i].name);
		assert_int_equal(calibrate("go1.25.0", &o), 0);
		expect_members(&o, of[i].unknown);
	}
	assert_int_not_equal(o.global.allgs, 0);
	begin();
	rename_func("runtime.allgadd", "runtime.other");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_true(!o.global.allgs && !o.global.allgptr && !o.global.allglen);
	assert_true(o.global.allm && o.global.allp && o.global.gomaxprocs);
}

/* Functions that only read globals: two must agree, and a contradiction prevents a result. */
TEST(globals_that_are_read)
{
	struct offsets o;

	begin();
	rename_func("runtime.allgadd", "runtime.other");
	rename_func("runtime.one", "runtime.atomicAllG");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_true(!o.global.allgptr && !o.global.allglen);
	rename_func("runtime.two", "runtime.forEachGRace");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_int_equal(o.global.allgptr, MADE_ADDR_OF(v_allgptr));
	begin();
	rename_func("runtime.three", "runtime.atomicAllG");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_true(!o.global.allgptr && !o.global.allglen && o.global.allgs);
	begin(); /* not of these 4 bytes */
	rename_func("runtime.three", "runtime.GOMAXPROCS");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_int_equal(o.global.gomaxprocs, MADE_ADDR_OF(v_gomaxprocs));
}

/* The stack's bounds are used only as g's first member: otherwise two offsets are unknown. */
TEST(a_stack_elsewhere)
{
	struct offsets o;

	begin();
	rename_func("runtime.execute", "runtime.other");
	rename_func("runtime.stackAt32", "runtime.execute");
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	assert_int_equal(o.at[OFF_STACK_LO], OFFSET_UNKNOWN);
	assert_int_equal(o.at[OFF_G_STACK], OFFSET_UNKNOWN);
	assert_int_equal(o.at[OFF_STACK_HI], OFFSET_UNKNOWN);
}

/* Members that a release does not have yet are absent, whatever the code contains. */
TEST(releases)
{
	static const struct {
		const char *release;
		uint32_t parent, coroarg, safe_point;
	} of[] = {
		{ "go1.20.0", OFFSET_ABSENT, OFFSET_ABSENT, OFFSET_ABSENT },
		{ "go1.21.0", 272, OFFSET_ABSENT, OFFSET_ABSENT },
		{ "go1.23.0", 272, 440, OFFSET_ABSENT },
		{ "go1.25.0", 272, 440, 181 },
	};
	struct offsets o;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin();
		assert_int_equal(calibrate(of[i].release, &o), 0);
		assert_int_equal(o.at[OFF_G_PARENT_GOID], of[i].parent);
		assert_int_equal(o.at[OFF_G_COROARG], of[i].coroarg);
		assert_int_equal(o.at[OFF_G_SYNC_SAFE_POINT], of[i].safe_point);
		assert_int_equal(o.at[OFF_G_GOID], 152);
	}
}

TEST(nothing_to_read)
{
	static char other[N][24];
	struct offsets o;

	begin();
	for (size_t i = 0; i < N; i++) {
		snprintf(other[i], sizeof(other[i]), "runtime.other%zu", i);
		func[i].name = other[i];
	}
	assert_int_equal(calibrate("go1.25.0", &o), -EBADMSG);
	func[N - 3].name = "runtime.execute"; /* no instruction */
	assert_int_equal(calibrate("go1.25.0", &o), -EBADMSG);
	func[N - 2].name = "runtime.wirep"; /* one that does nothing */
	assert_int_equal(calibrate("go1.25.0", &o), 0);
	for (size_t i = 0; i < OFF_COUNT; i++)
		assert_int_equal(o.at[i], OFFSET_UNKNOWN);
}
