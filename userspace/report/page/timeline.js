"use strict";
// The timeline: an overview of the whole trace, and lanes of the visible range, which lanes.js draws. This file
// has its elements, the keys and the pointer, the rows, the visible range and the selection.
class Timeline extends LaneView {
	static FOLDED = 12; // groups with more lanes are folded at first

	constructor(data) {
		super();
		this.data = data;
		this.from = 0;
		this.to = this.whole = Math.max(data.trace.ns, 1);
		this.decoded = new Map();
		this.fetched = new Map(); // by lane: spans of the visible range, of `gotrace view`
		this.selected = null; // a row
		this.interval = null; // of that row: { spans, i }
		this.mark = null; // the range of a link
		this.makeElements();
		this.makeGroups();
		this.layOut();
		this.readAddress();
		addEventListener("resize", () => this.draw());
		addEventListener("hashchange", () => this.readAddress());
		addEventListener("themechange", () => this.draw());
	}

	// ---- elements ----

	makeElements() {
		const s = section("timeline", "Timeline"), tools = add(s, "div", undefined, { class: "tools" });
		const button = (text, label, action) => {
			add(tools, "button", text, { type: "button", "aria-label": label, title: label }).addEventListener("click", action);
		};
		button("+", "Zoom in (w)", () => this.zoom(0.5));
		button("−", "Zoom out (s)", () => this.zoom(2));
		button("←", "Earlier (a)", () => this.pan(-0.25));
		button("→", "Later (d)", () => this.pan(0.25));
		button("All", "The whole trace (Home)", () => this.show(0, this.whole));
		this.search = add(tools, "input", undefined, { type: "search", placeholder: "Search goroutines, functions, threads",
			"aria-label": "Search lanes" });
		this.search.addEventListener("input", () => this.layOut());
		this.range = add(tools, "span", undefined, { class: "detail" });
		this.overview = new Overview(s, this.data, this.whole, time => this.center(time));
		this.axis = add(s, "canvas", undefined, { id: "axis", "aria-hidden": "true" });
		this.box = add(s, "div", undefined, { id: "lanes", tabindex: "0", role: "application", "aria-describedby": "selected",
			"aria-label": "Lanes. Keys: w and s zoom, a and d move, up and down select a lane, comma and dot an interval of it, Enter folds a group, Home shows everything, question mark shows help." });
		this.canvas = add(this.box, "canvas");
		this.space = add(this.box, "div");
		this.details = add(s, "div", "Point at an interval, or click a lane, for its details.", { id: "selected", "aria-live": "polite" });
		this.tip = new Tip();
		const legend = addLegend(s);
		add(legend, "span", "The thin strip below a goroutine is the state of its thread in the kernel.");
		this.addPointer();
		this.addKeys();
		this.box.addEventListener("scroll", () => this.draw());
	}

