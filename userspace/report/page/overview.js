"use strict";
// The overview of the whole trace: goroutines by state, threads in run queues and the heap over time, and the visible range. A point of a
// curve has the least, the greatest and the mean value up to the next one: the area is the mean, the line the
// greatest. The legend says what is drawn, and its buttons show or hide a curve.
class Overview {
	static PANELS = [
		{ title: "Goroutines", curves: [["waiting", "waiting"], ["runnable", "runnable"], ["syscall", "syscall"], ["running", "running"]] },
		{ title: "Threads waiting for a CPU", curves: [["runqueue", "cpu-wait"]] },
		{ title: "Heap", curves: [["heap", "heap"], ["goal", "goal"]], unit: "bytes" },
	];
	static HEIGHT = 48; // of a panel

	constructor(parent, data, whole, choose) {
		this.whole = whole;
		this.choose = choose;
		this.panels = Overview.PANELS.map(panel => ({
			...panel, curves: panel.curves.filter(([name]) => data.curves?.[name]).map(([name, kind]) => this.makeCurve(data.curves[name], kind)),
		})).filter(panel => panel.curves.length);
		this.hideHighest();
		this.canvas = add(parent, "canvas", undefined, { id: "overview", role: "img", "aria-label": this.label() });
		this.tip = new Tip();
		this.makeLegend(parent);
		this.addPointer();
	}

	makeCurve(curve, kind) {
		const points = decodePoints(curve.points);
		return { name: curve.name, unit: curve.unit, kind, points, most: points.reduce((most, p) => Math.max(most, p.most), 0), shown: true };
	}

	// Many goroutines that wait would make the others too low to be seen.
	hideHighest() {
		const [goroutines] = this.panels, waiting = goroutines?.curves.find(curve => curve.kind === "waiting");
		const others = goroutines?.curves.filter(curve => curve !== waiting) || [];
		if (waiting && others.length && waiting.most > 4 * Math.max(...others.map(curve => curve.most)))
			waiting.shown = false;
	}

	label() {
		const curves = this.panels.flatMap(panel => panel.curves);
		return "Overview of the whole trace. " + curves.map(curve => `${curve.name}: at most ${amountText(curve.most, curve.unit)}`).join("; ") +
			". Click to move the visible range.";
	}

	makeLegend(parent) {
		const legend = add(parent, "p", undefined, { class: "legend", role: "group", "aria-label": "Curves of the overview" });
		for (const curve of this.panels.flatMap(panel => panel.curves)) {
			const button = add(legend, "button", undefined, { type: "button", "aria-pressed": curve.shown, title: "Show or hide this curve" });
			add(button, "i", undefined, { style: `background: var(--${curve.kind})` });
			button.append(`${curve.name} (at most ${amountText(curve.most, curve.unit)})`);
			button.addEventListener("click", () => {
				curve.shown = !curve.shown;
				button.setAttribute("aria-pressed", curve.shown);
				this.draw(this.from, this.to);
			});
		}
	}

	addPointer() {
		const timeAt = e => e.offsetX / this.canvas.clientWidth * this.whole;
		this.canvas.addEventListener("pointerdown", e => this.choose(timeAt(e)));
		this.canvas.addEventListener("pointermove", e => {
			if (e.buttons)
				this.choose(timeAt(e));
			this.tip.show(this.linesAt(timeAt(e)), e.clientX, e.clientY);
		});
		this.canvas.addEventListener("pointerleave", () => this.tip.hide());
	}

	// The values at a time: those of the last point before it
	linesAt(time) {
		const lines = [timeText(time)];
		for (const curve of this.panels.flatMap(panel => panel.curves)) {
			const next = curve.points.findIndex(p => p.time > time), point = curve.points.at(next < 0 ? -1 : next - 1);
			if (!point || next === 0)
				continue;
			const least = amountText(point.least, curve.unit), most = amountText(point.most, curve.unit);
			lines.push(`${curve.name}: ${least === most ? most : `${least} to ${most}`}`);
		}
		return lines;
	}

	draw(from, to) {
		this.from = from;
		this.to = to;
		const height = Overview.HEIGHT * Math.max(this.panels.length, 1), c = prepareCanvas(this.canvas, height), colors = readColors();
		const width = this.canvas.clientWidth, x = from / this.whole * width, end = to / this.whole * width;
		this.panels.forEach((panel, i) => this.drawPanel(c, colors, panel, Overview.HEIGHT * (i + 1)));
		c.fillStyle = colors.link;
		c.globalAlpha = 0.12;
		c.fillRect(x, 0, Math.max(end - x, 2), height);
		c.globalAlpha = 1;
		c.strokeStyle = colors.link;
		c.strokeRect(x + 0.5, 0.5, Math.max(end - x - 1, 2), height - 1);
	}

	drawPanel(c, colors, panel, bottom) {
		const shown = panel.curves.filter(curve => curve.shown), most = Math.max(1, ...shown.map(curve => curve.most));
		for (const curve of shown)
			this.drawCurve(c, colors[curve.kind], this.columnsOf(curve), bottom, (Overview.HEIGHT - 16) / most);
		c.fillStyle = colors.line;
		c.fillRect(0, bottom - 1, this.canvas.clientWidth, 1);
		c.fillStyle = colors.faint;
		c.fillText(`${panel.title}, up to ${amountText(most, panel.unit)}`, 6, bottom - Overview.HEIGHT + 8);
	}

	// The greatest and the mean value in each pixel column; kept until the width changes, since each zoom draws them
	// again
	columnsOf(curve) {
		const width = this.canvas.clientWidth, { points } = curve, scale = width / this.whole;
		if (curve.columns?.most.length === width)
			return curve.columns;
		const most = new Float64Array(width), mean = new Float64Array(width);
		points.forEach((p, i) => {
			const begin = p.time * scale, end = (points[i + 1]?.time ?? this.whole) * scale;
			for (let x = Math.min(Math.floor(begin), width - 1); x < Math.max(end, begin + 1e-9) && x < width; x++) {
				most[x] = Math.max(most[x], p.most);
				mean[x] += p.mean * Math.max(Math.min(end, x + 1) - Math.max(begin, x), 0);
			}
		});
		curve.columns = { most, mean };
		return curve.columns;
	}

	// The area below the means, and a line along the greatest values
	drawCurve(c, color, { most, mean }, bottom, scale) {
		c.fillStyle = color;
		c.globalAlpha = 0.4;
		mean.forEach((value, x) => c.fillRect(x, bottom - value * scale, 1, value * scale));
		c.globalAlpha = 1;
		most.forEach((value, x) => {
			const before = most[Math.max(x - 1, 0)];
			if (value || before)
				c.fillRect(x, bottom - Math.max(value, before) * scale - 0.5, 1, Math.abs(value - before) * scale + 1);
		});
	}
}
