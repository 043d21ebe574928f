"use strict";
// The findings and the tables, whose texts are part of the document, so that a browser's search finds them.
const ROWS_AT_ONCE = 200;
const ROWS_SEARCHED = 20; // longer tables have a search

const showFindings = (parent, findings, follow) => {
	const list = add(parent, "ul");
	for (const finding of findings) {
		const item = add(list, "li"), bar = add(item, "span", undefined, { class: "share", "aria-hidden": "true" });
		add(bar, "i", undefined, { style: `width: ${100 * Math.min(finding.share, 1)}%` });
		bar.hidden = !finding.share;
		item.append(finding.text + " ");
		add(item, "span", `(${finding.detail}) `, { class: "detail" });
		for (const link of finding.links || []) {
			add(item, "button", link.text, { class: "link", type: "button" }).addEventListener("click", () => follow(link));
			item.append(" ");
		}
	}
};

const splitBar = (cell, names, parts) => {
	const bar = add(cell, "div", undefined, { class: "bar", role: "img" }), sum = parts.reduce((a, b) => a + b, 0) || 1;
	const texts = [];
	parts.forEach((ns, i) => {
		if (!ns)
			return;
		add(bar, "i", undefined, { style: `width: ${ns / sum * 100}%; background: var(--${kindOfPart(names[i])})` });
		texts.push(`${names[i].replaceAll("_", " ")} ${(ns / sum * 100).toFixed(1)} %`);
	});
	bar.title = texts.join(", ");
	bar.setAttribute("aria-label", bar.title);
};

