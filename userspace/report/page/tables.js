"use strict";
// Shows the findings, limits and tables of the data that the page contains. All texts of the trace
// become text nodes, never HTML.
(() => {
	const source = document.getElementById("gotrace-data").textContent;
	const page = document.getElementById("page");

	const add = (parent, name, text) => {
		const element = document.createElement(name);
		if (text !== undefined)
			element.textContent = text;
		return parent.appendChild(element);
	};
	const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" :
		ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(3) + " µs";

	const table = (parent, titles, rows) => {
		const box = add(parent, "div");
		box.className = "table";
		const t = add(box, "table"), head = add(add(t, "thead"), "tr"), body = add(t, "tbody");
		for (const title of titles)
			add(head, "th", title).scope = "col";
		for (const row of rows) {
			const tr = add(body, "tr");
			for (const cell of row)
				add(tr, "td", cell);
		}
	};
	const section = (id, title) => {
		const s = add(page, "section");
		s.id = id;
		add(s, "h2", title);
		return s;
	};

	const show = data => {
		const { trace, goroutines, requests } = data;
		if (trace)
			add(page, "p", `${trace.file}: ${time(trace.ns)}, ${trace.events} events`);
		const findings = add(section("findings", "What dominated"), "ul");
		for (const finding of data.findings || [])
			add(findings, "li", `${finding.text} (${finding.detail})`);
		if (requests && requests.names.length)
			table(section("requests", "Requests"),
			      ["name", "count", "mean", "p50", "p90", "p99", "max"],
			      requests.names.map(r => [r.name || "(no name)", r.count, time(r.mean), time(r.p50), time(r.p90), time(r.p99), time(r.max)]));
		if (goroutines)
			table(section("goroutines", "Goroutines by start function"),
			      ["name", "count", "total", ...goroutines.parts],
			      goroutines.functions.map(f => [f.name || "(unknown)", f.count, time(f.total), ...f.parts.map(time)]));
		const limits = add(section("limits", "Limits"), "ul");
		for (const limit of data.limits)
			add(limits, "li", limit);
	};

	if (source)
		show(JSON.parse(source));
	else
		fetch("data.json").then(answer => answer.json()).then(show);
})();
