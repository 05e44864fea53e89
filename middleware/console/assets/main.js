// Puts the page together: what the address says is asked for, what comes back
// is shown.

import { Actors } from "./actors.js";
import { fill, find, make, set, text } from "./dom.js";
import { Bars } from "./draw.js";
import { Live } from "./live.js";
import { items } from "./notices.js";
import { Table } from "./table.js";
import { count, levels, plural, rate, share } from "./words.js";

const query = new URLSearchParams(location.search);
const title = document.title;
const stream = new Bars(["calls", "failed"], "Calls of all pipelines in the last minute; failed ones are marked");
const live = new Live(show, (link, words) => {
  set(find("link"), { class: `link ${link}` });
  text(find("link-text"), words);
});
const actors = new Actors();
const table = new Table(toggle, () => live.show(query.toString()));

// ask changes what is asked for; the first page is that of every new question.
function ask(changes) {
  for (const [name, value] of Object.entries({ page: "", ...changes })) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const words = query.toString();
  history.replaceState(null, "", words ? `?${words}` : location.pathname);
  live.show(words);
}

let latest = null;

function show(state) {
  latest = state;
  showVerdict(state);
  showTotals(state.totals);
  showBanners(state);
  showLevels(state.totals);
  table.show(state, query.get("id"));
  showCount(state.page, state.totals);
  actors.show(state.actors);
  find("pipelines").hidden = state.totals.pipelines === 0 && Boolean(state.actors); // a process of actors alone
  fill(find("notices"), state.notices, () => items(state.notices, true));
}

function toggle(id) {
  ask({ page: query.get("page"), id: query.get("id") === id ? "" : id });
  if (latest) table.show(latest, query.get("id")); // at once; the details follow
}

function showVerdict({ totals, actors: owners }) {
  const n = totals.levels.down + totals.levels.recovering + totals.levels.strained;
  const m = owners?.need_look ?? 0;
  const words = [];
  if (totals.pipelines > 0 || !owners?.partitions) words.push(verdict(n, totals.pipelines, "pipeline"));
  if (owners?.partitions) words.push(verdict(m, owners.partitions, "partition"));
  text(find("verdict"), words.join(" "));
  document.title = n + m > 0 ? `(${n + m}) ${title}` : title;
}

// verdict says how many of all need a look.
function verdict(n, all, what) {
  if (all === 0) return `No ${what}s yet.`;
  if (n > 0) return `${count(n)} of ${plural(all, what)} ${n === 1 ? "needs" : "need"} a look.`;
  return all === 1 ? `The one ${what} is well.` : `All ${count(all)} ${what}s are well.`;
}

function showTotals(t) {
  const failed = t.calls_per_s > 0 ? share(t.failed_per_s / t.calls_per_s) : "–";
  const shown = [
    ["calls/s", rate(t.calls_per_s)],
    ["failed", failed],
    ["refused/s", rate(t.refused_per_s)],
    ["retries/s", rate(t.retries_per_s)],
    ["hedges/s", rate(t.copies_per_s)],
    ["in flight", count(t.in_flight)],
    ["queued", count(t.queued)],
  ];
  fill(find("totals"), shown, () => shown.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  find("totals").hidden = find("stream").hidden = t.pipelines === 0;
  text(find("stream-top"), `highest bar ${count(stream.show([t.calls, t.failed]))} calls in 2 s`);
}

function showBanners({ totals, notices_dropped: dropped }) {
  const words = [];
  if (totals.faults) words.push(["injected", `⚡ Faults are injected on purpose: ${count(totals.faults)} in the last minute.`]);
  if (totals.not_seen) {
    words.push(["", `${plural(totals.not_seen, "pipeline is", "pipelines are")} not looked at: there are more than this console's bound. What follows knows nothing of them.`]);
  }
  if (totals.unheard) {
    words.push(["", `${plural(totals.unheard, "pipeline has", "pipelines have")} had calls that the console was not told of. Make them with middleware.WithObserver(console.Observer()).`]);
  }
  if (dropped) words.push(["", `${plural(dropped, "notable event was", "notable events were")} more than could be kept.`]);
  fill(find("banners"), words, () => words.map(([kind, sentence]) => make("p", { class: kind }, sentence)));
}

function showLevels(totals) {
  const box = find("levels");
  const chosen = query.get("level") ?? "";
  const all = [["", "all", totals.pipelines - (totals.not_seen ?? 0)]];
  for (const [name, { word }] of Object.entries(levels)) {
    const n = totals.levels[name];
    if (n > 0 || name === chosen) all.push([name, word, n]);
  }
  const shape = all.map(([name]) => name).join();
  if (box.dataset.shape !== shape) {
    box.dataset.shape = shape;
    box.replaceChildren(box.firstElementChild, ...all.map(([name]) => levelButton(name)));
  }
  all.forEach(([name, word, n], i) => {
    const button = box.children[i + 1];
    set(button, { "aria-pressed": name === chosen });
    text(button.lastElementChild, `${word} ${count(n)}`);
  });
}

function levelButton(name) {
  const sign = make("span", { class: `sign ${name}`, "aria-hidden": "true" }, levels[name]?.sign ?? "");
  const button = make("button", { type: "button", class: "level" }, sign, make("span"));
  button.addEventListener("click", () => ask({ level: name }));
  return button;
}

function showCount(page, totals) {
  const { first, matched, number, pages, size } = page;
  const last = Math.min(first + size - 1, matched);
  const all = totals.pipelines - (totals.not_seen ?? 0);
  const of = matched === all ? plural(all, "pipeline") : `${count(matched)} that match, ${plural(all, "pipeline")} in all`;
  text(find("count"), matched === 0 ? "" : `${count(first)} to ${count(last)} of ${of}, most trouble first`);
  const empty = find("empty");
  empty.hidden = matched > 0;
  find("table").hidden = matched === 0;
  text(empty, totals.pipelines === 0
    ? "A pipeline appears here when its first call is made. Registries are added with console.Add."
    : "No pipeline matches.");
  find("previous").hidden = find("next").hidden = pages === 1;
  find("previous").disabled = number <= 1;
  find("next").disabled = number >= pages;
}

function turn(by) {
  ask({ page: String(Math.max(1, (latest?.page.number ?? 1) + by)) });
  find("pipelines").scrollIntoView();
}

let typing;
find("filter").value = query.get("q") ?? "";
find("filter").addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => ask({ q: event.target.value.trim() }), 200);
});
find("tools").addEventListener("submit", (event) => event.preventDefault());
find("previous").addEventListener("click", () => turn(-1));
find("next").addEventListener("click", () => turn(1));
find("stream-chart").append(stream.element);
live.show(query.toString());
