// All that is known of one pipeline, below its row.

import { allowed, buttons } from "./act.js";
import { fill, make, text } from "./dom.js";
import { Bars } from "./draw.js";
import { items } from "./notices.js";
import { ago, clock, count, duration, nothing, plain, rate } from "./words.js";

const layers = ["calls", "failed", "refused"];

// shown is how many of its events a pipeline's details have.
const shown = 4;

export class Detail {
  constructor(row, refresh) {
    this.row = row;
    this.lead = make("p", { class: "lead" });
    this.bars = new Bars(layers, "Calls of the last minute");
    this.top = make("span");
    this.facts = make("dl", { class: "facts" });
    this.changes = make("ol", { class: "changes" });
    this.notices = make("ol");
    this.acts = allowed && row.status.breaker ? buttons(() => this.row, refresh) : null;
    this.cell = make("td", { colspan: 12, role: "cell" }, this.panel());
    this.element = make("tr", { class: "detail", role: "row", id: `detail-${row.id}` }, this.cell);
  }

  panel() {
    const chart = make(
      "figure", {}, this.bars.element,
      make("figcaption", {}, make("span", {}, "a minute ago"), this.top, make("span", {}, "now")),
    );
    const first = make("div", {}, this.lead, chart, key());
    if (this.acts) first.append(this.acts.element);
    return make(
      "div", { class: "panel" }, first,
      make("div", {}, make("h3", {}, "Now"), this.facts),
      make("div", {}, make("h3", {}, "Breaker"), this.changes),
      make("div", { class: "notices wide" }, make("h3", {}, "Recent"), this.notices),
    );
  }

  // show draws the row and, where the server has sent them, its details.
  show(now, row, detail) {
    this.row = row;
    text(this.lead, sentence(now, row));
    this.acts?.show(row.status.breaker?.state);
    const facts = factsOf(row);
    fill(this.facts, facts, () => facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    fill(this.changes, [row.changes, Math.floor(now / 1000)], () => changeItems(now, row));
    if (detail?.id !== row.id) return;
    const top = this.bars.show([detail.calls, detail.failed, detail.refused]);
    text(this.top, `highest bar ${count(top)} in 2 s`);
    const latest = detail.notices.slice(0, shown);
    fill(this.notices, latest, () => items(latest, false));
  }
}

function key() {
  return make("p", { class: "key" }, ...layers.flatMap((name) => [make("i", { class: name }), `${name} `]));
}

// sentence says what the breaker is doing, and what comes next.
function sentence(now, row) {
  const breaker = row.status.breaker;
  if (row.status.closed) return "Closed for good: every call is refused.";
  if (!breaker) return "This pipeline has no breaker.";
  const last = row.changes?.at(-1);
  switch (breaker.state) {
    case "closed":
      return `Closed. Of the last ${count(breaker.calls)} calls in its window, ${count(breaker.failures)} failed.`;
    case "open": {
      const left = last?.wait_ms ? last.at + last.wait_ms - now : 0;
      const next = left > 0 ? ` A probe may pass in ${duration(Math.ceil(left / 1000) * 1000)}.` : "";
      return `Open${last?.reason ? ` (${plain(last.reason)})` : ""}: every call is refused.${next}`;
    }
    case "half-open":
      return "Half-open: the next calls are probes, and decide.";
    case "forced-open":
      return "Held open by hand: every call is refused until it is reset.";
    case "forced-closed":
      return "Held closed by hand: every call goes through, and none is counted.";
    case "metrics-only":
      return `Metrics only: it counts, and never opens. In its window, ${count(breaker.failures)} of ${count(breaker.calls)} failed.`;
    default:
      return plain(breaker.state);
  }
}

function factsOf(row) {
  const { status: s } = row;
  const facts = [
    ["calls", `${rate(row.calls_per_s)}/s`],
    ["failed", `${rate(row.failed_per_s)}/s`],
    ["refused", `${rate(row.refused_per_s)}/s`],
    ["retries", `${rate(row.retries_per_s)}/s`],
    ["fallbacks", `${rate(row.fallbacks_per_s)}/s`],
  ];
  if (s.budget) facts.push(["retry budget", `${rate(s.budget.available)} left`]);
  if (s.bulkhead) facts.push(["in flight", inFlight(s.bulkhead)], ["queued", count(s.bulkhead.queued)]);
  if (s.hedge) {
    facts.push(["hedge delay", s.hedge.delay_ns ? duration(s.hedge.delay_ns / 1e6) : nothing]);
    facts.push(["hedges, a minute", `${count(row.copies ?? 0)}, of which ${count(row.copies_won ?? 0)} won`]);
    facts.push(["hedging", s.hedge.suspended ? "suspended" : `${rate(s.hedge.tokens)} paid for`]);
  }
  if (s.breaker) {
    facts.push(["window", `${count(s.breaker.calls)} calls, ${count(s.breaker.failures)} failed, ${count(s.breaker.slow)} slow`]);
    facts.push(["failures in a row", count(s.breaker.consecutive)]);
  }
  if (s.abandoned) facts.push(["abandoned", count(s.abandoned)]);
  return facts;
}

export const inFlight = (b) => `${count(b.in_flight)} of ${b.limit < 0 ? "no limit" : count(b.limit)}`;

function changeItems(now, row) {
  const changes = row.changes ?? [];
  if (changes.length === 0) return [make("li", { class: "none" }, "No transition was heard of.")];
  return changes.toReversed().map((c) => {
    const rest = [c.reason && plain(c.reason), c.wait_ms && `for ${duration(c.wait_ms)}`].filter(Boolean).join(" · ");
    return make(
      "li", {},
      make("time", { datetime: new Date(c.at).toISOString(), title: clock(c.at) }, ago(now - c.at)),
      make("p", {}, `${plain(c.from)} → ${plain(c.to)}`),
      ...(rest ? [make("p", { class: "why" }, rest)] : []),
    );
  });
}
