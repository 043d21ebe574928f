"use strict";
// Flame graphs of the profiles, and the curve of the minimum mutator utilization.
const FLAME_WIDTH_MIN = 0.001; // of the whole: narrower frames are left out

// The tree of nodes in preorder: depth, frame, self
const decodeTree = (profile, strings) => {
	const numbers = new Numbers(profile.nodes), root = { name: "all", depth: -1, self: 0, total: 0, children: [] }, path = [root];
	while (numbers.more) {
		const depth = numbers.next(), name = strings[profile.frames[numbers.next()]] || "(unknown)", self = numbers.next();
		const node = { name, depth, self, total: self, children: [] };
		path.length = depth + 1;
		path[depth].children.push(node);
		path.push(node);
		for (let i = 0; i <= depth; i++)
			path[i].total += self;
	}
	return root;
};

const PROFILES = { cpu: "CPU samples", offcpu: "Threads without a CPU", wall: "Time of goroutines by state" };

const showProfile = (profile, strings) => {
	const s = section("profile-" + profile.kind, (PROFILES[profile.kind] || profile.kind) + (profile.unit === "samples" ? " (rate unknown)" : "")), root = decodeTree(profile, strings);
	const tools = add(s, "div", undefined, { class: "tools" }), box = add(s, "div", undefined, { class: "flame" });
	const search = add(tools, "input", undefined, { type: "search", placeholder: "Search functions", "aria-label": "Search functions" });
	let shown = root;
	const draw = top => {
		shown = top;
		const wanted = search.value.toLowerCase();
		let deepest = 0;
		box.replaceChildren();
		const place = (node, left) => {
			const width = node.total / top.total, level = node.depth - top.depth;
			if (width < FLAME_WIDTH_MIN)
				return;
			deepest = Math.max(deepest, level);
			const value = profile.unit === "ns" ? timeText(node.total) : `${amountText(node.total, profile.unit)} ${profile.unit}`;
			const found = wanted && node.name.toLowerCase().includes(wanted);
			const color = found ? "#862e9c; color: #fff" : `hsl(${20 + node.name.length * 37 % 35} 80% 70%)`;
			add(box, "button", node.name, {
				type: "button", title: `${node.name}: ${value}, ${(100 * node.total / root.total).toFixed(1)} %`,
				style: `left: ${100 * left}%; width: ${100 * width}%; top: ${18 * level}px; background: ${color}`,
			}).addEventListener("click", () => draw(node === top ? root : node));
			for (const child of node.children) {
				place(child, left);
				left += child.total / top.total;
			}
		};
		place(top, 0);
		box.style.height = 18 * (deepest + 1) + 2 + "px";
	};
	search.addEventListener("input", () => draw(shown));
	draw(root);
};

// The utilization by the length of the window, which is on a logarithmic scale
const showUtilization = mmu => {
	const s = section("mmu", "Minimum mutator utilization"), space = "http://www.w3.org/2000/svg";
	add(s, "p", "The least share of the CPUs that the program itself had in any window of that length; the rest went to the garbage collection.",
	    { class: "detail" });
	const svg = s.appendChild(document.createElementNS(space, "svg"));
	const least = Math.log(mmu[0][0]), most = Math.log(mmu[mmu.length - 1][0]);
	const x = ns => 40 + 540 * (Math.log(ns) - least) / (most - least || 1), y = share => 10 + 140 * (1 - share);
	const part = (name, attributes, text) => {
		const element = svg.appendChild(document.createElementNS(space, name));
		for (const key in attributes)
			element.setAttribute(key, attributes[key]);
		if (text)
			element.textContent = text;
	};
	svg.setAttribute("viewBox", "0 0 600 180");
	svg.setAttribute("width", 600);
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", mmu.map(([ns, share]) => `${timeText(ns)}: ${(100 * share).toFixed(0)} %`).join(", "));
	for (const share of [0, 0.5, 1])
		part("text", { x: 4, y: y(share) + 4 }, 100 * share + " %");
	part("polyline", { points: mmu.map(([ns, share]) => `${x(ns)},${y(share)}`).join(" "), fill: "none", stroke: "var(--link)", "stroke-width": 2 });
	for (const [ns] of mmu.filter((_, i) => i % Math.ceil(mmu.length / 6) === 0))
		part("text", { x: x(ns) - 15, y: 172 }, timeText(ns));
};
