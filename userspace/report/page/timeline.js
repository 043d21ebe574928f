"use strict";
// The timeline: an overview of the whole trace and lanes of the visible range, drawn on canvases. Only the
// rows that are visible are decoded and drawn, at most one rectangle per pixel.
class Timeline {
	static ROW = 20;
	static LABEL = 210;
	static FOLDED = 12; // groups with more lanes are folded at first

	constructor(data) {
		this.data = data;
		this.from = 0;
		this.to = this.whole = Math.max(data.trace.ns, 1);
		this.decoded = new Map();
		this.fetched = new Map(); // by lane: spans of the visible range, of `gotrace view`
		this.kinds = data.states.map(kindOf);
		this.selected = null;
		this.makeElements();
		this.makeGroups();
		this.layOut();
		this.readAddress();
		addEventListener("resize", () => this.draw());
		addEventListener("hashchange", () => this.readAddress());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
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
		this.overview = add(s, "canvas", undefined, { id: "overview", role: "img",
			"aria-label": "Overview of the whole trace: goroutines and heap. Click to move the visible range." });
		this.box = add(s, "div", undefined, { id: "lanes", tabindex: "0", role: "application",
			"aria-label": "Lanes. Keys: w and s zoom, a and d move, up and down select a lane, Enter folds a group, Home shows everything." });
		this.canvas = add(this.box, "canvas");
		this.space = add(this.box, "div");
		this.details = add(s, "div", "Click a lane for its details.", { id: "selected", "aria-live": "polite" });
		const legend = add(s, "p", undefined, { class: "legend" });
		for (const [name, kind] of [["running", "running"], ["waiting for a P", "runnable"], ["waiting for a CPU", "cpu-wait"],
			["system call", "syscall"], ["waiting", "waiting"], ["GC", "gc"], ["stop-the-world", "stw"]]) {
			const item = add(legend, "span");
			add(item, "i", undefined, { style: `background: var(--${kind})` });
			item.append(name);
		}
		add(legend, "span", "The thin strip is the state of the thread in the kernel. A folded group shows the time of its lanes by state. Ctrl and wheel zoom, drag moves.");
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
			if (!start)
				return;
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
		this.canvas.addEventListener("dblclick", e => this.zoomToSpan(e.offsetX, e.offsetY));
		this.box.addEventListener("wheel", e => {
			if (!e.ctrlKey && !e.metaKey)
				return;
			e.preventDefault();
			this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.timeAt(e.offsetX));
		}, { passive: false });
		this.overview.addEventListener("pointerdown", e => {
			const middle = e.offsetX / this.overview.clientWidth * this.whole, half = (this.to - this.from) / 2;
			this.show(middle - half, middle + half);
		});
	}

	addKeys() {
		const keys = {
			w: () => this.zoom(0.5), s: () => this.zoom(2), a: () => this.pan(-0.25), d: () => this.pan(0.25),
			"+": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
			Home: () => this.show(0, this.whole), "/": () => this.search.focus(),
			ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1),
			Enter: () => this.selected?.group && this.fold(this.selected.group),
		};
		this.box.addEventListener("keydown", e => {
			if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key])
				return;
			e.preventDefault();
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

	spansOf(lane) {
		const fetched = this.fetched.get(lane.id);
		if (fetched && fetched.from <= this.from && fetched.to >= this.to)
			return fetched;
		if (!this.decoded.has(lane.id))
			this.decoded.set(lane.id, { spans: decodeSpans(lane.spans), kernel: lane.kernel ? decodeSpans(lane.kernel) : null });
		return this.decoded.get(lane.id);
	}

	// ---- the visible range ----

	width() { return Math.max(this.canvas.clientWidth - this.label(), 1); }
	label() { return this.canvas.clientWidth < 600 ? 110 : Timeline.LABEL; }
	timeAt(x) { return this.from + (x - this.label()) * (this.to - this.from) / this.width(); }
	xOf(time) { return this.label() + (time - this.from) * this.width() / (this.to - this.from); }

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

	goTo(link) {
		if (link.from !== undefined)
			this.show(link.from - (link.to - link.from) * 0.1, link.to + (link.to - link.from) * 0.1);
		if (link.lane)
			this.select(link.lane);
		byId("timeline").scrollIntoView();
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
			const kinds = (part.states || this.data.states).map(kindOf);
			this.fetched.clear();
			for (const lane of part.lanes)
				this.fetched.set(lane.id, { spans: decodeSpans(lane.spans), kernel: lane.kernel ? decodeSpans(lane.kernel) : null,
					kinds, states: part.states, strings: part.strings, from, to });
			this.draw();
		} catch (error) {
			if (error.name !== "AbortError")
				this.details.textContent = "Cannot read this part of the trace: " + error.message;
		}
	}

	// ---- selection ----

	rowAt(y) { return this.rows[Math.floor((y + this.box.scrollTop) / Timeline.ROW)]; }

	spanAt(row, x) {
		const decoded = this.spansOf(row.lane), i = spanAfter(decoded.spans, this.timeAt(x - 2));
		return i < decoded.spans.n && decoded.spans.begin[i] <= this.timeAt(x + 2) ? i : -1;
	}

	click(x, y) {
		const row = this.rowAt(y);
		if (!row)
			return;
		if (row.group)
			this.fold(row.group);
		else
			this.choose(row, x > this.label() ? this.spanAt(row, x) : -1);
	}

	fold(group) {
		group.folded = !group.folded;
		this.layOut();
		if (this.selected?.group) // rows of groups are new ones
			this.selected = this.rows.find(row => row.group === group);
		this.draw();
	}

	choose(row, span) {
		this.selected = row;
		this.describe(row, span);
		this.draw();
		this.writeAddress();
	}

	step(rows) {
		const last = this.rows.length - 1, at = this.rows.indexOf(this.selected);
		const next = Math.min(Math.max(at + rows, 0), last), top = next * Timeline.ROW;
		if (last < 0)
			return;
		if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 2 * Timeline.ROW)
			this.box.scrollTop = Math.max(top - this.box.clientHeight / 2, 0);
		this.choose(this.rows[next], -1);
	}

	zoomToSpan(x, y) {
		const row = this.rowAt(y), i = row && row.lane ? this.spanAt(row, x) : -1;
		if (i < 0)
			return;
		const s = this.spansOf(row.lane).spans, margin = (s.end[i] - s.begin[i]) / 4;
		this.show(s.begin[i] - margin, s.end[i] + margin);
	}

	describe(row, i) {
		if (row.group) {
			this.details.textContent = `${row.group.title}: ${row.n} lanes`;
			return;
		}
		const decoded = this.spansOf(row.lane), s = decoded.spans;
		const states = decoded.states || this.data.states, strings = decoded.strings || this.data.strings;
		let text = row.name;
		if (i >= 0) {
			text += `: ${states[s.state[i]].name}`;
			if (s.detail[i])
				text += ` (${strings[s.detail[i]]})`;
			text += `, ${timeText(s.end[i] - s.begin[i])} from ${timeText(s.begin[i])}`;
			if (s.count[i] > 1)
				text += `; ${s.count[i]} intervals, of which this is the most frequent state (${Math.round(s.share[i] / 2.55)} %): zoom in`;
		} else if (row.lane.totals) {
			text += ": " + row.lane.totals.map(([state, ns]) => `${this.data.states[state].name} ${timeText(ns)}`).join(", ");
		}
		this.details.textContent = text;
	}

	select(id) {
		for (const group of this.groups)
			for (const row of group.lanes)
				if (row.lane.id === id) {
					group.folded = false;
					this.selected = row;
					this.search.value = "";
					this.layOut();
					this.box.scrollTop = Math.max(this.rows.indexOf(row) * Timeline.ROW - 100, 0);
					this.describe(row, -1);
					return;
				}
	}

	// ---- drawing ----

	prepare(canvas, height) {
		const scale = devicePixelRatio || 1, width = canvas.clientWidth;
		canvas.style.height = height + "px";
		if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
			canvas.width = Math.round(width * scale);
			canvas.height = Math.round(height * scale);
		}
		const c = canvas.getContext("2d");
		c.setTransform(scale, 0, 0, scale, 0, 0);
		c.clearRect(0, 0, width, height);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		return c;
	}

	draw() {
		this.colors = readColors();
		this.drawOverview();
		const height = this.box.clientHeight, c = this.prepare(this.canvas, height), top = this.box.scrollTop;
		// The canvas is sticky: the space below it is what scrolls.
		this.space.style.height = Math.max(this.rows.length * Timeline.ROW - height, 0) + "px";
		const first = Math.floor(top / Timeline.ROW), last = Math.min(Math.ceil((top + height) / Timeline.ROW), this.rows.length);
		for (let i = first; i < last; i++)
			this.drawRow(c, this.rows[i], i * Timeline.ROW - top);
		this.drawArrows(c, first, last, top);
		this.range.textContent = `${timeText(this.from)} to ${timeText(this.to)} (${timeText(this.to - this.from)})`;
	}

	drawRow(c, row, y) {
		const label = this.label(), colors = this.colors;
		if (row.group) {
			const folded = row.group.folded && !this.search.value;
			c.fillStyle = colors.panel;
			c.fillRect(0, y, this.canvas.clientWidth, Timeline.ROW);
			c.save();
			if (folded) {
				this.drawGroup(c, row.group, y);
				c.beginPath();
				c.rect(0, y, label - 6, Timeline.ROW);
				c.clip();
			}
			c.fillStyle = row === this.selected ? colors.link : colors.text;
			c.fillText(`${folded ? "▸" : "▾"} ${row.group.title} (${row.n})`, 4, y + Timeline.ROW / 2);
			c.restore();
			return;
		}
		const decoded = this.spansOf(row.lane), kinds = decoded.kinds || this.kinds;
		this.drawSpans(c, decoded.spans, kinds, y + 2, decoded.kernel ? 11 : 15);
		if (decoded.kernel)
			this.drawSpans(c, decoded.kernel, kinds, y + 14, 4);
		c.fillStyle = row === this.selected ? colors.panel : colors.back;
		c.fillRect(0, y, label, Timeline.ROW);
		c.save();
		c.beginPath();
		c.rect(0, y, label - 6, Timeline.ROW);
		c.clip();
		c.fillStyle = row === this.selected ? colors.link : colors.text;
		c.fillText(row.name, 14, y + Timeline.ROW / 2);
		c.restore();
	}

	// A folded group: for each pixel column, the time of its lanes by kind, as a part of the highest column.
	// Each kind is one area from the bottom, over which the kinds below it are drawn: a rectangle for each
	// column and kind takes several times as long.
	drawGroup(c, group, y) {
		const width = Math.floor(this.width()), times = this.timesOf(group, width);
		for (let kind = 1; kind < times.length; kind++)
			times[kind].forEach((part, x) => { times[kind][x] = part + times[kind - 1][x]; });
		const most = times[times.length - 1].reduce((a, b) => Math.max(a, b), 0) || 1;
		const left = this.label(), bottom = y + Timeline.ROW - 2, height = Timeline.ROW - 4;
		for (let kind = times.length - 1; kind >= 0; kind--) {
			c.fillStyle = this.colors[KINDS[kind]];
			c.beginPath();
			c.moveTo(left, bottom);
			let top = 0;
			times[kind].forEach((sum, x) => {
				const next = Math.round(sum / most * height);
				if (next === top)
					return;
				c.lineTo(left + x, bottom - top);
				c.lineTo(left + x, bottom - next);
				top = next;
			});
			c.lineTo(left + width, bottom - top);
			c.lineTo(left + width, bottom);
			c.fill();
		}
	}

	// For each kind, the lanes that are in it in each pixel column. A span costs the same however long it is:
	// steps has the changes of the number of spans that fill columns.
	timesOf(group, width) {
		const times = KINDS.map(() => new Float64Array(width)), steps = KINDS.map(() => new Float64Array(width));
		const column = (this.to - this.from) / width;
		for (const { lane } of group.lanes) {
			const decoded = this.spansOf(lane), s = decoded.spans, kinds = (decoded.kinds || this.kinds).map(kind => KINDS.indexOf(kind));
			for (let i = spanAfter(s, this.from); i < s.n && s.begin[i] < this.to; i++) {
				const time = times[kinds[s.state[i]]], step = steps[kinds[s.state[i]]];
				const begin = Math.max(s.begin[i] - this.from, 0) / column, end = Math.min(s.end[i] - this.from, this.to - this.from) / column;
				const first = Math.floor(begin), last = Math.floor(end);
				// What lies beyond the last column is not stored.
				time[first] += Math.min(end, first + 1) - begin;
				if (last > first) {
					step[first + 1]++;
					step[last]--;
					time[last] += end - last;
				}
			}
		}
		steps.forEach((step, kind) => step.reduce((full, change, x) => {
			times[kind][x] += full + change;
			return full + change;
		}, 0));
		return times;
	}

	drawSpans(c, s, kinds, y, height) {
		const scale = this.width() / (this.to - this.from), left = this.label(), pixel = 1 / scale;
		for (let i = spanAfter(s, this.from); i < s.n && s.begin[i] < this.to;) {
			const x = Math.max(left + (s.begin[i] - this.from) * scale, left);
			const end = Math.min(left + (s.end[i] - this.from) * scale, left + this.width());
			c.fillStyle = this.colors[kinds[s.state[i]]];
			c.fillRect(x, y, Math.max(end - x, 1), height);
			if (end - x >= 1) {
				i++;
				continue;
			}
			// What else lies in this pixel is not visible.
			const next = spanAfter(s, this.from + (Math.floor(x - left) + 1) * pixel);
			i = next > i ? next : i + 1;
		}
	}

	drawArrows(c, first, last, top) {
		if (!this.selected?.lane || this.data.arrows === undefined)
			return;
		this.arrows ||= decodeArrows(this.data.arrows);
		const y = new Map();
		for (let i = first; i < last; i++)
			if (this.rows[i].lane)
				y.set(this.rows[i].index, (i + 0.5) * Timeline.ROW - top);
		const own = this.selected.index;
		c.strokeStyle = this.colors.link;
		let drawn = 0;
		for (const arrow of this.arrows) {
			if (arrow.time < this.from || (arrow.from !== own && arrow.to !== own))
				continue;
			if (arrow.time > this.to || drawn === 500)
				break;
			const from = y.get(arrow.from), to = y.get(arrow.to), x = this.xOf(arrow.time);
			if (from === undefined || to === undefined)
				continue;
			c.beginPath();
			c.moveTo(x, from);
			c.lineTo(x, to);
			c.lineTo(x - 3, to + (to > from ? -5 : 5));
			c.stroke();
			drawn++;
		}
	}

	drawOverview() {
		const c = this.prepare(this.overview, 56), width = this.overview.clientWidth, { colors, data } = this;
		const curve = (name, color) => {
			const points = (this.points ||= {})[name] ||= decodePoints(data.curves[name]?.points), most = Math.max(1, ...points.map(p => p.most));
			c.fillStyle = color;
			c.globalAlpha = 0.55;
			points.forEach((p, i) => {
				const x = p.time / this.whole * width, end = (points[i + 1]?.time ?? this.whole) / this.whole * width;
				c.fillRect(x, 54 - p.most / most * 50, Math.max(end - x, 1), p.most / most * 50);
			});
			c.globalAlpha = 1;
			return most;
		};
		const heap = curve("heap", colors.gc), runnable = curve("runnable", colors.runnable);
		c.fillStyle = colors.text;
		c.fillText(`heap up to ${amountText(heap, "bytes")}, runnable goroutines up to ${runnable}`, 6, 9);
		const x = this.from / this.whole * width, end = this.to / this.whole * width;
		c.strokeStyle = colors.link;
		c.strokeRect(x + 0.5, 0.5, Math.max(end - x - 1, 2), 55);
	}
}