	addPointer() {
		let start = null;
		this.canvas.addEventListener("pointerdown", e => {
			start = { x: e.offsetX, from: this.from, to: this.to, moved: false };
			this.canvas.setPointerCapture(e.pointerId);
		});
		this.canvas.addEventListener("pointermove", e => {
			if (!start) {
				this.hover(e);
				return;
			}
			const ns = (start.x - e.offsetX) * (start.to - start.from) / this.width();
			start.moved ||= Math.abs(start.x - e.offsetX) > 3;
			if (start.moved)
				this.show(start.from + ns, start.to + ns);
		});
		this.canvas.addEventListener("pointerup", e => {
			if (start && !start.moved)
				this.click(e.offsetX, e.offsetY);
			start = null;
		});
		this.canvas.addEventListener("pointerleave", () => this.tip.hide());
		this.canvas.addEventListener("dblclick", e => this.zoomToInterval(e.offsetX, e.offsetY));
		this.box.addEventListener("blur", () => this.tip.hide());
		this.box.addEventListener("wheel", e => {
			if (!e.ctrlKey && !e.metaKey)
				return;
			e.preventDefault();
			this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.timeAt(e.offsetX));
		}, { passive: false });
	}

	hover(e) {
		const row = this.rowAt(e.offsetY), interval = this.intervalAt(row, e.offsetX, e.offsetY);
		if (interval)
			this.tip.show(this.linesOf(row, interval), e.clientX, e.clientY);
		else if (row)
			this.tip.show([row.group ? `${row.group.title} (${row.n})` : row.name], e.clientX, e.clientY);
		else
			this.tip.hide();
	}

	addKeys() {
		const keys = {
			w: () => this.zoom(0.5), s: () => this.zoom(2), a: () => this.pan(-0.25), d: () => this.pan(0.25),
			"+": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
			Home: () => this.show(0, this.whole), "/": () => this.search.focus(),
			ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1),
			",": () => this.stepInterval(-1), ".": () => this.stepInterval(1), Escape: () => this.tip.hide(),
			Enter: () => this.selected?.group && this.fold(this.selected.group),
		};
		this.box.addEventListener("keydown", e => {
			if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key])
				return;
			e.preventDefault();
			this.tip.hide();
			keys[e.key]();
		});
	}

	// ---- rows ----

	makeGroups() {
		const { lanes, strings } = this.data, titles = { cpu: "CPUs", thread: "Threads", p: "Ps", task: "Tasks" };
		const groups = new Map();
		lanes.forEach((lane, index) => {
			const title = lane.kind === "goroutine" ? strings[lane.group] || "(unknown start function)" :
				titles[lane.kind] || "Garbage collection";
			const key = (titles[lane.kind] || lane.kind === "goroutine" ? lane.kind : "") + title;
			if (!groups.has(key))
				groups.set(key, { title, lanes: [], folded: false });
			groups.get(key).lanes.push({ lane, index, name: this.nameOf(lane), shown: false });
		});
		this.groups = [...groups.values()];
		for (const group of this.groups)
			group.folded = group.lanes.length > Timeline.FOLDED;
	}

	nameOf(lane) {
		const name = this.data.strings[lane.name];
		return lane.kind === "goroutine" ? `G${lane.id.slice(2)} ${this.data.strings[lane.group]}` : name || lane.id;
	}

	layOut() {
		const wanted = this.search.value.toLowerCase();
		this.rows = [];
		for (const group of this.groups) {
			const found = wanted ? group.lanes.filter(row => row.name.toLowerCase().includes(wanted)) : group.lanes;
			if (!found.length)
				continue;
			if (group.lanes.length > 1)
				this.rows.push({ group, n: found.length });
			if (!group.folded || wanted)
				this.rows.push(...found);
		}
		this.space.style.height = "0px";
		this.draw();
	}

	// ---- the visible range ----

	show(from, to) {
		const length = Math.min(Math.max(to - from, 100), this.whole);
		this.from = Math.min(Math.max(from, 0), this.whole - length);
		this.to = this.from + length;
		this.draw();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => { this.writeAddress(); this.fetchRange(); }, 150);
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(share) {
		const ns = (this.to - this.from) * share;
		this.show(this.from + ns, this.to + ns);
	}

	center(time) {
		const half = (this.to - this.from) / 2;
		this.show(time - half, time + half);
	}

	goTo(link) {
		const margin = (link.to - link.from) * 0.1;
		this.mark = link.from === undefined ? null : { from: link.from, to: link.to };
		if (link.lane)
			this.select(link.lane);
		if (this.mark)
			this.show(link.from - margin, link.to + margin);
		byId("timeline").scrollIntoView();
		this.box.focus({ preventScroll: true });
	}

	writeAddress() {
		const lane = this.selected?.lane ? "&lane=" + encodeURIComponent(this.selected.lane.id) : "";
		history.replaceState(null, "", `#from=${Math.round(this.from)}&to=${Math.round(this.to)}${lane}`);
	}

	readAddress() {
		const values = new URLSearchParams(location.hash.slice(1)), from = Number(values.get("from")), to = Number(values.get("to"));
		if (values.has("from") && to > from)
			this.show(from, to);
		if (values.has("lane"))
			this.select(values.get("lane"));
	}

	// `gotrace view` has every event of a range; an answer that is not for the latest one is dropped.
	async fetchRange() {
		this.request?.abort();
		if (!this.data.live || this.to - this.from >= this.whole) // the whole is there
			return;
		this.request = new AbortController();
		const { from, to } = this, range = `range.json?from=${Math.floor(from)}&to=${Math.ceil(to)}&width=${Math.ceil(this.width())}`;
		try {
			const answer = await fetch(range, { signal: this.request.signal });
			if (!answer.ok)
				throw new Error(await answer.text());
			const part = await answer.json();
			this.fetched.clear();
			for (const lane of part.lanes)
				this.fetched.set(lane.id, { spans: decodeSpans(lane.spans), kernel: lane.kernel ? decodeSpans(lane.kernel) : null,
					strings: part.strings, from, to });
			this.draw();
		} catch (error) {
			if (error.name !== "AbortError")
				this.details.textContent = "Cannot read this part of the trace: " + error.message;
		}
	}

	// ---- selection ----

	rowAt(y) { return this.rows[Math.floor((y + this.box.scrollTop) / LaneView.ROW)]; }

	// The interval of a row at a place: that of the thread, if it is in the strip below. null: there is none.
	intervalAt(row, x, y) {
		if (!row?.lane || x <= this.label())
			return null;
		const decoded = this.spansOf(row.lane), below = (y + this.box.scrollTop) % LaneView.ROW >= LaneView.STRIP;
		const spans = decoded.kernel && below ? decoded.kernel : decoded.spans, i = spanAfter(spans, this.timeAt(x - 2));
		return i < spans.n && spans.begin[i] <= this.timeAt(x + 2) ? { spans, i } : null;
	}

	click(x, y) {
		const row = this.rowAt(y);
		if (!row)
			return;
		if (row.group)
			this.fold(row.group);
		else
			this.choose(row, this.intervalAt(row, x, y));
	}

	fold(group) {
		group.folded = !group.folded;
		this.layOut();
		if (this.selected?.group) // rows of groups are new ones
			this.selected = this.rows.find(row => row.group === group);
		this.draw();
	}

	choose(row, interval) {
		this.selected = row;
		this.interval = interval;
		this.describe(row, interval);
		this.draw();
		this.writeAddress();
	}

	step(rows) {
		const last = this.rows.length - 1, at = this.rows.indexOf(this.selected);
		const next = Math.min(Math.max(at + rows, 0), last), top = next * LaneView.ROW;
		if (last < 0)
			return;
		if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 2 * LaneView.ROW)
			this.box.scrollTop = Math.max(top - this.box.clientHeight / 2, 0);
		this.choose(this.rows[next], null);
	}

	// The next interval of the selected lane, or the one before; the visible range follows.
	stepInterval(step) {
		const row = this.selected;
		if (!row?.lane)
			return;
		const { spans } = this.spansOf(row.lane), before = this.interval;
		let i = Math.min(spanAfter(spans, this.from), spans.n - 1);
		if (before) // of these spans, or of those that were there before a part was fetched
			i = step + (before.spans === spans ? before.i : spanAfter(spans, (before.spans.begin[before.i] + before.spans.end[before.i]) / 2));
		if (i < 0 || i >= spans.n)
			return;
		if (spans.end[i] < this.from || spans.begin[i] > this.to)
			this.center((spans.begin[i] + spans.end[i]) / 2);
		this.choose(row, { spans, i });
		const { left, top } = this.canvas.getBoundingClientRect(), x = Math.max(this.xOf(spans.begin[i]), this.label());
		this.tip.show(this.linesOf(row, this.interval), left + x, top + this.rows.indexOf(row) * LaneView.ROW - this.box.scrollTop + LaneView.ROW / 2);
	}

	zoomToInterval(x, y) {
		const interval = this.intervalAt(this.rowAt(y), x, y);
		if (!interval)
			return;
		const { spans, i } = interval, margin = (spans.end[i] - spans.begin[i]) / 4;
		this.show(spans.begin[i] - margin, spans.end[i] + margin);
	}

	// The name, then state, duration and begin, then what it is in detail
	linesOf(row, { spans, i }) {
		const strings = this.spansOf(row.lane).strings || this.data.strings;
		const lines = [row.name, `${STATES[spans.state[i]].name}, ${timeText(spans.end[i] - spans.begin[i])} from ${timeText(spans.begin[i])}`];
		if (spans.detail[i])
			lines.push(strings[spans.detail[i]]);
		if (spans.count[i] > 1)
			lines.push(`${spans.count[i]} intervals: ${this.sharesOf(spans, i).join(", ")}`);
		return lines;
	}

	// The states of a merged span
	sharesOf({ mix, mixState, mixShare }, i) {
		const shares = [];
		for (let k = mix[i]; k < mix[i + 1]; k++)
			shares.push(`${STATES[mixState[k]].name} ${(100 * mixShare[k]).toFixed(1)} %`);
		return shares;
	}

	describe(row, interval) {
		if (row.group)
			this.details.textContent = `${row.group.title}: ${row.n} lanes`;
		else if (interval)
			this.details.textContent = this.linesOf(row, interval).join("; ");
		else
			this.details.textContent = row.name + (row.lane.totals?.length ? ": " : "") +
				(row.lane.totals || []).map(([state, ns]) => `${STATES[state].name} ${timeText(ns)}`).join(", ");
	}

	draw() {
		super.draw();
		this.overview.draw(this.from, this.to);
		this.range.textContent = `${timeText(this.from)} to ${timeText(this.to)} (${timeText(this.to - this.from)})`;
	}

	select(id) {
		for (const group of this.groups)
			for (const row of group.lanes)
				if (row.lane.id === id) {
					group.folded = false;
					this.selected = row;
					this.interval = null;
					this.search.value = "";
					this.layOut();
					this.box.scrollTop = Math.max(this.rows.indexOf(row) * LaneView.ROW - 100, 0);
					this.describe(row, null);
					return;
				}
		this.details.textContent = `${id} has no lane: see Limits.`;
	}
}
