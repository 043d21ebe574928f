"use strict";
// Reads the data, which the page contains or, with `gotrace view`, loads, and makes the sections.
const show = data => {
	const { trace } = data;
	setStates(data.states || []);
	addHelp(byId("switches"));
	if (trace)
		showTrace(trace);
	const findings = data.findings ? section("findings", "What dominated") : null;
	const timeline = data.lanes && data.lanes.length ? new Timeline(data) : null;
	const follow = link => {
		if (link.section)
			byId(link.section)?.scrollIntoView();
		else if (timeline)
			timeline.goTo(link);
	};
	if (findings)
		showFindings(findings, data.findings, follow);
	if (data.requests && data.requests.names.length)
		showRequests(data.requests, follow);
	if (data.goroutines)
		showGoroutines(data.goroutines, follow);
	for (const profile of data.profiles || [])
		showProfile(profile, data.strings);
	if (data.mmu && data.mmu.length)
		showUtilization(data.mmu);
	showLimits(data.limits || []);
	document.documentElement.dataset.ready = "yes";
};

addEventListener("error", e => { document.documentElement.dataset.error = e.message; });
addEventListener("unhandledrejection", e => { document.documentElement.dataset.error = e.reason; });
const load = async () => {
	const source = byId("gotrace-data").textContent;
	if (source)
		return JSON.parse(source);
	const answer = await fetch("data.json");
	if (!answer.ok)
		throw new Error(await answer.text());
	return answer.json();
};

addTheme(byId("switches"));
addEventListener("DOMContentLoaded", () => load().then(show).catch(error => {
	document.documentElement.dataset.error = error.message;
	add(byId("page"), "p", "Cannot show the trace: " + error.message, { role: "alert" });
}));
