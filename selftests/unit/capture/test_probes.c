// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of one recording: which programs are loaded, how they are attached, what is done
 * without the kernel's own events, and how all is taken away.
 */
#include "unit/probes_fixture.h"

/* ---- tests ---- */

TEST(versions)
{
	static const char *const old[] = { "6.9.9", "5.20.1", "x", "" };
	static const char *const has[] = { "6.10.0", "6.11-rc1", "7.0.1", "10.0" };

	for (int i = 0; i < 4; i++) {
		t.release = old[i];
		assert_false(probes__kernel_has_multi());
		t.release = has[i];
		assert_true(probes__kernel_has_multi());
	}
}

TEST(by_multi)
{
	assert_int_equal(open_and_attach(), 0);
	assert_true(probes__multi(t.s) && !probes__kfuncs(t.s) && probes__has_kernel(t.s));
	assert_int_equal(loaded(), 3);
	assert_true(find("process_exec")->autoload && find("execute")->autoload &&
		    find("park")->autoload);
	assert_int_equal(find("park")->type, -1);
	assert_int_equal(t.links, 3); /* of exec; both sites of one program; not of set syscall */
	assert_ptr_equal(t.link[0].program, find("process_exec"));
	assert_int_equal(t.link[1].sites + t.link[2].sites, 3);
	assert_int_equal(fake.rodata.config.tgid, 42);
	assert_int_equal(fake.rodata.config.rings, 2);
	assert_int_equal(fake.rodata.config.stack_depth, 24);
	assert_int_equal(fake.rodata.config.g_goid, 152); /* the layout's */
	assert_int_equal(fake.rodata.config.inlined_sites,
			 1); /* a cookie where there usually is none */
	assert_int_equal(probes__rings(t.s), 2);
	assert_int_equal(probes__ring_fd(t.s, 1), 31);
	assert_int_equal(probes__ring_bytes(t.s), 2 << 20);
	assert_true(probes__memory(t.s) > (2 << 20) + 2 * sizeof(struct gt_counters));
	assert_int_equal(t.hz, 0);
	assert_int_equal(t.samplers, 0);
}

TEST(sites_of_a_link)
{
	t.opts.sets = SITE_SET(SCHED);
	t.sites.has[GT_PROBE_PARK] = false;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__has_kernel(t.s));
	assert_int_equal(t.links, 2);
	assert_int_equal(t.link[1].sites, 2);
	assert_int_equal(t.offset[0], 0x100);
	assert_int_equal(t.offset[1], 0x200);
	assert_int_equal(t.cookie[1], GT_COOKIE(GT_PROBE_EXECUTE, 3));
}

/* Parks and ends have no probes then. */
TEST(derived)
{
	t.opts.sets = SITE_SET(SCHED);
	t.opts.derives = true;
	t.opts.derived_ns = 1500;
	add_site(GT_PROBE_DESTROY, 0x500);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 2);
	assert_int_equal(t.link[1].sites, 2);
	assert_int_equal(fake.rodata.config.derives, 1);
	assert_int_equal(fake.rodata.config.derived_ns, 1500);
}

/* System calls have no probes if their tracepoints can be used, with or without set kernel. */
TEST(derived_calls)
{
	t.opts.sets = SITE_SET(SCHED) | SITE_SET(SYSCALL);
	t.opts.derives = true;
	add_site(GT_PROBE_SYSCALL_AT, 0x500);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 1);
	assert_int_equal(t.links, 2);
	assert_true(fake.rodata.config.syscall_at && probes__calls_only(t.s));
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets |= SITE_SET(KERNEL);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 2);
	assert_true(fake.rodata.config.syscall_at && probes__has_kernel(t.s));
	assert_false(probes__calls_only(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets &= ~SITE_SET(KERNEL);
	t.kernel_error = -EPERM;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 0);
	assert_int_equal(t.links, 3); /* syscall_enter */
	assert_true(!fake.rodata.config.syscall_at && !probes__calls_only(t.s));
}

TEST(too_many_sites)
{
	while (t.sites.n < 2 + 128)
		add_site(GT_PROBE_EXECUTE, 0x1000 + t.sites.n);
	assert_int_equal(open_and_attach(), 0); /* 128 */
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	add_site(GT_PROBE_EXECUTE, 0x5000);
	assert_int_equal(open_and_attach(), -E2BIG);
}

TEST(by_perf)
{
	t.opts.force_perf = true;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__multi(t.s));
	assert_int_equal(t.links, 4);
	assert_int_equal(t.offset[0], 0x300);
	assert_int_equal(t.cookie[0], GT_COOKIE(GT_PROBE_PARK, 3));
	assert_int_equal(find("park")->type, 0);
	assert_int_equal(find("process_exec")->type, -1);
	assert_int_equal(find("process_exec_session")->type, -1);
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	t.opts.force_perf = false;
	t.release = "6.9.0";
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 4);
}

TEST(cannot_attach)
{
	static const struct {
		unsigned int link;
		int error;
		const char *text;
	} cases[] = {
		{ 1, EPERM, "sched_process_exec: not permitted; run as root" },
		{ 2, ESRCH, "process 42 ended while probes were being attached" },
		{ 3, EACCES, "cannot attach a probe to f: not permitted" },
		{ 2, EINVAL, "cannot attach a probe to f: Invalid argument" },
	};

	for (int i = 0; i < 4; i++) {
		t.attach_fails = cases[i].link;
		t.attach_error = cases[i].error;
		assert_int_equal(open_and_attach(), -cases[i].error);
		if (!strstr(t.err.text, cases[i].text))
			fail_msg("%s", t.err.text);
		assert_int_equal(t.links, cases[i].link - 1);
		tear_down(NULL);
		set_up(NULL);
	}
}

