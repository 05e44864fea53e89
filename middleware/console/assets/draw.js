// Small charts, as SVG that stretches to its box.

import { makeSVG, set } from "./dom.js";

const high = 24; // units from bottom to top

// Bars shows how often something happened, step by step. Layers are drawn one
// over the other, from the bottom.
export class Bars {
  constructor(layers, label) {
    this.paths = layers.map((name) => makeSVG("path", { class: name }));
    this.element = makeSVG("svg", { class: "bars", preserveAspectRatio: "none", "aria-hidden": "true" }, ...this.paths);
    if (label) set(this.element, { role: "img", "aria-label": label, "aria-hidden": null });
  }

  // show draws one list of numbers a layer, all of one scale. It returns the top
  // of that scale.
  show(lists) {
    const top = Math.max(1, ...lists.flat());
    set(this.element, { viewBox: `0 0 ${lists[0].length} ${high}` });
    lists.forEach((list, i) => set(this.paths[i], { d: barsPath(list, top) }));
    return top;
  }
}

function barsPath(list, top) {
  return list
    .map((n, i) => {
      if (n === 0) return "";
      const h = Math.max(0.7, (n / top) * (high - 1));
      return `M${i + 0.1} ${high}v${-round(h)}h.8V${high}z`;
    })
    .join("");
}

const round = (n) => Math.round(n * 100) / 100;

// How high the band of a state is, so that its shape tells it too.
const heights = { closed: 2, "half-open": 12, open: 22, "forced-open": 22, "forced-closed": 6, "metrics-only": 6 };

const wide = 100; // units of the strip

// Strip shows in which state a breaker was, over the last stretch of time.
export class Strip {
  constructor(window) {
    this.window = window;
    this.element = makeSVG("svg", { class: "strip", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img" });
  }

  show(now, state, changes, label) {
    set(this.element, { "aria-label": label });
    const parts = segments(now - this.window, now, state, changes);
    while (this.element.childNodes.length > parts.length) this.element.lastChild.remove();
    while (this.element.childNodes.length < parts.length) this.element.append(makeSVG("rect"));
    parts.forEach((part, i) => {
      const from = ((part.from - now) / this.window + 1) * wide;
      const to = ((part.to - now) / this.window + 1) * wide;
      const h = heights[part.state] ?? 2;
      set(this.element.childNodes[i], {
        class: part.state || "unknown", x: round(from), y: high - h, width: round(Math.max(to - from, 0.8)), height: h,
      });
    });
  }
}

// segments cuts the time from start to now into stretches of one state. The
// state now is what the breaker says, not what the last transition said: an
// opening ends by itself, and nobody is told before a call comes.
export function segments(start, now, state, changes) {
  const parts = [];
  let from = start;
  let before = changes[0]?.from ?? state;
  for (const change of changes) {
    if (change.at > start) {
      parts.push({ from, to: change.at, state: before });
      from = change.at;
    }
    before = change.to;
  }
  const last = changes.at(-1);
  const over = last && last.to === "open" && state === "half-open" ? last.at + (last.wait_ms ?? 0) : null;
  if (over !== null && over > from && over < now) {
    parts.push({ from, to: over, state: "open" });
    from = over;
    before = state;
  }
  parts.push({ from, to: now, state: before === state || !state ? before : state });
  return parts.filter((part) => part.to > part.from);
}

// Marks shows how each of several things is, side by side: the higher, the more
// it needs a look.
export class Marks {
  constructor() {
    this.element = makeSVG("svg", { class: "strip", preserveAspectRatio: "none", role: "img" });
  }

  show(levels, label) {
    set(this.element, { "aria-label": label, viewBox: `0 0 ${Math.max(levels.length, 1)} ${high}` });
    while (this.element.childNodes.length > levels.length) this.element.lastChild.remove();
    while (this.element.childNodes.length < levels.length) this.element.append(makeSVG("rect", { width: 0.84 }));
    levels.forEach((level, i) => {
      const h = markHeights[level] ?? 2;
      set(this.element.childNodes[i], { class: level, x: i, y: high - h, height: h });
    });
  }
}

const markHeights = { idle: 4, well: 8, strained: 14, recovering: 18, down: 24 };

// Gauge shows how much of a limit is used.
export class Gauge {
  constructor() {
    this.used = makeSVG("rect", { class: "used", x: 0, y: 0, height: 4 });
    this.element = makeSVG(
      "svg", { class: "gauge", viewBox: `0 0 ${wide} 4`, preserveAspectRatio: "none", "aria-hidden": "true" },
      makeSVG("rect", { class: "room", x: 0, y: 0, width: wide, height: 4 }), this.used,
    );
  }

  show(used, limit) {
    set(this.used, { width: limit > 0 ? round(Math.min(1, used / limit) * wide) : 0 });
    set(this.element, { class: limit > 0 && used >= limit ? "gauge full" : "gauge" });
  }
}
