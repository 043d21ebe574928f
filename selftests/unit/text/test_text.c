// SPDX-License-Identifier: GPL-2.0
/*
 * The text form of traces in both directions: the form of each event, accepted variations, errors
 * and their positions. check/text.sh compares with Go's own converter; test_quote.c tests literals.
 */
#include "unit/test.h"
#include "format/encode.h"
#include "text/text.h"
#include "unit/trace_bytes.h"

typedef int conversion(struct input *in, struct outbuf *out, struct error *err);

static struct error why; /* of the last conversion */

static int convert(conversion *conversion, const void *data, size_t len, struct outbuf *out)
{
	struct input *in;
	int code;

	why = (struct error){};
	*out = (struct outbuf){};
	assert_int_equal(input__open_memory(&in, data, len, &why), 0);
	code = conversion(in, out, &why);
	input__destroy(in);
	return code;
}

static void assert_output(const struct outbuf *out, const void *expected, size_t len)
{
	assert_int_equal(out->len, len);
	assert_memory_equal(out->data, expected, len);
}

/* Converts `text` to `trace` and back. */
static void both_ways(const char *text, size_t text_len, const void *trace, size_t trace_len)
{
	struct outbuf out;

	assert_int_equal(convert(text__read, text, text_len, &out), 0);
	assert_output(&out, trace, trace_len);
	outbuf__deinit(&out);
	assert_int_equal(convert(text__write, trace, trace_len, &out), 0);
	assert_output(&out, text, text_len);
	outbuf__deinit(&out);
}

#define TRACE(version, bytes)  "go 1." version " trace\0\0\0" bytes
#define BOTH_WAYS(text, trace) both_ways(text, sizeof(text) - 1, trace, sizeof(trace) - 1)

TEST(events_round_trip)
{
	BOTH_WAYS("Trace Go1.22\n", TRACE("22", ""));
	BOTH_WAYS("Trace Go1.26\nEventBatch gen=1 m=300 time=0 size=5\nSync\nEndOfGeneration\n",
		  TRACE("26", "\1\1\xac\2\0\5\x32\x34"));
	BOTH_WAYS("Trace Go1.23\nStrings\nString id=7\n\tdata=\"main\\n\"\n",
		  TRACE("23", "\4\5\7\5main\n"));
	BOTH_WAYS("Trace Go1.23\nString id=1\n\tdata=\"\"\nStrings\n", TRACE("23", "\5\1\0\4"));
	BOTH_WAYS("Trace Go1.25\nExperimentalBatch exp=1 gen=2 m=3 time=4\n\tdata=\"\\x00\\xff\"\n",
		  TRACE("25", "\x31\1\2\3\4\2\0\xff"));
	BOTH_WAYS(
		"Trace Go1.22\nStack id=1 nframes=2\n"
		"\tpc=1000 func=1 file=2 line=3\n\tpc=5 func=6 file=7 line=8\nStack id=2 nframes=0\n",
		TRACE("22", "\3\1\2\xe8\7\1\2\3\5\6\7\x08\3\2\0"));
	/* As in Go, the number of frames is a signed one. */
	BOTH_WAYS("Trace Go1.22\nStack id=1 nframes=18446744073709551615\nStacks\n",
		  TRACE("22", "\3\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2"));
}

/* What readers reject: two headers, a batch within a batch, wrong sizes, a long stack. */
TEST(invalid_traces_round_trip)
{
	char text[16384] = "Trace Go1.22\nStack id=1 nframes=200\n";
	struct outbuf trace, back;
	size_t len = strlen(text);
	int i;

	BOTH_WAYS(
		"Trace Go1.22\nEventBatch gen=1 m=2 time=3 size=99999999\nEventBatch gen=0 m=0 time=0 "
		"size=0\nStack id=0 nframes=0\nGoStart dt=0 g=0 g_seq=0\n",
		TRACE("22", "\1\1\2\3\xff\xc1\xd7\x2f\1\0\0\0\0\3\0\0\x10\0\0\0"));
	for (i = 0; i < 200; i++)
		len += sprintf(text + len, "\tpc=%d func=1 file=2 line=3\n", i);
	assert_int_equal(convert(text__read, text, len, &trace), 0);
	assert_int_equal(convert(text__write, trace.data, trace.len, &back), 0);
	assert_output(&back, text, len);
	outbuf__deinit(&trace);
	outbuf__deinit(&back);
}

