"use strict";
// A tooltip of a canvas, whose parts are no elements: timeline.js and overview.js show it at the pointer, and the
// timeline at the interval that a key selects.
class Tip {
	constructor() {
		this.element = add(document.body, "div", undefined, { class: "tip", role: "tooltip" });
		this.element.hidden = true;
	}

	// Lines of text, the first one bold, next to a place of the window
	show(lines, x, y) {
		const { element } = this;
		element.replaceChildren();
		lines.forEach((line, i) => add(element, i ? "div" : "strong", line));
		element.hidden = false;
		const { offsetWidth: width, offsetHeight: height } = element;
		element.style.left = Math.max(Math.min(x + 12, innerWidth - width - 4), 4) + "px";
		element.style.top = (y + 16 + height > innerHeight ? Math.max(y - height - 8, 4) : y + 16) + "px";
	}

	hide() { this.element.hidden = true; }
}
