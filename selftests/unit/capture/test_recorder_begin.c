// SPDX-License-Identifier: GPL-2.0
/* The start of a recording: privileges, a started command, checks of its layout, failures. */
#include "unit/test.h"
#include "unit/recorder_fixture.h"

FIXTURE(set_up, tear_down)

TEST(kept_privileges)
{
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ);
	assert_int_equal(noted("keep"), 1);
	assert_int_equal(noted("modules"), 0);
	fake_end();

	set_up(NULL);
	t.folder = true;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_FOLDER);
	fake_end();

	set_up(NULL);
	t.opts.folder_of_other = true;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_FOLDER);
	fake_end();

	set_up(NULL);
	t.gives = true;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_OWNER);
}

/*
 * Its libraries are opened when the snapshots are given; privileges for that are kept until then.
 */
TEST(command)
{
	char first[32];

	t.opts.launch = &t.launch;
	add(T0 + 100 * MS, GT_EXECUTE);
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_COMMAND);
	snprintf(first, sizeof(first), "keep%u no_kernel release",
		 PRIVILEGE_READ | PRIVILEGE_COMMAND | PRIVILEGE_MODULES);
	assert_non_null(strstr(fake.text, first));
	assert_non_null(strstr(fake.text, "modules keep5 give11"));
	assert_int_equal(t.checks, 1); /* when its first goroutine runs */
	assert_true(fake.read_at[0] >= T0 + 100 * MS);
	assert_true(t.stats.layout_checked);
}

TEST(layout_does_not_fit)
{
	t.opts.launch = &t.launch;
	t.opts.duration_ns = 5000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = NEVER;
	add(T0 + 100 * MS, GT_EXECUTE);
	add(T0 + 105 * MS, GT_PARK);
	assert_int_equal(run(), -EPROTO);
	assert_string_equal(t.err.text, "the layout does not fit");
	assert_int_equal(fake.now, T0 + 2000 * MS);
	assert_int_equal(noted("commit"), 0);
	assert_false(t.stats.layout_checked);
	fake_end();

	set_up(NULL); /* within its time */
	t.opts.launch = &t.launch;
	t.opts.duration_ns = 5000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = T0 + 1900 * MS;
	add(T0 + 100 * MS, GT_EXECUTE);
	assert_int_equal(run(), 0);
	assert_true(t.stats.layout_checked);
	assert_true(fake.read_at[0] >= t.fits_at);
}

/* A failure that is not about the layout does not end the recording; a stopped process does. */
TEST(layout_cannot_be_checked)
{
	static const int harmless[] = { -ESRCH, -EINTR };

	for (int i = 0; i < 2; i++) {
		t.opts.launch = &t.launch;
		t.opts.duration_ns = 3000 * MS;
		t.check_error = harmless[i];
		t.fits_at = NEVER;
		add(T0, GT_EXECUTE);
		assert_int_equal(run(), 0);
		assert_int_equal(fake.reads, 0);
		assert_int_equal(noted("give00"), 1);
		fake_end();
		set_up(NULL);
	}
	t.opts.launch = &t.launch;
	t.check_error = -ETIMEDOUT;
	t.fits_at = NEVER;
	add(T0, GT_EXECUTE);
	assert_int_equal(run(), -ETIMEDOUT);
	assert_in_range(fake.now, T0, T0 + 10 * MS);
}

/*
 * One that had just begun, not held at its exec: looked at every 20 ms, and not examined until it
 * runs.
 */
TEST(just_begun)
{
	t.opts.exec_time = 4000 * MS;
	t.opts.duration_ns = 3000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = T0 + 2500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.checks, 126); /* 10, 30, 50 ... 2510 ms */
	assert_true(t.stats.layout_checked);
}

/* Other Go runtimes are looked for once, and when the process has mapped more code. */
TEST(more_code)
{
	t.opts.duration_ns = 3000 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.looks, 1);
	fake_end();

	set_up(NULL);
	t.opts.duration_ns = 3000 * MS;
	fake.code_changes = T0 + 1000 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.looks, 2);
	assert_in_range(fake.looked_at, T0 + 1000 * MS, T0 + 1300 * MS);
	fake_end();

	set_up(NULL); /* after 100 times as long as that took; and at the end, in any case */
	t.opts.duration_ns = 1500 * MS;
	fake.look_takes = 20 * MS;
	fake.code_changes = T0 + 1000 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.looks, 2);
	assert_true(fake.looked_at >= T0 + 1500 * MS);
}

TEST(cannot_begin)
{
	fake.attach_error = -ENOENT;
	assert_int_equal(run(), -ENOENT);
	assert_int_equal(noted("commit"), 0);
	assert_int_equal(noted("attach detach destroy"), 1);
	assert_string_equal(t.err.text, "cannot record: No such file or directory");
	assert_int_equal(t.stats.t0, 0);
	fake_end();

	set_up(NULL);
	fake.open_error = -EBADF;
	assert_int_equal(run(), -EBADF);
	assert_int_equal(noted("attach"), 0);
	fake_end();

	set_up(NULL);
	fake.no_signals = true;
	assert_int_equal(run(), -EMFILE);
	assert_int_equal(noted("open"), 0);
	fake_end();

	set_up(NULL);
	t.opts.launch = &t.launch;
	t.create_error = -EINVAL;
	assert_int_equal(run(), -EINVAL);
	assert_int_equal(t.began, 0);
	fake_end();

	set_up(NULL);
	t.opts.launch = &t.launch;
	t.start_error = -EIO;
	assert_int_equal(run(), -EIO);
	assert_int_equal(noted("release"), 0);
}