static size_t plain_line(char *to, const struct ev_spec *spec, const uint64_t *arg)
{
	char *p = to + sprintf(to, "%s", spec->name);
	unsigned int i;

	for (i = 0; i < spec->nargs; i++)
		p += sprintf(p, " %s=%" PRIu64, spec->arg[i].name, arg[i]);
	*p++ = '\n';
	return p - to;
}

/* Every event of every version, with numbers of every length. */
TEST(every_event_round_trips)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	char text[4096], trace[1024];
	uint64_t arg[EV_ARGS_MAX], number = 1;
	size_t v, i;

	for (v = 0; v < 4; v++) {
		for (unsigned int type = 0; type < 256; type++) {
			const struct ev_spec *spec = spec__event(type);
			size_t text_len = sprintf(text, "Trace Go1.%u\n", versions[v]);
			uint8_t *p = (uint8_t *)trace + 16;

			if (!spec || spec->blob || !spec__in_version(spec, versions[v]))
				continue;
			memset(trace, 0, 16);
			sprintf(trace, "go 1.%u trace", versions[v]);
			*p++ = (uint8_t)type;
			for (i = 0; i < spec->nargs; i++) {
				arg[i] = spec->frames ? 0 : number;
				number = number > UINT64_MAX / 7 ? 1 : number * 7;
				p = leb__put(p, arg[i]);
			}
			text_len += plain_line(text + text_len, spec, arg);
			both_ways(text, text_len, trace, (char *)p - trace);
		}
	}
}

/* Numbers as the arguments of events, in a text and in the equivalent trace. */
struct many {
	char *text;
	uint8_t *trace;
	size_t text_len, trace_len;
};

static void add_number(struct many *m, uint64_t v)
{
	m->text_len += sprintf(m->text + m->text_len, "Frequency freq=%" PRIu64 "\n", v);
	m->trace[m->trace_len++] = EV_FREQUENCY;
	m->trace_len = leb__put(m->trace + m->trace_len, v) - m->trace;
}

TEST(number_limits)
{
	struct many m = { .text = malloc(2 << 20), .trace = calloc(1, 1 << 20) };
	uint64_t v, power;

	m.text_len = sprintf(m.text, "Trace Go1.22\n");
	m.trace_len = 16;
	sprintf((char *)m.trace, "go 1.22 trace");
	for (v = 0; v < 20000; v++)
		add_number(&m, v);
	for (power = 10; power; power = power > UINT64_MAX / 10 ? 0 : power * 10)
		for (v = power - 3; v < power + 3; v++)
			add_number(&m, v);
	for (v = 1; v; v <<= 1)
		add_number(&m, v * 0x123456789abcdef1);
	add_number(&m, UINT64_MAX);
	both_ways(m.text, m.text_len, m.trace, m.trace_len);
	free(m.text);
	free(m.trace);
}

/* Any white space, empty lines, comments, CR LF and a missing last line end: the same trace. */
TEST(white_space)
{
	static const char text[] =
		"# a comment\n\n \u2003\n\tTrace\u00a0 Go1.022\u3000\r\n"
		"#GoStart\n\u1680GoStart\v dt=1\f\xc2\x85g=002\u2028g_seq=3 \r\n"
		"\u205f String\u202fid=9\n# its data\n\u2029data \u2000= \"#x\u2003\" \u200a\r\n"
		"Stack id=1 nframes=1\n\n   #\npc=1 func=2 file=3 line=4";
	struct outbuf out;

	assert_int_equal(convert(text__read, text, sizeof(text) - 1, &out), 0);
	assert_output(&out, TRACE("22", "\x10\1\2\3\5\x09\5#x\u2003\3\1\1\1\2\3\4"),
		      16 + 4 + 8 + 7);
	outbuf__deinit(&out);
}

