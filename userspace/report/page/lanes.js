"use strict";
// Draws the lanes of the visible range on a canvas. Only rows that are visible are decoded and drawn. In each
// column of pixels, the height of a state is its share of the time. timeline.js extends this by elements, keys, the pointer and the selection.
class LaneView {
	static ROW = 20;
	static LABEL = 210;
	static STRIP = 14; // where the strip of the thread's state begins in a row
	static AXIS = 22;
	static NOTHING = 1e-12; // of a pixel: what remains of sums that are 0 is less

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
		const { spans, kernel } = this.spansOf(row.lane);
		this.drawStates(c, this.timesOf([spans]), 1, y + 2, kernel ? 11 : 15);
		if (kernel)
			this.drawStates(c, this.timesOf([kernel]), 1, y + LaneView.STRIP, 4);
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

	// A folded group: the times of its lanes. CPUs, threads and Ps are there all the time, so the full height is
	// their number; goroutines and tasks come and go, so it is the greatest number at a time.
	drawGroup(c, group, y) {
		const always = ["cpu", "thread", "p"].includes(group.lanes[0].lane.kind);
		const times = this.timesOf(group.lanes.map(({ lane }) => this.spansOf(lane).spans));
		this.drawStates(c, times, always ? group.lanes.length : 0, y + 2, LaneView.ROW - 5);
	}

	// The states are stacked from the bottom. Parts of a pixel are added up, so that the ink of a state is exactly
	// its share. `whole`: what has the full height; 0: the greatest sum
	drawStates(c, times, whole, y, height) {
		const left = this.label(), bottom = y + height, width = Math.floor(this.width()), sums = new Float64Array(width);
		times.forEach(time => time?.forEach((part, x) => { sums[x] += part; }));
		const scale = height / (whole || sums.reduce((a, b) => Math.max(a, b), 0) || 1), below = new Float64Array(width);
		c.clearRect(left, y, width, height);
		c.globalCompositeOperation = "lighter";
		times.forEach((time, state) => {
			c.fillStyle = this.colors[STATES[state].kind];
			for (let x = 0, end; time && x < width; x = end) {
				const part = time[x], base = below[x];
				below[x] += part;
				for (end = x + 1; end < width && time[end] === part && below[end] === base; end++)
					below[end] += part;
				if (part > LaneView.NOTHING)
					c.fillRect(left + x, bottom - (base + part) * scale, end - x, part * scale);
			}
		});
		c.globalCompositeOperation = "source-over";
		// What is too short to be seen gets a mark below.
		c.fillStyle = this.colors.faint;
		sums.forEach((sum, x) => {
			if (sum > LaneView.NOTHING && sum * scale < 0.5)
				c.fillRect(left + x, bottom, 1, 1);
		});
	}

	// For each state that occurs, how many of the lanes with these spans are in it in each column of pixels. A span
	// costs the same however long it is: steps has the changes of the number of spans that fill columns.
	timesOf(lanes) {
		const width = Math.floor(this.width()), column = (this.to - this.from) / width;
		const times = STATES.map(() => null), steps = STATES.map(() => null);
		for (const s of lanes) {
			for (let i = spanAfter(s, this.from); i < s.n && s.begin[i] < this.to; i++) {
				const begin = Math.max(s.begin[i] - this.from, 0) / column, end = Math.min(s.end[i] - this.from, this.to - this.from) / column;
				const first = Math.floor(begin), last = Math.floor(end);
				for (let k = s.mix[i]; k < s.mix[i + 1]; k++) {
					const state = s.mixState[k], share = s.mixShare[k];
					const time = times[state] ||= new Float64Array(width), step = steps[state] ||= new Float64Array(width);
					// What lies beyond the last column is not stored.
					time[first] += share * (Math.min(end, first + 1) - begin);
					if (last > first) {
						step[first + 1] += share;
						step[last] -= share;
						time[last] += share * (end - last);
					}
				}
			}
		}
		steps.forEach((step, state) => step?.reduce((full, change, x) => {
			times[state][x] += full + change;
			return full + change;
		}, 0));
		return times;
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
