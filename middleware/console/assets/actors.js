// The section of actors: a line for each type, and below it what runs for
// longest, and which partitions need a look. It is there where nodes were added.

import { fill, find, make, set, text } from "./dom.js";
import { Marks } from "./draw.js";
import { count, duration, levels, nothing, plain, plural } from "./words.js";

// What a partition is doing, in the words of its level.
const levelWords = { down: "not owned", recovering: "changing hands", strained: "overdue", well: "at work", idle: "idle" };

const needsLook = new Set(["down", "recovering", "strained"]);

class Line {
  constructor(type) {
    this.sign = make("span", { class: "sign", "aria-hidden": "true" });
    this.word = make("span", { class: "word" });
    this.marks = new Marks();
    this.cells = {};
    const cell = (name, label, kind) => (this.cells[name] = make("td", { class: kind, role: "cell", "data-label": label }));
    this.element = make(
      "tr", { role: "row" },
      make("td", { class: "state", role: "cell" }, this.sign, " ", this.word),
      make("th", { class: "who", role: "rowheader", scope: "row" }, make("b", {}, type.type), " ", make("code", {}, type.node)),
      cell("owned", "owned", "n"),
      make("td", { class: "strip", role: "cell" }, this.marks.element),
      cell("requests", "requests", "n"), cell("oldest", "oldest", "n"), cell("methods", "running", "n"),
      cell("outputs", "outbox", "n"), cell("deepest", "deepest", "deepest"), cell("takeover", "slowest takeover", "takeover"),
    );
  }

  show(t) {
    set(this.element, { class: t.level });
    text(this.sign, levels[t.level].sign);
    const n = t.levels.filter((level) => level === t.level).length;
    text(this.word, needsLook.has(t.level) ? `${count(n)} ${levelWords[t.level]}` : levelWords[t.level]);
    this.marks.show(t.levels, marksLabel(t));
    this.cell("owned", [`${count(t.owned)} of ${count(t.partitions)}`]);
    this.cell("requests", [count(t.requests), t.actors ? `of ${plural(t.actors, "actor")}` : ""]);
    this.cell("oldest", [t.requests ? duration(t.oldest_ms) : nothing]);
    this.cell("methods", [count(t.methods)]);
    this.cell("outputs", [count(t.outputs)]);
    this.cell("deepest", t.depth ? [t.deepest, plural(t.depth, "request")] : [nothing]);
    set(this.cells.deepest, { title: t.depth ? t.deepest : null });
    this.cell("takeover", t.takeover ? [duration(t.takeover.whole_ms), phases(t.takeover)] : [nothing]);
  }

  // cell shows a value, and in a smaller hand what belongs to it.
  cell(name, [value, below]) {
    const e = this.cells[name];
    fill(e, [value, below], () => [make("span", {}, value), ...(below ? [make("span", { class: "below" }, below)] : [])]);
    e.classList.toggle("quiet", value === nothing || value === "0");
  }
}

function phases(t) {
  return `snapshot ${duration(t.snapshot_ms)}, replay ${duration(t.replay_ms)} of ${plural(t.records, "record")}, fence ${duration(t.fence_ms)}`;
}

// marksLabel says what the marks show: how many partitions are how.
function marksLabel(t) {
  const n = {};
  for (const level of t.levels) n[level] = (n[level] ?? 0) + 1;
  return Object.entries(n).map(([level, m]) => `${count(m)} ${levelWords[level]}`).join(", ") || "no partitions";
}

export class Actors {
  constructor() {
    this.lines = new Map();
  }

  show(actors) {
    find("actors").hidden = !actors;
    if (!actors) return;
    const shown = totalsOf(actors);
    fill(find("actors-totals"), shown, () => shown.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
    this.table(actors);
    fill(find("actors-running"), actors.running, () => runningItems(actors));
    find("actors-trouble").hidden = actors.trouble.length === 0;
    fill(find("actors-troubled"), actors.trouble, () => actors.trouble.map(troubleItem));
    text(find("actors-nodes"), nodesWords(actors));
  }

  table(actors) {
    const seen = new Set();
    const wanted = actors.types.map((t) => {
      const key = JSON.stringify([t.node, t.type]);
      seen.add(key);
      if (!this.lines.has(key)) this.lines.set(key, new Line(t));
      this.lines.get(key).show(t);
      return this.lines.get(key).element;
    });
    for (const key of this.lines.keys()) if (!seen.has(key)) this.lines.delete(key);
    const body = find("actors-rows");
    if (wanted.length !== body.children.length || wanted.some((e, i) => e !== body.children[i])) body.replaceChildren(...wanted);
    find("actors-table").hidden = wanted.length === 0;
  }
}

function totalsOf(a) {
  const calls = a.nodes.reduce((sum, n) => sum + n.calls, 0);
  const letters = a.nodes.reduce((sum, n) => sum + n.dead_letters, 0);
  return [
    ["partitions owned", `${count(a.owned)} of ${count(a.partitions)}`],
    ["requests", count(a.requests)],
    ["oldest", a.requests ? duration(a.oldest_ms) : nothing],
    ["running", count(a.methods)],
    ["outbox", count(a.outputs)],
    ["calls waiting", count(calls)],
    ["dead letters", count(letters)],
  ];
}

function nodesWords(a) {
  const words = a.nodes.map((n) => {
    if (n.stopped) return `${n.name} is ${n.self}, drained: it takes no partitions`;
    const others = (n.members ?? []).filter((m) => m !== n.self);
    return others.length ? `${n.name} is ${n.self}, beside ${others.join(", ")}` : `${n.name} is ${n.self}`;
  });
  if (a.types_left) words.push(`${plural(a.types_left, "type is", "types are")} left out`);
  return `${words.join("; ")}.`;
}

function runningItems(a) {
  if (a.running.length === 0) return [make("li", { class: "none" }, "Nothing runs.")];
  const items = a.running.map((r) => {
    const p = make("p", {}, make("code", {}, `${r.actor}.${r.method}`));
    const notes = [];
    if (r.attempt > 1) notes.push(`attempt ${count(r.attempt)}`);
    if (r.link) notes.push(`link ${count(r.link)}`);
    if (notes.length) p.append(make("span", { class: "why" }, ` · ${notes.join(" · ")}`));
    const li = make("li", { title: `request ${r.request}` }, make("time", {}, duration(r.for_ms)), p);
    if (r.waits) {
      const more = r.waits_left ? ` and ${count(r.waits_left)} more` : "";
      li.append(make("p", { class: "why" }, "waits for ", make("code", {}, r.waits.join(", ")), more));
    }
    return li;
  });
  const more = a.methods - a.running.length;
  return more > 0 ? [...items, make("li", { class: "none" }, `and ${count(more)} more`)] : items;
}

function troubleItem(p) {
  const rest = [];
  if (p.requests) rest.push(plural(p.requests, "request"));
  if (p.oldest_ms) rest.push(`the oldest ${duration(p.oldest_ms)} old`);
  if (p.deepest) rest.push(`most at ${p.deepest}`);
  const li = make(
    "li", {},
    make("span", {}, make("span", { class: `sign ${p.level}`, "aria-hidden": "true" }, levels[p.level].sign), " ", p.level === "strained" ? levelWords.strained : plain(p.phase)),
    make("p", {}, make("code", {}, p.partition), make("span", { class: "why" }, rest.length ? ` · ${rest.join(" · ")}` : "")),
  );
  if (p.error) li.append(make("p", { class: "error", title: p.error }, p.error));
  return li;
}