// A column: title, value of a row (to sort by), and text or a function that fills the cell. `omitted` is a text
// about rows that the data do not have.
const sortedTable = (parent, columns, rows, clicked, omitted) => {
	const [names] = columns, search = rows.length > ROWS_SEARCHED && add(add(parent, "div", undefined, { class: "tools" }), "input", undefined,
		{ type: "search", placeholder: `Search ${rows.length} rows by ${names.title}`, "aria-label": `Search rows by ${names.title}` });
	const box = add(parent, "div", undefined, { class: "table", tabindex: "0", role: "region", "aria-label": `Table by ${names.title}` });
	const table = add(box, "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
	const rest = add(parent, "p", "", { class: "detail", "aria-live": "polite" }), count = add(rest, "span");
	const more = add(rest, "button", "", { class: "link", type: "button" });
	let shown = ROWS_AT_ONCE, sorted = rows;
	const fillRow = row => {
		const tr = add(body, "tr");
		for (const column of columns) {
			const cell = add(tr, "td");
			if (column.fill)
				column.fill(cell, row);
			else if (column === names && clicked)
				add(cell, "button", column.text(row), { class: "link", type: "button" }).addEventListener("click", () => clicked(row));
			else
				cell.textContent = column.text(row);
			if (column === names)
				cell.title = column.text(row);
		}
	};
	const fill = () => {
		const wanted = search ? search.value.toLowerCase() : "";
		const found = wanted ? sorted.filter(row => names.text(row).toLowerCase().includes(wanted)) : sorted, n = Math.min(shown, found.length);
		body.replaceChildren();
		found.slice(0, n).forEach(fillRow);
		const what = wanted ? `${found.length} of ${rows.length} rows match` : `${rows.length} rows`;
		count.textContent = [n < found.length || wanted ? `${what}, ${n} are shown. ` : "", omitted || ""].join("");
		more.textContent = `Show ${Math.min(ROWS_AT_ONCE, found.length - n)} more`;
		more.hidden = n === found.length;
	};
	more.addEventListener("click", () => { shown += ROWS_AT_ONCE; fill(); });
	if (search)
		search.addEventListener("input", () => { shown = ROWS_AT_ONCE; fill(); });
	for (const column of columns) {
		const th = add(head, "th", undefined, { scope: "col" });
		let descending = true;
		add(th, "button", column.title, { type: "button", title: "Sort" }).addEventListener("click", () => {
			const order = descending ? -1 : 1;
			sorted = [...rows].sort((a, b) => order * (column.value(a) > column.value(b) ? 1 : column.value(a) < column.value(b) ? -1 : 0));
			for (const other of head.children)
				other.removeAttribute("aria-sort");
			th.setAttribute("aria-sort", descending ? "descending" : "ascending");
			descending = !descending;
			fill();
		});
	}
	fill();
};

const textColumn = (title, value, text = row => String(value(row))) => ({ title, value, text });
const timeColumn = (title, value) => ({ title, value, text: row => timeText(value(row)) });
const partColumns = (names, rows) => [
	{ title: "split", value: row => row.parts[0], fill: (cell, row) => splitBar(cell, names, row.parts) },
	...names.map((name, i) => [name, i]).filter(([, i]) => rows.some(row => row.parts[i]))
		.map(([name, i]) => timeColumn(name.replaceAll("_", " "), row => row.parts[i])),
];

const showGoroutines = (goroutines, follow) => {
	const s = section("goroutines", "Goroutines");
	add(s, "h3", "By start function");
	sortedTable(s, [
		textColumn("start function", f => f.name || "(unknown)"), textColumn("count", f => f.count),
		timeColumn("total", f => f.total), ...partColumns(goroutines.parts, goroutines.functions),
	], goroutines.functions);
	add(s, "h3", "Each goroutine");
	sortedTable(s, [
		textColumn("goroutine", g => g.id, g => `G${g.id} ${g.name || "(unknown)"}`), timeColumn("from", g => g.from),
		timeColumn("total", g => g.total ?? g.to - g.from), ...partColumns(goroutines.parts, goroutines.list),
	], goroutines.list, g => follow({ from: g.from, to: g.to, lane: "g:" + g.id }),
	goroutines.omitted ? `${goroutines.omitted} goroutines that existed for a shorter time are not in this report.` : "");
};

// Bars of a histogram whose buckets are [least ns, count]
const histogram = (cell, buckets) => {
	const most = Math.max(1, ...buckets.map(b => b[1])), width = 8 * buckets.length;
	const svg = cell.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
	svg.setAttribute("viewBox", `0 0 ${Math.max(width, 8)} 24`);
	svg.setAttribute("width", Math.max(width, 8));
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", buckets.map(b => `from ${timeText(b[0])}: ${b[1]}`).join(", "));
	buckets.forEach(([, count], i) => {
		const bar = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
		const height = count ? Math.max(24 * count / most, 1) : 0;
		for (const [key, value] of Object.entries({ x: 8 * i, y: 24 - height, width: 7, height, fill: "var(--link)" }))
			bar.setAttribute(key, value);
	});
};

const showRequests = (requests, follow) => {
	const s = section("requests", "Requests"), { names } = requests;
	sortedTable(s, [
		textColumn("name", r => r.name || "(no name)"), textColumn("count", r => r.count),
		...["mean", "p50", "p90", "p99", "max"].map(key => timeColumn(key, r => r[key])),
		{ title: "durations", value: r => r.max, fill: (cell, r) => histogram(cell, r.histogram || []) },
		...partColumns(requests.parts, names),
	], names);
	const worst = names.flatMap(r => (r.worst || []).map(w => ({ ...w, name: r.name || "(no name)" })))
		.sort((a, b) => (b.to - b.from) - (a.to - a.from));
	if (!worst.length)
		return;
	add(s, "h3", "The slowest ones");
	sortedTable(s, [
		textColumn("request", w => `${w.name} (task ${w.id})`), timeColumn("from", w => w.from),
		timeColumn("duration", w => w.to - w.from), ...partColumns(requests.parts, worst),
	], worst, w => follow({ from: w.from, to: w.to, lane: w.goroutine ? "g:" + w.goroutine : undefined }));
};

const showLimits = limits => {
	const list = add(section("limits", "Limits"), "ul");
	for (const limit of limits)
		add(list, "li", limit);
	if (!limits.length)
		add(list, "li", "Nothing is missing.");
};
