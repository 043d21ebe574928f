// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace top on a terminal: see top.h.
 *
 * A thread reads the trace; the main thread waits for windows, keys, signals and messages of the
 * recorder. Escape codes of ECMA-48 that all terminals have are sufficient for this view, so a
 * library such as ncurses is not needed: print/screen.c cuts lines, and each view is drawn with one
 * write.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/terminal.h"
#include "top.h"

#define ENTER	    "\x1b[?1049h\x1b[?25l" /* the alternate screen, without a cursor */
#define LEAVE	    "\x1b[?25h\x1b[?1049l"
#define CLEAR	    "\x1b[H\x1b[J"
#define TABLE_SHARE 5 /* a table other than that of functions has at most 1/5 of the lines */
#define MESSAGES    (4u << 10) /* bytes of the recorder's messages that are kept: the latest */

struct terminal {
	struct top_reading *reading;
	struct top_view *view;
	struct top_recorder *recorder;

	int keys, signals, news; /* descriptors */
	struct termios before;
	bool entered;
	struct trace_window *shown;
	char message[MESSAGES];
	size_t message_len;
	bool quit;
	int signal; /* that ended the view; 0: none */

	pthread_mutex_t lock; /* of the members below */
	pthread_cond_t stopped;
	struct trace_window *next; /* the latest one that was not shown yet */
	bool stop, ended;
	int result;
	struct error error;
};

bool top_terminal__exists(void)
{
	int fd;

	if (!terminal__can_redraw(STDOUT_FILENO))
		return false;
	fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- the thread that reads ---- */

/* A file is shown as fast as it was recorded. With the lock held. */
static void wait_for_time(struct terminal *t, const struct trace_window *w)
{
	uint64_t ns = clock__now() + (uint64_t)time_sub(w->to, w->from);
	struct timespec until = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	while (!t->stop && !pthread_cond_clockwait(&t->stopped, &t->lock, CLOCK_MONOTONIC, &until))
		;
}

static int show_window(void *context, struct trace_window *w)
{
	struct terminal *t = context;
	int err;

	pthread_mutex_lock(&t->lock);
	trace_window__destroy(t->next);
	t->next = w;
	eventfd_write(t->news, 1);
	if (t->reading->replay && t->reading->least != INT64_MAX)
		wait_for_time(t, w);
	/* What a recorder still writes is read, so that it can end. */
	err = t->stop && !t->recorder->pid ? -ECANCELED : 0;
	pthread_mutex_unlock(&t->lock);
	return err;
}

static void *read_all(void *context)
{
	struct terminal *t = context;
	struct error error = {};
	int err = top__read(t->reading, &error);

	pthread_mutex_lock(&t->lock);
	t->result = err;
	t->error = error;
	t->ended = true;
	eventfd_write(t->news, 1);
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- the screen ---- */

static void enter(struct terminal *t)
{
	struct termios raw = t->before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(t->keys, TCSAFLUSH, &raw);
	fputs(ENTER, stdout);
	fflush(stdout);
	t->entered = true;
}

static void leave(struct terminal *t)
{
	if (!t->entered)
		return;
	fputs(LEAVE, stdout);
	fflush(stdout);
	tcsetattr(t->keys, TCSAFLUSH, &t->before);
	t->entered = false;
}

static void draw(struct terminal *t)
{
	struct top_view *view = t->view;
	struct out *o;
	size_t lines;

	fputs(CLEAR, stdout);
	out__stdout()->screen.width = 0; /* the size may have changed */
	o = out__table();
	if (t->shown) {
		view->top = o->screen.height / TABLE_SHARE;
		lines = top__lines(t->shown, view) + 1;
		view->functions = lines < o->screen.height ? o->screen.height - lines : 0;
		top__print(t->shown, view);
	} else {
		out__text(o, "waiting for the first events (q: quit)\n");
		out__unicode(o, t->message, strcspn(t->message, "\n"));
		out__flush(o);
	}
	fflush(stdout);
}

/* ---- what happens ---- */

/* Ends the recording: the trace then ends, and so does the thread. A second request is not needed. */
static void quit(struct terminal *t)
{
	if (t->quit)
		return;
	t->quit = true;
	leave(t);
	top_recorder__stop(t->recorder);
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->stopped);
	pthread_mutex_unlock(&t->lock);
}

static void read_key(struct terminal *t)
{
	unsigned int keys = BY_COUNT + 1;
	char c;

	if (read(t->keys, &c, 1) != 1)
		c = 'q'; /* the terminal is gone */
	if (c == '>')
		t->view->sort = (t->view->sort + 1) % keys;
	else if (c == '<')
		t->view->sort = (t->view->sort + keys - 1) % keys;
	else if (c == ' ')
		t->view->paused = !t->view->paused;
	else if (c == 'q')
		quit(t);
}

static void take_signal(struct terminal *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGTSTP) {
		leave(t);
		kill(getpid(), SIGSTOP);
		if (!t->quit)
			enter(t);
	} else if (info.ssi_signo != SIGWINCH) {
		if (t->quit && t->recorder->pid)
			kill(t->recorder->pid, SIGKILL); /* it does not end */
		t->signal = (int)info.ssi_signo;
		quit(t);
	}
}

