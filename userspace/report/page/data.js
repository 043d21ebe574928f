"use strict";
// The data of the page: decoding, formatting, and creating elements. Texts of the trace are hostile: they
// become text nodes, never HTML. docs/report.md describes the data.
const byId = id => document.getElementById(id);

const add = (parent, name, text, attributes) => {
	const element = document.createElement(name);
	if (text !== undefined)
		element.textContent = text;
	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	return parent.appendChild(element);
};

const timeText = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" :
	ns >= 1e3 ? (ns / 1e3).toFixed(3) + " µs" : Math.round(ns) + " ns";

// A time of an axis whose marks are `step` apart: as many digits as differ
const axisText = (ns, step) => {
	const [unit, name] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : step >= 100 ? [1e3, "µs"] : [1, "ns"];
	return `${(ns / unit).toFixed(step < unit ? 1 : 0)} ${name}`;
};

const amountText = (value, unit) => {
	if (unit !== "bytes")
		return String(value);
	const power = Math.min(Math.floor(Math.log2(Math.max(value, 1)) / 10), 4);
	return (value / 2 ** (10 * power)).toFixed(power ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][power];
};

// Calls each with the numbers of base64 text, a reader of unsigned LEB128.
class Numbers {
	constructor(text) {
		const bytes = atob(text || "");
		this.bytes = new Uint8Array(bytes.length);
		for (let i = 0; i < bytes.length; i++)
			this.bytes[i] = bytes.charCodeAt(i);
		this.at = 0;
	}
	get more() { return this.at < this.bytes.length; }
	next() { // up to 2^53
		let value = 0, factor = 1, byte;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte & 128);
		return value;
	}
}

// Spans of a lane as arrays: begin, end (ns), state, detail, how many intervals (1: not merged). The states of
// span i, each with its share of the time, are mixState[k] and mixShare[k] for k from mix[i] to mix[i + 1].
const SPAN_WHOLE = 10000;
const decodeSpans = text => {
	const numbers = new Numbers(text), bytes = numbers.bytes.length, most = bytes >> 2;
	const s = {
		n: 0, begin: new Float64Array(most), end: new Float64Array(most), state: new Uint8Array(most),
		detail: new Uint32Array(most), count: new Uint32Array(most),
		mix: new Uint32Array(most + 1), mixState: new Uint8Array(bytes), mixShare: new Float32Array(bytes),
	};
	for (let time = 0, mix = 0; numbers.more; s.mix[++s.n] = mix) {
		s.begin[s.n] = time += numbers.next();
		s.end[s.n] = time += numbers.next();
		const state = numbers.next();
		s.state[s.n] = Math.floor(state / 2);
		s.detail[s.n] = numbers.next();
		s.count[s.n] = state % 2 ? numbers.next() : 1;
		for (let i = 0, bits = state % 2 ? numbers.next() : 0; bits; i++, bits >>= 1)
			if (bits & 1) {
				s.mixState[mix] = i;
				s.mixShare[mix++] = numbers.next() / SPAN_WHOLE;
			}
		if (state % 2 === 0) {
			s.mixState[mix] = s.state[s.n];
			s.mixShare[mix++] = 1;
		}
	}
	return s;
};

// The first span that ends after a time
const spanAfter = (s, time) => {
	let low = 0, high = s.n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (s.end[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
};

const decodeArrows = text => {
	const numbers = new Numbers(text), arrows = [];
	for (let time = 0; numbers.more;)
		arrows.push({ time: time += numbers.next(), from: numbers.next(), to: numbers.next(), reason: numbers.next() });
	return arrows;
};

const decodePoints = text => {
	const numbers = new Numbers(text), points = [];
	for (let time = 0; numbers.more;)
		points.push({ time: time += numbers.next(), least: numbers.next(), most: numbers.next(), mean: numbers.next() / 1000 });
	return points;
};

// The states of the data, each of which has a name, a meaning and a color in either theme. Their colors are
// variables of the style sheet, named after their kinds.
let STATES = [];
const setStates = states => {
	STATES = states;
	const rule = theme => states.map(state => `--${state.kind}: ${state[theme]};`).join(" ");
	add(document.head, "style", `:root { ${rule("light")} } :root[data-theme="dark"] { ${rule("dark")} }`);
};
const kindOfPart = part => STATES.find(state => state.part === part)?.kind || "idle";

const readColors = () => {
	const style = getComputedStyle(document.documentElement), colors = {};
	for (const name of [...STATES.map(state => state.kind), "heap", "goal", "text", "faint", "line", "back", "panel", "link"])
		colors[name] = style.getPropertyValue("--" + name).trim();
	return colors;
};

// Makes the canvas as wide as its element, and returns its context, cleared, with a unit of a CSS pixel.
const prepareCanvas = (canvas, height) => {
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
};

// A legend of the states, in which those with the same name and color are one
const addLegend = parent => {
	const legend = add(parent, "p", undefined, { class: "legend" });
	STATES.forEach((state, i) => {
		if (STATES.findIndex(other => other.name === state.name) < i)
			return;
		const item = add(legend, "span", undefined, { title: state.meaning });
		add(item, "i", undefined, { style: `background: var(--${state.kind})` });
		item.append(state.name);
	});
	return legend;
};

const section = (id, title) => {
	const s = add(byId("page"), "section", undefined, { id });
	add(s, "h2", title);
	add(byId("sections"), "a", title, { href: "#" + id });
	return s;
};
