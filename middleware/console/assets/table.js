// The table of pipelines. Rows are kept and changed, not made anew, so that
// focus and selection survive what the stream says.

import { Detail, inFlight } from "./detail.js";
import { find, make, set, text } from "./dom.js";
import { Bars, Gauge, Strip } from "./draw.js";
import { count, duration, levels, nothing, plain, rate, share, stateWord } from "./words.js";

const stripWindow = 5 * 60 * 1000;

class Line {
  constructor(row, open) {
    this.sign = make("span", { class: "sign", "aria-hidden": "true" });
    this.word = make("span", { class: "word" });
    this.key = make("code");
    this.signs = make("span", { class: "signs" });
    this.name = make("button", { type: "button", class: "name", "aria-expanded": "false" }, make("b", {}, row.name || "nameless"), " ", this.key);
    this.name.addEventListener("click", () => open(row.id));
    if (row.key) this.key.append(...breakable(row.key));
    this.bars = new Bars(["calls", "failed"]);
    this.gauge = new Gauge();
    this.inFlight = make("span");
    this.queued = make("span", { class: "below" });
    this.strip = new Strip(stripWindow);
    const state = make("td", { class: "state", role: "cell" }, this.sign, " ", this.word);
    this.numbers = {};
    const number = (name, label) => (this.numbers[name] = make("td", { class: "n", role: "cell", "data-label": label }));
    this.element = make(
      "tr", { role: "row" }, state,
      make("th", { class: "who", role: "rowheader", scope: "row" }, this.name, this.signs),
      number("calls", "calls/s"),
      make("td", { class: "chart", role: "cell" }, this.bars.element),
      number("failed", "failed"), number("p50", "p50"), number("p95", "p95"), number("p99", "p99"),
      this.retries(), number("copies", "hedges/s"),
      make("td", { class: "flight", role: "cell", "data-label": "in flight" }, this.inFlight, this.gauge.element, this.queued),
      make("td", { class: "strip", role: "cell" }, this.strip.element),
    );
  }

  show(now, row) {
    const { status: s, latency: l } = row;
    set(this.element, { class: row.level });
    text(this.sign, levels[row.level].sign);
    text(this.word, stateWord(row));
    text(this.signs, (row.signs ?? []).join(" · "));
    this.number("calls", rate(row.calls_per_s), row.calls_per_s === 0);
    this.number("failed", share(row.failed_share), !row.failed_share);
    for (const p of ["p50", "p95", "p99"]) this.number(p, l ? duration(l[`${p}_ms`]) : nothing, !l);
    text(this.again, rate(row.retries_per_s));
    this.again.classList.toggle("quiet", row.retries_per_s === 0);
    text(this.budget, s.budget ? `${rate(s.budget.available)} left` : "");
    this.number("copies", s.hedge ? rate(row.copies_per_s) : nothing, !s.hedge || row.copies_per_s === 0);
    text(this.inFlight, s.bulkhead ? inFlight(s.bulkhead) : nothing);
    text(this.queued, s.bulkhead?.queued ? `${count(s.bulkhead.queued)} queued` : "");
    set(this.gauge.element, { hidden: s.bulkhead && s.bulkhead.limit > 0 ? null : "" });
    if (s.bulkhead) this.gauge.show(s.bulkhead.in_flight, s.bulkhead.limit);
    this.bars.show([row.calls, row.failed]);
    const state = s.breaker?.state ?? "";
    this.strip.show(now, state, row.changes ?? [], stripLabel(state, row.changes ?? []));
  }

  // retries makes the cell of two numbers that belong together.
  retries() {
    this.again = make("span");
    this.budget = make("span", { class: "below" });
    return make("td", { class: "n", role: "cell", "data-label": "retries/s" }, this.again, this.budget);
  }

  // number shows one; a quiet one is not worth looking at.
  number(name, words, quiet) {
    text(this.numbers[name], words);
    this.numbers[name].classList.toggle("quiet", quiet);
  }
}

// breakable lets a long key break where its parts end.
function breakable(key) {
  return key.split(/(?<=[./:@_-])/).flatMap((part) => [part, make("wbr")]);
}

function stripLabel(state, changes) {
  if (!state) return "no breaker";
  const n = changes.length;
  return `${plain(state)}, ${n === 0 ? "no transitions" : n === 1 ? "1 transition" : `${count(n)} transitions`}`;
}

export class Table {
  constructor(open, refresh) {
    this.body = find("rows");
    this.lines = new Map();
    this.open = open;
    this.refresh = refresh;
    this.detail = null;
  }

  show(state, selected) {
    const focused = document.activeElement;
    const wanted = [];
    const seen = new Set();
    for (const row of state.rows) {
      seen.add(row.id);
      const line = this.line(row);
      line.show(state.now, row);
      set(line.name, { "aria-expanded": row.id === selected, "aria-controls": row.id === selected ? `detail-${row.id}` : null });
      wanted.push(line.element);
      if (row.id === selected) wanted.push(this.detailOf(state, row));
    }
    for (const id of this.lines.keys()) if (!seen.has(id)) this.lines.delete(id);
    if (!seen.has(selected)) this.detail = null;
    place(this.body, wanted);
    // A row that moved has lost the focus that was in it.
    if (focused !== document.activeElement && this.body.contains(focused)) focused.focus({ preventScroll: true });
  }

  line(row) {
    if (!this.lines.has(row.id)) this.lines.set(row.id, new Line(row, this.open));
    return this.lines.get(row.id);
  }

  detailOf(state, row) {
    if (this.detail?.row.id !== row.id) this.detail = new Detail(row, this.refresh);
    this.detail.show(state.now, row, state.detail);
    return this.detail.element;
  }
}

// place makes wanted the children of parent, in order, and moves no more of
// them than it must.
function place(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}