static void take_news(struct terminal *t)
{
	eventfd_t n;

	eventfd_read(t->news, &n);
	pthread_mutex_lock(&t->lock);
	if (t->next && !t->view->paused) {
		trace_window__destroy(t->shown);
		t->shown = t->next;
		t->next = NULL;
		if (!t->view->start)
			t->view->start = t->shown->from;
	}
	pthread_mutex_unlock(&t->lock);
}

/* Keeps the latest ones, and the end of a line that is too long. */
static void read_messages(struct terminal *t)
{
	char text[512];
	ssize_t n = read(t->recorder->messages, text, sizeof(text));
	size_t over;

	if (n <= 0) {
		if (!n || errno != EAGAIN) {
			close(t->recorder->messages);
			t->recorder->messages = -1;
		}
		return;
	}
	over = t->message_len + (size_t)n + 1 > MESSAGES ?
		       t->message_len + (size_t)n + 1 - MESSAGES :
		       0;
	memmove(t->message, t->message + over, t->message_len - over);
	t->message_len -= over;
	memcpy(t->message + t->message_len, text, (size_t)n);
	t->message_len += (size_t)n;
	t->message[t->message_len] = '\0';
}

/* The messages come from gotrace-bpf, which has escaped them. */
static void print_messages(const struct terminal *t)
{
	if (t->message_len)
		fputs(t->message, stderr);
}

static bool has_ended(struct terminal *t)
{
	bool ended;

	pthread_mutex_lock(&t->lock);
	ended = t->ended;
	pthread_mutex_unlock(&t->lock);
	return ended;
}

/*
 * Until the user quits; the end of a trace that is not recorded now is no reason to do so. After that, until
 * the thread ends.
 */
static bool is_over(struct terminal *t)
{
	if (!has_ended(t))
		return t->quit && !t->recorder->pid;
	return t->quit || t->result || t->recorder->pid;
}

static void wait_and_draw(struct terminal *t)
{
	while (!is_over(t)) {
		struct pollfd fds[] = {
			{ .fd = t->news, .events = POLLIN },
			{ .fd = t->signals, .events = POLLIN },
			{ .fd = t->recorder->pid ? t->recorder->messages : -1, .events = POLLIN },
			{ .fd = t->quit ? -1 : t->keys, .events = POLLIN },
		};

		if (!t->quit)
			draw(t);
		if (poll(fds, sizeof(fds) / sizeof(*fds), -1) < 0)
			continue;
		if (fds[0].revents)
			take_news(t);
		if (fds[1].revents)
			take_signal(t);
		if (fds[2].revents)
			read_messages(t);
		if (fds[3].revents && !t->quit)
			read_key(t);
	}
	leave(t);
}

static int init(struct terminal *t, sigset_t *ret_before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC);
	t->news = eventfd(0, EFD_CLOEXEC);
	t->keys = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (t->signals < 0 || t->news < 0 || t->keys < 0 || tcgetattr(t->keys, &t->before))
		return -errno;
	return 0;
}

static void deinit(struct terminal *t, const sigset_t *before)
{
	int fds[] = { t->signals, t->news, t->keys };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	trace_window__destroy(t->shown);
	trace_window__destroy(t->next);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	if (t->signal && t->signal != SIGINT)
		raise(t->signal);
}

static int run(struct terminal *t, struct error *error)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, read_all, t);

	if (err)
		return error__set(error, -err, "cannot create a thread: %s", strerror(err));
	enter(t);
	wait_and_draw(t);
	if (!has_ended(t)) {
		/* It may wait for a pipe, which nothing interrupts; there is nothing to clean up. */
		_exit(t->signal && t->signal != SIGINT ? 128 + t->signal : EXIT_DONE);
	}
	pthread_join(thread, NULL);
	print_messages(t);
	if (t->result && t->result != -ECANCELED)
		return error__set(error, t->result, "%s", t->error.text);
	return 0;
}

int top_terminal__run(struct top_reading *reading, struct top_view *view, struct top_recorder *r,
		      struct error *error)
{
	struct terminal t = {
		.reading = reading,
		.view = view,
		.recorder = r,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.stopped = PTHREAD_COND_INITIALIZER,
	};
	sigset_t before;
	int err = init(&t, &before);

	view->hints = true;
	reading->show = show_window;
	reading->context = &t;
	if (err)
		error__set(error, err, "cannot use the terminal: %s", strerror(-err));
	else
		err = run(&t, error);
	deinit(&t, &before);
	return err;
}