TEST(invalid_text_is_rejected)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *why;
	} cases[] = {
		{ "", 1, "not a trace in text form" },
		{ "# only a comment\n\n", 3, "not a trace in text form" },
		{ "go 1.22 trace", 1, "not a trace in text form" },
		{ "TraceGo1.22", 1, "not a trace in text form" },
		{ "Trace", 1, "\"\" is not a v2 trace version" },
		{ "Trace 1.22", 1, "\"1.22\" is not a v2 trace version" },
		{ "Trace Go1.21", 1, "\"Go1.21\" is not a v2 trace version" },
		{ "Trace Go1.24", 1, "\"Go1.24\" is not a v2 trace version" },
		{ "Trace Go1.22x", 1, "is not a v2 trace version" },
		{ "Trace Go1.18446744073709551638", 1, "is not a v2 trace version" },
		{ "Trace Go1.4294967318", 1, "is not a v2 trace version" },
		{ "Trace Go1.22 x", 1, "unexpected \"x\" at the end" },
		{ "Trace Go1.22\nNoEvent", 2, "\"NoEvent\"" },
		{ "Trace Go1.22\n\xff\x1b[m", 2, "\"??[m\"" },
		{ "Trace Go1.22\nGoSwitch dt=1 g=1 g_seq=1", 2, "\"GoSwitch\"" },
		{ "Trace Go1.23\nSync", 2, "\"Sync\"" },
		{ "Trace Go1.25\nEndOfGeneration", 2, "\"EndOfGeneration\"" },
		{ "Trace Go1.22\n\nStrings x", 3, "unexpected \"x\" at the end" },
		{ "Trace Go1.22\nStrings # x", 2, "unexpected \"# x\" at the end" },
		{ "Trace Go1.22\nGoStart dt=1 g=1", 2, "g_seq= is missing" },
		{ "Trace Go1.22\nGoStart dt=1 # g=1 g_seq=1", 2, "g= is missing" },
		{ "Trace Go1.22\nGoStart g=1 dt=1 g_seq=1", 2, "\"g=1\": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=-1", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=+1", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=0x1", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=1_0", 2, ": expected dt=" },
		{ "Trace Go1.22\nGoStop dt=18446744073709551616", 2, ": expected dt=" },
		{ "Trace Go1.22\nStack id=1 nframes=1\n", 3, "frame" },
		{ "Trace Go1.22\nStack id=1 nframes=9223372036854775807\n", 3, "frame" },
		{ "Trace Go1.22\nStack id=1 nframes=1\nStacks", 3, "\"Stacks\": expected pc=" },
		{ "Trace Go1.22\nStack id=1 nframes=1\npc=1 func=1 file=1 line=1 x=1", 3,
		  "at the end of the line" },
		{ "Trace Go1.22\nString id=1\n", 3, "the text ends before data=" },
		{ "Trace Go1.22\nString id=1\nString id=2", 3, "is not valid data of String" },
		{ "Trace Go1.22\nString id=1\n data", 3, "is not valid data of String" },
		{ "Trace Go1.22\nString id=1\n data=x", 3, "\"x\" is not a string literal" },
		{ "Trace Go1.22\nString id=1\n data=\"\\z\"", 3, "is not a string literal" },
		{ "Trace Go1.22\nString id=1\n data=\"a\"b", 3, "unexpected \"b\" at the end" },
		{ "Trace Go1.22\nString id=1\n data=\"a\nb\"", 3, "is not a string literal" },
	};
	struct outbuf out;
	char line[32];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("# %s\n", cases[i].why);
		assert_int_equal(convert(text__read, cases[i].text, strlen(cases[i].text), &out),
				 -EBADMSG);
		outbuf__deinit(&out);
		sprintf(line, "memory: line %u: ", cases[i].line);
		assert_memory_equal(why.text, line, strlen(line));
		assert_non_null(strstr(why.text, cases[i].why));
		assert_null(strchr(why.text, '\n'));
	}
}

