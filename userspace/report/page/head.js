"use strict";
// The head of the page: which trace it is, the switch between light and dark, and the help.
const THEME = "gotrace-theme";

// A page from a file, or with cookies disabled, may have no storage.
const stored = value => {
	try {
		if (value)
			sessionStorage.setItem(THEME, value);
		return sessionStorage.getItem(THEME);
	} catch {
		return null;
	}
};

// Light or dark: that of the system until the switch is used, then the chosen one for this session.
const addTheme = parent => {
	const system = matchMedia("(prefers-color-scheme: dark)"), button = add(parent, "button", "", { type: "button", id: "theme" });
	let chosen = stored();
	const apply = () => {
		const theme = ["light", "dark"].includes(chosen) ? chosen : system.matches ? "dark" : "light", other = theme === "dark" ? "light" : "dark";
		document.documentElement.dataset.theme = theme;
		button.textContent = theme === "dark" ? "☀ Light" : "☾ Dark";
		button.setAttribute("aria-label", `Switch to the ${other} theme`);
		dispatchEvent(new Event("themechange"));
	};
	button.addEventListener("click", () => {
		chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
		stored(chosen);
		apply();
	});
	system.addEventListener("change", apply);
	apply();
};

const KEYS = [
	["w, +", "zoom in"], ["s, −", "zoom out"], ["a, d", "move earlier, later"], ["← →", "move a little"], ["Home", "show the whole trace"],
	["↑ ↓", "select a lane"], [", .", "select the interval before, after, in that lane"], ["Enter", "fold or unfold a group"],
	["/", "search lanes"], ["?", "this help"],
];
const READING = [
	"Begin with the sentences under “What dominated”; a link in one shows an example on the timeline.",
	"Each row of the timeline is a goroutine, a P, a thread or a CPU; its color is the state at that time, named when you point at it. A CPU without a color is idle.",
	"Where several intervals share a pixel, the height of each color is the share of the time. A gray dot below marks intervals that are too short for that: zoom in.",
	"A goroutine that is runnable waits for a P, which Go has as many of as GOMAXPROCS. One that is running may still wait for a CPU, which the kernel gives to its thread: the thin strip below it shows that.",
	"With the mouse: drag moves, Ctrl and the wheel zoom, a double click zooms to an interval, a click on a lane shows the goroutines that it woke and was woken by. The address of the page then is a link to what you see.",
];

const addHelp = parent => {
	const button = add(parent, "button", "? Help", { type: "button", id: "help-button", "aria-haspopup": "dialog", "aria-keyshortcuts": "?" });
	const dialog = add(document.body, "dialog", undefined, { id: "help", "aria-labelledby": "help-title" });
	add(dialog, "h2", "How to read this page", { id: "help-title" });
	for (const text of READING)
		add(dialog, "p", text);
	add(dialog, "h2", "States");
	const states = add(add(dialog, "table"), "tbody");
	for (const state of STATES) {
		const row = add(states, "tr"), name = add(row, "th", undefined, { scope: "row", class: "legend" });
		add(name, "i", undefined, { style: `background: var(--${state.kind})` });
		name.append(state.name);
		add(row, "td", state.meaning);
	}
	add(dialog, "h2", "Keys, when the timeline has the focus");
	const body = add(add(dialog, "table"), "tbody");
	for (const [keys, effect] of KEYS) {
		const row = add(body, "tr");
		add(add(row, "th", undefined, { scope: "row" }), "kbd", keys);
		add(row, "td", effect);
	}
	add(add(dialog, "form", undefined, { method: "dialog" }), "button", "Close");
	const open = () => dialog.open || dialog.showModal();
	button.addEventListener("click", open);
	addEventListener("keydown", e => {
		if (e.key === "?" && !e.ctrlKey && !e.metaKey && !(e.target instanceof HTMLInputElement))
			open();
	});
};

const showTrace = trace => {
	const line = byId("trace"), { file, program } = trace;
	document.title = `gotrace report: ${program || file}`;
	const facts = [program && file, trace.go_version || (trace.go && `trace format of Go ${trace.go}`), timeText(trace.ns),
		trace.events !== undefined && `${trace.events.toLocaleString("en")} events`,
		trace.start_wall && `started ${trace.start_wall.slice(0, 19).replace("T", " ")} UTC`,
		trace.kernel === false && "without kernel events"];
	add(line, "strong", program || file);
	for (const fact of facts.filter(Boolean))
		add(line, "span", fact);
};
