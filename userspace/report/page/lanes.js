"use strict";
// Draws the lanes of the visible range on a canvas. Only rows that are visible are decoded and drawn, at most
// one rectangle per pixel. timeline.js extends this by elements, keys, the pointer and the selection.
class LaneView {
	static ROW = 20;
	static LABEL = 210;
	static STRIP = 14; // where the strip of the thread's state begins in a row
	static AXIS = 22;

	spansOf(lane) {
		const fetched = this.fetched.get(lane.id);
		if (fetched && fetched.from <= this.from && fetched.to >= this.to)
			return fetched;
		if (!this.decoded.has(lane.id))
			this.decoded.set(lane.id, { spans: decodeSpans(lane.spans), kernel: lane.kernel ? decodeSpans(lane.kernel) : null });
		return this.decoded.get(lane.id);
	}

	// ---- places ----

	width() { return Math.max(this.canvas.clientWidth - this.label(), 1); }
	label() { return this.canvas.clientWidth < 600 ? 110 : LaneView.LABEL; }
	timeAt(x) { return this.from + (x - this.label()) * (this.to - this.from) / this.width(); }
	xOf(time) { return this.label() + (time - this.from) * this.width() / (this.to - this.from); }

	// ---- drawing ----

	draw() {
		this.colors = readColors();
		const height = this.box.clientHeight, c = prepareCanvas(this.canvas, height), top = this.box.scrollTop;
		// The canvas is sticky: the space below it is what scrolls.
		this.space.style.height = Math.max(this.rows.length * LaneView.ROW - height, 0) + "px";
		const first = Math.floor(top / LaneView.ROW), last = Math.min(Math.ceil((top + height) / LaneView.ROW), this.rows.length);
		for (let i = first; i < last; i++)
			this.drawRow(c, this.rows[i], i * LaneView.ROW - top);
		this.drawArrows(c, first, last, top);
		this.drawMark(c, 0, height);
		this.drawAxis();
	}

	// The borders of the range that a link was for
	drawMark(c, y, height) {
		if (!this.mark)
			return;
		c.fillStyle = this.colors.link;
		for (const x of [this.xOf(this.mark.from), this.xOf(this.mark.to)])
			if (x >= this.label())
				c.fillRect(x - 0.5, y, 1, height);
	}

	// Times at distances of 1, 2 or 5 times a power of ten, as many as there is room for
	drawAxis() {
		const c = prepareCanvas(this.axis, LaneView.AXIS), most = (this.to - this.from) / (this.width() / 110);
		const power = 10 ** Math.floor(Math.log10(most)), step = Math.max([1, 2, 5, 10].find(n => n * power >= most) * power, 1);
		if (this.mark) {
			const left = Math.max(this.xOf(this.mark.from), this.label()), right = Math.max(this.xOf(this.mark.to), left);
			c.fillStyle = this.colors.link;
			c.fillRect(left, LaneView.AXIS - 4, Math.max(right - left, 2), 4);
		}
		for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
			const x = this.xOf(time);
			c.fillStyle = this.colors.line;
			c.fillRect(x, 0, 1, LaneView.AXIS);
			c.fillStyle = this.colors.faint;
			c.fillText(axisText(time, step), x + 4, LaneView.AXIS / 2 - 1);
		}
	}

	drawRow(c, row, y) {
		const label = this.label(), colors = this.colors;
		if (row.group) {
			const folded = row.group.folded && !this.search.value;
			c.fillStyle = colors.panel;
			c.fillRect(0, y, this.canvas.clientWidth, LaneView.ROW);
			c.save();
			if (folded) {
				this.drawGroup(c, row.group, y);
				c.beginPath();
				c.rect(0, y, label - 6, LaneView.ROW);
				c.clip();
			}
			c.fillStyle = row === this.selected ? colors.link : colors.text;
			c.fillText(`${folded ? "▸" : "▾"} ${row.group.title} (${row.n})`, 4, y + LaneView.ROW / 2);
			c.restore();
			return;
		}
		const decoded = this.spansOf(row.lane), kinds = decoded.kinds || this.kinds;
		this.drawSpans(c, decoded.spans, kinds, y + 2, decoded.kernel ? 11 : 15);
		if (decoded.kernel)
			this.drawSpans(c, decoded.kernel, kinds, y + LaneView.STRIP, 4);
		if (row === this.selected && this.interval)
			this.drawChosen(c, this.interval, y);
		c.fillStyle = row === this.selected ? colors.panel : colors.back;
		c.fillRect(0, y, label, LaneView.ROW);
		c.save();
		c.beginPath();
		c.rect(0, y, label - 6, LaneView.ROW);
		c.clip();
		c.fillStyle = row === this.selected ? colors.link : colors.text;
		c.fillText(row.name, 14, y + LaneView.ROW / 2);
		c.restore();
	}

	drawChosen(c, { spans, i }, y) {
		const x = this.xOf(spans.begin[i]);
		c.strokeStyle = this.colors.text;
		c.lineWidth = 2;
		c.strokeRect(x, y + 1, Math.max(this.xOf(spans.end[i]) - x, 3), LaneView.ROW - 2);
		c.lineWidth = 1;
	}

	// A folded group: for each pixel column, the time of its lanes by kind, as a part of the highest column.
	// Each kind is one area from the bottom, over which the kinds below it are drawn: a rectangle for each
	// column and kind takes several times as long.
	drawGroup(c, group, y) {
		const width = Math.floor(this.width()), times = this.timesOf(group, width);
		for (let kind = 1; kind < times.length; kind++)
			times[kind].forEach((part, x) => { times[kind][x] = part + times[kind - 1][x]; });
		const most = times[times.length - 1].reduce((a, b) => Math.max(a, b), 0) || 1;
		const left = this.label(), bottom = y + LaneView.ROW - 2, height = LaneView.ROW - 4;
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
				y.set(this.rows[i].index, (i + 0.5) * LaneView.ROW - top);
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
}