#define REFUSED(trace, code, reason)                                                               \
	do {                                                                                       \
		struct outbuf out_;                                                                \
		assert_int_equal(convert(text__write, trace, sizeof(trace) - 1, &out_), code);     \
		outbuf__deinit(&out_);                                                             \
		assert_non_null(strstr(why.text, reason));                                         \
	} while (0)

TEST(invalid_bytes_are_rejected)
{
	REFUSED("", -EPROTONOSUPPORT, "not a Go execution trace");
	REFUSED("go 1.22 trace\0\0", -EPROTONOSUPPORT, "not a Go execution trace");
	REFUSED("go 1.22 trace\0\0\1", -EPROTONOSUPPORT, "not a Go execution trace");
	REFUSED("go 1.022 trace\0\0", -EPROTONOSUPPORT, "not a Go execution trace");
	REFUSED("Trace Go1.22\nStrings\n", -EPROTONOSUPPORT, "not a Go execution trace");
	REFUSED("go 1.5 trace\0\0\0\0", -EPROTONOSUPPORT, "have no text form");
	REFUSED("go 1.21 trace\0\0\0", -EPROTONOSUPPORT, "have no text form");
	REFUSED("gotrace\0\1\2", -EPROTONOSUPPORT, "have no text form");
	REFUSED("go 1.24 trace\0\0\0", -EPROTONOSUPPORT, "unknown trace version Go 1.24");
	REFUSED("go 1.27 trace\0\0\0", -EPROTONOSUPPORT, "unknown trace version Go 1.27");
	REFUSED(TRACE("22", "\2\x2d"), -EBADMSG,
		"byte 17: a trace of Go 1.22 has no event of type 45");
	REFUSED(TRACE("23", "\x32"), -EBADMSG,
		"byte 16: a trace of Go 1.23 has no event of type 50");
	REFUSED(TRACE("25", "\x34"), -EBADMSG,
		"byte 16: a trace of Go 1.25 has no event of type 52");
	REFUSED(TRACE("26", "\2\2\0"), -EBADMSG,
		"byte 18: a trace of Go 1.26 has no event of type 0");
	REFUSED(TRACE("26", "\x35"), -EBADMSG, "no event of type 53");
	REFUSED(TRACE("26", "\xff"), -EBADMSG, "no event of type 255");
	REFUSED(TRACE("22", "\2\x08"), -EBADMSG, "byte 17: the trace ends within this Frequency");
	REFUSED(TRACE("22", "\x08\x80"), -EBADMSG, "byte 16: the trace ends within this Frequency");
	REFUSED(TRACE("22", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\2"), -EBADMSG,
		"byte 16: a number of more than 64 bits in this Frequency");
	REFUSED(TRACE("22", "\5\1\3ab"), -EBADMSG, "byte 16: the trace ends within this String");
	REFUSED(TRACE("22", "\5\1\xff\xff\xff\xff\7"), -EBADMSG,
		"bytes of data; the limit is 1048576");
	REFUSED(TRACE("22", "\5\1\x81\x80\x40"), -EBADMSG,
		"1048577 bytes of data; the limit is 1048576");
	REFUSED(TRACE("22", "\5\1\x80\x80\x40"), -EBADMSG, "ends within this String");
	REFUSED(TRACE("22", "\3\1\2\1\1\1\1\1\1\1"), -EBADMSG,
		"byte 16: the trace ends within this Stack");
	REFUSED(TRACE("22", "\3\1\xff\xff\xff\xff\xff\xff\xff\xff\x7f\2\2\2"), -EBADMSG,
		"ends within");
}

/*
 * A trace cut between events is valid, one cut within an event is not; the text up to the cut is
 * written.
 */
TEST(truncated_traces)
{
	static const char trace[] = TRACE("22", "\1\1\2\3\4\5\1\3abc\3\1\1\xe8\7\1\2\3\2");
	static const size_t whole[] = { 16, 21, 27, 35, 36 };
	struct outbuf out;
	size_t len, i = 0;
	int code;

	for (len = 16; len < sizeof(trace); len++) {
		code = convert(text__write, trace, len, &out);
		assert_int_equal(code, len == whole[i] ? 0 : -EBADMSG);
		i += len == whole[i];
		assert_memory_equal(out.data, "Trace Go1.22\nEventBatch ", len < 21 ? 13 : 24);
		outbuf__deinit(&out);
	}
	assert_int_equal(i, 5);
}

/* A file of several windows, with data longer than one window and lines longer than several. */
TEST(data_longer_than_a_window)
{
	static const size_t sizes[] = { 0,
					1,
					1023,
					65536,
					INPUT_WINDOW - 20,
					INPUT_WINDOW,
					INPUT_WINDOW + 1,
					RAW_DATA_MAX,
					70000 };
	char *data = malloc(RAW_DATA_MAX);
	struct raw_event ev = { .type = EV_STRING, .spec = spec__event(EV_STRING) };
	struct outbuf trace = {}, text = {}, back = {};
	struct input *in;
	FILE *f;
	size_t i;

	for (i = 0; i < RAW_DATA_MAX; i++)
		data[i] = i % 3 ? 0 : i >> 8;
	assert_int_equal(raw__put_header(&trace, 22, NULL), 0);
	for (i = 0; i < 100000; i++) {
		ev.arg[0] = i * 12345;
		ev.data = (unsigned char *)data;
		ev.len = i % 1000 ? i % 7 : sizes[i / 1000 % 9];
		assert_int_equal(raw__put_event(&trace, &ev, NULL), 0);
	}
	f = fopen(scratch("windows.trace"), "wb");
	assert_int_equal(fwrite(trace.data, 1, trace.len, f), trace.len);
	fclose(f);
	assert_int_equal(input__open(&in, scratch("windows.trace"), NULL), 0);
	assert_int_equal(text__write(in, &text, NULL), 0);
	input__destroy(in);
	f = fopen(scratch("windows.txt"), "wb");
	assert_int_equal(fwrite(text.data, 1, text.len, f), text.len);
	fputs("oops\n", f);
	fclose(f);
	assert_int_equal(input__open(&in, scratch("windows.txt"), NULL), 0);
	why = (struct error){};
	assert_int_equal(text__read(in, &back, &why), -EBADMSG); /* after all the rest */
	assert_non_null(strstr(why.text,
			       "line 200002: unknown event \"oops\" in this version of the "
			       "format"));
	input__destroy(in);
	assert_output(&back, trace.data, trace.len);
	outbuf__deinit(&trace);
	outbuf__deinit(&text);
	outbuf__deinit(&back);
	free(data);
}

/*
 * Expects that a text of `len` bytes, with a literal of `data` bytes and an x after it, is
 * rejected.
 */
static void refused_long(size_t len, size_t data, const char *reason)
{
	static const char head[] = "Trace Go1.22\nString id=1\n\tdata=`";
	char *text = malloc(len);
	struct outbuf out;

	memset(text, 'x', len);
	memcpy(text, head, sizeof(head) - 1);
	if (sizeof(head) + data < len)
		memcpy(text + sizeof(head) - 1 + data, "`\n", 2);
	assert_int_equal(convert(text__read, text, len, &out), -EBADMSG);
	assert_non_null(strstr(why.text, reason));
	outbuf__deinit(&out);
	free(text);
}

TEST(size_limits)
{
	refused_long(RAW_DATA_MAX + 50, RAW_DATA_MAX, "line 4: unknown event \"x");
	refused_long(RAW_DATA_MAX + 50, RAW_DATA_MAX + 1, "line 3: more than 1048576 bytes");
	refused_long(TEXT_LINE_MAX + 26, TEXT_LINE_MAX, "line 3: a line of more than");
	refused_long(TEXT_LINE_MAX + 25, TEXT_LINE_MAX, "line 3: \"`xxxx");
}
