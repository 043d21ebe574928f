// SPDX-License-Identifier: GPL-2.0
/*
 * seeds DIR: writes the seeds that no Go toolchain provides, one directory per target, in the
 * formats that fuzz_NAME.c describes.
 */
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>
#undef EV_NONE /* versions of ELF, by the prefix of our events */

#include "../blackbox/seed.h"
#include "../perfdata/made.h"
#include "format/describe.h"
#include "format/encode.h"
#include "format/header.h"
#include "format/kernel.h"
#include "format/private.h"
#include "gotrace/record.h"
#include "metrics/values.h"
#include "pack/segment.h"
#include "reader/index.h"
#include "make_trace.h"
#include "seed_file.h"

static const char *top;

static void put_leb(struct bytes *b, uint64_t n)
{
	uint8_t leb[LEB_MAX];

	put(b, leb, leb__put(leb, n) - leb);
}

void save(const char *target, const char *name, const struct bytes *b)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, name);
	f = fopen(path, "w");
	if (!f || fwrite(b->data, 1, b->len, f) != b->len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void put_gzip(struct bytes *b, const char *text)
{
	z_stream z = { .next_in = (uint8_t *)text, .avail_in = (unsigned int)strlen(text) };

	z.next_out = b->data + b->len;
	z.avail_out = (unsigned int)(sizeof(b->data) - b->len);
	if (deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	b->len += z.total_out;
	deflateEnd(&z);
}

static void put_zstd(struct bytes *b, const char *text)
{
	size_t n = ZSTD_compress(b->data + b->len, sizeof(b->data) - b->len, text, strlen(text), 3);

	if (ZSTD_isError(n))
		abort();
	b->len += n;
}

static void save_packed(const char *name, void (*pack)(struct bytes *b, const char *text))
{
	static char text[4000];
	struct bytes b = {};
	char file[64];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = "goroutine"[i * i / 7 % 9];
	pack(&b, text);
	save("input", name, &b);
	pack(&b, "");
	pack(&b, text + 3000);
	snprintf(file, sizeof(file), "%s-several", name);
	save("input", file, &b);
}

/* The table, and a few events behind it. */
static void save_description(const uint8_t *table, size_t len)
{
	struct bytes b = {};

	put_u16(&b, len);
	put(&b, table, len);
	for (unsigned int type = EV_PROCS_CHANGE; type < EV_COUNT; type++)
		put(&b, (uint8_t[]){ type, 1, 2, 3, 4, 5 }, 1 + spec__event(type)->nargs);
	save("describe", "own", &b);
}

static void put_record(struct bytes *b, enum private_kind kind, const uint8_t *data, size_t len)
{
	struct bytes part;
	unsigned int number = 0;

	for (size_t n; number == 0 || len; data += n, len -= n) {
		part.len = 0;
		n = len < 900 ? len : 900;
		put_leb(&part, kind);
		put_leb(&part, number++);
		put_leb(&part, len > n);
		put(&part, data, n);
		put_u16(b, 0x8000 | part.len);
		put(b, part.data, part.len);
	}
}

static void put_pair(struct bytes *b, const char *name, const char *value)
{
	put_leb(b, strlen(name));
	put(b, name, strlen(name));
	put_leb(b, strlen(value));
	put(b, value, strlen(value));
}

static void save_private(const uint8_t *table, size_t len)
{
	struct bytes b = {}, record = {};

	put_u16(&b, 4);
	put(&b, "main", 4);
	put_pair(&record, "tool", "gotrace-bpf 0.1");
	put_pair(&record, "command", "./server");
	put_record(&b, PRIVATE_META, record.data, record.len);
	put_record(&b, PRIVATE_LOSSES, (const uint8_t[]){ 5, 1, 90, 2, 0, 7, 100, 3 }, 8);
	put_record(&b, PRIVATE_TICKS, (const uint8_t[]){ 64, 100, 101 }, 3);
	put_record(&b, PRIVATE_SHORT, (const uint8_t[]){ 100, 2, 3, 4, 5 }, 5);
	put_record(&b, PRIVATE_REQUESTS, (const uint8_t[]){ 1, 100, 7, 3, 2, 50, 7, 4 }, 8);
	put_record(&b, PRIVATE_GAPS, (const uint8_t[]){ 100, 9, 20, 5, 3, 1 }, 6);
	save("private", "short", &b);
	put_record(&b, PRIVATE_TABLE, table, len);
	save("private", "table", &b);
}

static int put_kernel(void *to, enum private_kind kind, const void *data, size_t len)
{
	put(to, (uint8_t[]){ kind == PRIVATE_WAITS ? 3 : kind - PRIVATE_THREADS }, 1);
	put_u16(to, len);
	put(to, data, len);
	return 0;
}

/* Threads, and items of each kind; some about other threads of a CPU. */
static void save_kernel(void)
{
	static const struct trace_string name = { "kworker/0:1", 11 };
	struct kernel_thread thread = { .tid = 7,
					.run = KERNEL_SLEEPING,
					.call = 202,
					.name = "a",
					.name_len = 1,
					.since = 9,
					.sleep = GT_SLEEP_DISK,
					.call_since = 8 };
	struct kernel_item item = { .time = 1000,
				    .other = 9,
				    .other_pid = 2,
				    .number = 202,
				    .value = (uint64_t)-11,
				    .why = GT_OFF_DISK };
	struct kernel_writer *k = kernel_writer__create();
	struct bytes b = {};

	if (!k || kernel_writer__begin(k, 100, NULL) || kernel_writer__add_thread(k, &thread))
		abort();
	for (unsigned int i = 0; i < 4 * KERNEL_KIND_END; i++) {
		item.kind = (uint8_t)(1 + i % (KERNEL_KIND_END - 1));
		item.tid = 7 + i % 3;
		item.sleep = item.kind == KERNEL_OFF ? (uint8_t)(i % GT_SLEEP_END) : 0;
		item.cpu = (uint16_t)(i / 9);
		item.name = item.kind == KERNEL_SYS_ENTER || item.kind == KERNEL_SYS_EXIT ?
				    (struct trace_string){} :
				    name;
		if (kernel_writer__add(k, &item))
			abort();
		item.time += 1000 * i;
	}
	if (kernel_writer__put(k, put_kernel, &b))
		abort();
	save("kernel", "all", &b);
	kernel_writer__destroy(k);
}

static void put_int(struct bytes *b, uint64_t n, size_t size)
{
	put(b, &n, size);
}

/* Two functions of a file. The numbers are explained in v1/v1_symbolize.c. */
static void save_symbols(void)
{
	static const uint8_t lines[] = { 22, 8, 2, 8, 0 }, files[] = { 4, 16, 0 };
	struct bytes b = {};

	put_int(&b, 0xfffffffb, 6);
	put(&b, (uint8_t[]){ 1, 8 }, 2);
	put_int(&b, 2, 8);
	for (unsigned int i = 0; i < 2; i++) {
		put_int(&b, 0x1000 + 16 * i, 8);
		put_int(&b, 88 + 32 * i, 8);
	}
	put_int(&b, 0x1020, 8);
	put_int(&b, 60, 4);
	put_int(&b, 2, 4); /* at 60: the files */
	put_int(&b, 68, 4);
	put(&b, "main.go\0main.f\0....", 20); /* at 68 */
	for (unsigned int i = 0; i < 2; i++) {
		put_int(&b, 0x1000 + 16 * i, 8);
		put_int(&b, 76, 4);
		put(&b, (uint8_t[12]){}, 12);
		put_int(&b, 152, 4);
		put_int(&b, 155, 4);
	}
	put(&b, files, sizeof(files));
	put(&b, lines, sizeof(lines));
	save("symbols", "two", &b);
}

/* Of the example's trace, which was saved before. */
static void save_index(void)
{
	struct index_totals totals;
	char trace[512], index[512];
	struct error err = {};

	snprintf(trace, sizeof(trace), "%s/index", top);
	mkdir(trace, 0777);
	snprintf(trace, sizeof(trace), "%s/v2/made", top);
	snprintf(index, sizeof(index), "%s/index/made", top);
	if (index__write(trace, index, &totals, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

/* Each of the programs in build/fuzz/programs as it is, with one change, and cut: see patched.h. */
/* The coded tables and events of a trace, as fuzz_pack.c expects them. */
static void save_coded(void)
{
	static uint8_t trace[MADE_MAX];
	size_t len = make_trace(made_example, made_example_len, trace) - TRACE_HEADER_LEN;
	struct outbuf tables = {}, events = {};
	struct table_model t = {};
	struct bytes b = {};

	table_model__begin(&t, false);
	if (segment__encode(&t, trace + TRACE_HEADER_LEN, len, &tables, &events))
		abort();
	put(&b, "\0", 1);
	put_u16(&b, len - 1);
	put_u16(&b, tables.len);
	put(&b, tables.data, tables.len);
	put(&b, events.data, events.len);
	save("pack", "coded", &b);
	table_model__deinit(&t);
	outbuf__deinit(&tables);
	outbuf__deinit(&events);
}

static void save_patched(void)
{
	for (unsigned int program = 0; program < 8; program++) {
		struct bytes b = {};
		char name[32];

		put(&b, (uint8_t[]){ program }, 1);
		snprintf(name, sizeof(name), "%u", program);
		save("patched", name, &b);
		for (unsigned int i = 0; i < 4; i++) {
			put_u16(&b, 7 + 13 * i);
			put_u16(&b, i);
			put(&b, (uint8_t[]){ 2, 0x90, 0xcc }, 3);
		}
		snprintf(name, sizeof(name), "%u-changed", program);
		save("patched", name, &b);
		put_u16(&b, 40 + program);
		put_u16(&b, 3);
		put(&b, (uint8_t[]){ 0x20 }, 1);
		snprintf(name, sizeof(name), "%u-cut", program);
		save("patched", name, &b);
	}
}

#define BUILD_PATH "path\texample\nbuild\tCGO_ENABLED=1\nbuild\t-race=true\n"

/* A program without code: build info in the one form or the other, symbols, a build id. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[6];
	char names[64];
	struct {
		char magic[14];
		uint8_t ptr_size, flags;
		uint64_t version, mod;
		uint8_t text[160];
	} info;
	Elf64_Sym symbol[2];
	char strings[32];
	uint8_t note[36];
};

static void put_section(struct program *p, unsigned int i, const char *name, unsigned int type,
			const void *data, size_t len)
{
	size_t at = 1;

	while (p->names[at])
		at += strlen(p->names + at) + 1;
	strcpy(p->names + at, name);
	p->section[i] = (Elf64_Shdr){
		.sh_name = (Elf64_Word)at,
		.sh_type = type,
		.sh_flags = SHF_ALLOC,
		.sh_offset = (uint64_t)((const char *)data - (const char *)p),
		.sh_size = len,
	};
	p->section[i].sh_addr = 0x400000 + p->section[i].sh_offset;
}

static void put_info(struct program *p, bool pointed)
{
	static const char version[] = "go1.26.8",
			  mod[] = "0123456789abcdef" BUILD_PATH "0123456789abcdef";
	uint8_t *text = p->info.text;

	memcpy(p->info.magic, "\xff Go buildinf:", 14);
	p->info.ptr_size = 8;
	if (!pointed) {
		p->info.flags = 2;
		*text++ = sizeof(version) - 1;
		text = mempcpy(text, version, sizeof(version) - 1);
		*text++ = sizeof(mod) - 1;
		memcpy(text, mod, sizeof(mod) - 1);
		return;
	}
	p->info.version = 0x400000 + offsetof(struct program, info.text);
	p->info.mod = p->info.version + 16;
	((uint64_t *)text)[0] = p->info.version + 32;
	((uint64_t *)text)[1] = sizeof(version) - 1;
	((uint64_t *)text)[2] = p->info.version + 48;
	((uint64_t *)text)[3] = sizeof(mod) - 1;
	memcpy(text + 32, version, sizeof(version));
	memcpy(text + 48, mod, sizeof(mod));
}

static void save_program(bool pointed)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1 };
	struct program p = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_phoff = offsetof(struct program, segment),
			.e_shoff = offsetof(struct program, section),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			.e_shentsize = sizeof(Elf64_Shdr), .e_phnum = 1, .e_shnum = 6,
			.e_shstrndx = 1,
		},
		.segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000,
			     .p_filesz = sizeof(p), .p_memsz = sizeof(p) },
		.symbol[1] = { .st_name = 1, .st_info = STT_OBJECT, .st_value = 0x400100 },
		.strings = "\0runtime.allgs",
	};
	struct bytes b = {};

	memcpy(p.note, note, sizeof(note));
	put_info(&p, pointed);
	put_section(&p, 1, ".shstrtab", SHT_STRTAB, p.names, sizeof(p.names));
	put_section(&p, 2, pointed ? ".data" : ".go.buildinfo", SHT_PROGBITS, &p.info,
		    sizeof(p.info));
	put_section(&p, 3, ".symtab", SHT_SYMTAB, p.symbol, sizeof(p.symbol));
	put_section(&p, 4, ".strtab", SHT_STRTAB, p.strings, sizeof(p.strings));
	put_section(&p, 5, ".note.gnu.build-id", SHT_NOTE, p.note, sizeof(p.note));
	p.section[3].sh_link = 4;
	p.section[3].sh_entsize = sizeof(Elf64_Sym);
	put(&b, &p, sizeof(p));
	save("elf", pointed ? "pointed" : "inline", &b);
}

static void save_example(void)
{
	struct bytes b = {};

	put(&b, made_example, made_example_len);
	save("order", "example", &b);
	save("parallel", "example", &b);
	b.len = make_trace(made_example, made_example_len, b.data);
	save("v2", "made", &b);
	save_index();
	b.len = 0;
	put(&b, (uint8_t[]){ 0, 4 }, 2);
	put(&b, made_example, made_example_len);
	save("rewrite", "example", &b);
	b.len = 0;
	put(&b, (uint8_t[]){ 4, 90, 0, 7, 1, 20, 0x20, 1, 8, 10, 0, 8, 1, 9, 9, 1, 8 }, 17);
	put(&b, made_example, made_example_len);
	save("align", "example", &b);
	b.len = 0;
	/* options, a batch of the experiment; then spans and objects: a type and three numbers each */
	put(&b, (uint8_t[]){ 64, 2, 1, 2, 0, 8, 1, 5, 3, 100, 1, 7, 4, 100, 0, 0 }, 16);
	save("heap", "example", &b);
}

static void save_made(const char *name, struct made *made)
{
	static struct bytes b;

	b.len = 0;
	put(&b, made->data, made->len);
	save("perfdata", name, &b);
	free(made);
}

/* Recordings of perf in the ways in which they differ. */
static void save_perfdata(const char *name, uint64_t more, size_t packed, bool one)
{
	struct made_perf *m = made_perf();
	char of_pipe[32];

	m->sample_type |= more;
	m->packed = packed;
	m->packed2 = packed > 500;
	m->one_event = one;
	if (one)
		m->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	made_recording(m);
	save_made(name, made_file(m));
	snprintf(of_pipe, sizeof(of_pipe), "%s-pipe", name);
	save_made(of_pipe, made_pipe(m));
	free(m);
}

static void save_blackbox(const char *name, unsigned int rings, unsigned int records)
{
	static struct bytes b;

	b.len = blackbox_seed(rings, records, b.data, sizeof(b.data));
	save("blackbox", name, &b);
}

static void save_config(void)
{
	static const char text[] = "# targets\nexe = caddy\n\n\texe=b c \ninherit = yes\n";
	static struct bytes b;

	put(&b, text, sizeof(text) - 1);
	save("config", "options", &b);
}

/* The kind of fuzz_ship.c, and the text. */
static void save_ship(const char *name, char kind, const char *text)
{
	static struct bytes b;

	b.len = 0;
	put(&b, &kind, 1);
	put(&b, text, strlen(text));
	save("ship", name, &b);
}

static void save_ships(void)
{
	save_ship("stored", 0,
		  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 17\r\n"
		  "x-amz-checksum-sha256: ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\r\n\r\n");
	save_ship("denied", 0,
		  "HTTP/1.1 403 Forbidden\r\nX-Amz-Meta-Sha256:  ba78 \r\n\r\n"
		  "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
	save_ship("keys", 1,
		  "# keys\n[other]\naws_access_key_id = x\n[default]\naws_access_key_id = id\n"
		  "aws_secret_access_key=secret\naws_session_token = t\n");
	save_ship("journal", 2, "web1-app-1-20261127T000000.000Z.trace\t17\t5\tba78\nb\n");
	save_ship(
		"title", 3,
		"# gotrace ship journal 1: https://h s3://b\nweb1-app-1-20261127T000000.000Z.trace\t1\t2\tx\n");
	save_ship("name", 4, "web1-app0-1-20261127T000000.000Z.trace");
}

static void save_http(const char *name, uint16_t port, const char *lines)
{
	static struct bytes b;

	b.len = 0;
	put_u16(&b, port);
	put(&b, lines, strlen(lines));
	save("http", name, &b);
}

/* A number without a label, and numbers and a histogram of names. */
static void save_metrics(void)
{
	static struct bytes b;
	struct metric_values v = {};
	struct series *request;
	struct outbuf o = {};

	request = metric_values__series(&v, ROW_REQUEST, (struct trace_string){ "GET /", 5 });
	if (!request || metric_values__set(&v, ROW_HEAP, 1 << 20) ||
	    metric_values__add(&v, ROW_CPU, (struct trace_string){ "main.\"x\\", 8 }, 300) ||
	    metric_values__add(&v, ROW_CPU, (struct trace_string){ "\xff\n", 2 }, UINT64_MAX))
		abort();
	histogram__add(&request->histogram, 5000);
	if (metric_values__pack(&v, &o))
		abort();
	b.len = 0;
	put(&b, o.data, o.len);
	save("metrics", "values", &b);
	outbuf__deinit(&o);
	metric_values__deinit(&v);
}

int main(int argc, char **argv)
{
	uint8_t *table;
	size_t len;

	if (argc != 2 || description__encode(&table, &len))
		return 2;
	top = argv[1];
	mkdir(top, 0777);
	save_packed("gzip", put_gzip);
	save_packed("zstd", put_zstd);
	save_description(table, len);
	save_private(table, len);
	save_kernel();
	save_metrics();
	save_example();
	save_coded();
	save_symbols();
	save_patched();
	save_program(false);
	save_program(true);
	save_perfdata("sched", 0, 0, false);
	save_perfdata("one", 0, 0, true);
	save_perfdata("chains", PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, 0, true);
	save_perfdata("packed", 0, 100, false);
	save_perfdata("packed2", 0, 1000, true);
	save_blackbox("whole", 1, 30);
	save_blackbox("overwritten", 1, 150);
	save_blackbox("rings", 2, 151);
	save_blackbox("stale", 1, 300);
	save_config();
	save_memory();
	save_ships();
	save_http("four", 8080,
		  "127.0.0.1:8080\nhttp://127.0.0.1:8080\n"
		  "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3\n0.25\n4711");
	save_http("six", 80, "[::1]\nnull\n*/*, application/openmetrics-text;q=0\n1e2\n1");
	save_http("name", 80, "localhost:80\n\n\ninf\n0");
	free(table);
	return 0;
}