/* Set kernel is left out where it cannot be had, if that is allowed. */
TEST(without_kernel)
{
	t.kernel_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_string_equal(t.err.text, "no kernel events");
	t.err.text[0] = 0;
	t.opts.kernel_optional = true;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.kernel_error = 0;
	assert_int_equal(open_and_attach(), 0);
	assert_true(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.kernel_attach_error = -EIO;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 0);
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	t.opts.kernel_optional = false;
	t.no_threads = true; /* then it is opened here */
	assert_int_equal(open_and_attach(), -EIO);
	assert_string_equal(t.err.text, "not attached");
}

TEST(samples)
{
	t.opts.sample_hz = 99;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.samplers, 1);
	assert_int_equal(t.hz, 99);
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	fake.load_error = -EINVAL; /* nothing more is tried */
	assert_int_equal(open_it(), -EINVAL);
	assert_int_equal(t.samplers, 1);
	fake.load_error = 0;
	t.sampler_error = -EMFILE;
	assert_int_equal(open_it(), -EMFILE);
}

TEST(cannot_load)
{
	fake.load_error = -EACCES;
	assert_int_equal(open_it(), -EACCES);
	assert_non_null(strstr(t.err.text, "verifier rejects"));
	t.err.text[0] = 0;
	fake.load_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_non_null(strstr(t.err.text, "not permitted; run as root"));
	t.err.text[0] = 0;
	fake.load_error = 0;
	fake.open_error = -EINVAL;
	assert_int_equal(open_it(), -EINVAL);
	assert_non_null(strstr(t.err.text, "cannot open the BPF programs: Invalid argument"));
	t.err.text[0] = 0;
	t.release = "5.15.0-130-generic";
	assert_int_equal(open_it(), -EINVAL);
	assert_non_null(strstr(t.err.text, "the kernel is older than Linux 6.1"));
	t.release = "6.12.0-1-amd64";
	t.err.text[0] = 0;
	fake.open_error = 0;
	t.finish_error = -ENOMEM;
	assert_int_equal(open_it(), -ENOMEM);
	assert_non_null(strstr(t.err.text, "cannot create a ring buffer"));
	t.err.text[0] = 0;
	t.rings_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_non_null(strstr(t.err.text, "cannot create the ring buffers"));
	t.err.text[0] = 0;
	t.no_pid_ns = -ENOTSUP;
	assert_int_equal(open_it(), -ENOTSUP);
	assert_string_equal(t.err.text, "no namespace");
}

TEST(module)
{
	size_t with_module;

	gotrace_bpf__elf_bytes(&with_module);
	t.module_error = 0;
	assert_int_equal(open_it(), 0); /* which no program can call */
	assert_true(fake.elf_bytes != with_module);
	assert_false(probes__kfuncs(t.s));
	assert_int_equal(fake.rodata.config.kfuncs, 0);
	probes__destroy(t.s);
	t.kfuncs = true;
	assert_int_equal(open_it(), 0);
	assert_true(probes__kfuncs(t.s));
	assert_int_equal(fake.rodata.config.kfuncs, 1);
	assert_int_equal(fake.elf_bytes, with_module); /* programs that know the module */
	assert_false(t.no_rings);
}

/* Records that go to a session of the module need it. */
TEST(to_the_module)
{
	t.opts.session = 17;
	assert_int_equal(open_it(), -ENOENT);
	assert_string_equal(t.err.text, "no module");
	t.err.text[0] = 0;
	t.module_error = 0;
	assert_int_equal(open_it(), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "gotrace-bpf doctor"));
	t.err.text[0] = 0;
	t.kfuncs = true;
	assert_int_equal(open_and_attach(), 0);
	assert_true(t.no_rings);
	assert_int_equal(fake.rodata.config.session, 17);
	assert_int_equal(probes__rings(t.s), 0);
	assert_ptr_equal(t.link[0].program, find("process_exec_session"));
	assert_false(find("process_exec")->autoload);
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets |= SITE_SET(FAULT);
	assert_int_equal(open_it(), 0);
	probes__destroy(t.s);
	t.s = NULL;
	t.release = "6.11.9";
	assert_int_equal(open_it(), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "without event set fault"));
}

/* Each link is destroyed once, even if probes__detach() is called twice. */
TEST(detaches)
{
	assert_int_equal(open_and_attach(), 0);
	probes__detach(t.s);
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	probes__detach(t.s);
	probes__destroy(t.s);
	t.s = NULL;
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.link[i].destroyed, 1);
}

/* Texts that were sent, and what threads run, are forgotten, with what is in the shared maps. */
TEST(resets)
{
	assert_int_equal(open_and_attach(), 0);
	probes__start_slots(t.s);
	probes__detach(t.s);
	memset(&fake.rodata, 0xff, sizeof(fake.rodata)); /* all that is mapped */
	t.skipped = 3;
	assert_int_equal(probes__reset(t.s), -E2BIG);
	assert_int_equal(t.skipped, 0);
	for (size_t i = 0; i < sizeof(fake.rodata); i++)
		assert_int_equal(fake.rodata.bytes[i], 0);
}

TEST(counters)
{
	struct gt_counters got;

	t.counters[0].lost[3] = 5;
	t.counters[1].lost[3] = 7;
	t.counters[1].read_errors = 2;
	t.skipped = 4;
	assert_int_equal(open_it(), 0);
	memset(&got, 1, sizeof(got));
	assert_int_equal(probes__counters(t.s, &got), 0);
	assert_int_equal(got.lost[3], 12);
	assert_int_equal(got.lost[0], 0);
	assert_int_equal(got.lost[GT_WAKING], 4);
	assert_int_equal(got.read_errors, 2);
}
