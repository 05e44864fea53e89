// Notable events, as sentences.

import { make } from "./dom.js";
import { clock, count, duration, nothing, plain } from "./words.js";

// what says in a few words what happened.
function what(n) {
  switch (n.kind) {
    case "breaker changed":
      return `breaker ${plain(n.from)} → ${plain(n.to)}`;
    case "fallback used":
      return `fallback used${n.rung ? `: ${n.rung}` : ""}`;
    case "call done":
      return `call failed${n.outcome ? `: ${n.outcome}` : ""}`;
    case "retry suppressed":
      return "retry suppressed";
    default:
      return n.kind;
  }
}

// why says the rest of it.
function why(n) {
  const parts = [];
  if (n.reason) parts.push(plain(n.reason));
  if (n.wait_ms && n.kind === "breaker changed") parts.push(`for ${duration(n.wait_ms)}`);
  return parts.join(" · ");
}

// sign returns the shape and the colour of what a breaker came to.
function sign(n) {
  if (n.injected) return ["⚡", "injected"];
  if (n.kind === "partition lost" || n.kind === "partition refused") return ["■", "down"];
  if (n.kind === "request given up") return ["▲", "strained"];
  switch (n.to) {
    case "open":
    case "forced-open":
      return ["■", "down"];
    case "half-open":
      return ["◐", "recovering"];
    case "closed":
      return ["●", "well"];
    case "forced-closed":
    case "metrics-only":
      return ["◆", "by-hand"];
    default:
      return null;
  }
}

function item(n, named) {
  const line = make("p", { class: "what" });
  const found = sign(n);
  if (found) line.append(make("span", { class: `sign ${found[1]}`, "aria-hidden": "true" }, found[0]), " ");
  line.append(what(n));
  if (n.count > 1) line.append(" ", make("span", { class: "times" }, `× ${count(n.count)}`));
  if (n.injected) line.append(" ", make("span", { class: "tag" }, "injected"));
  const rest = why(n);
  if (rest) line.append(make("span", { class: "why" }, ` · ${rest}`));
  const li = make("li", {}, make("time", { datetime: new Date(n.at).toISOString() }, clock(n.at)));
  if (named && (n.name || n.key)) li.append(make("p", { class: "whom" }, make("b", {}, n.name ?? ""), " ", make("code", {}, n.key ?? "")));
  li.append(line);
  if (n.error) li.append(make("p", { class: "error", title: n.error }, n.error));
  return li;
}

// items returns the list for notices; named ones say of which pipeline.
export function items(notices, named) {
  if (notices.length === 0) return [make("li", { class: "none" }, named ? "Nothing notable has happened." : nothing)];
  return notices.map((n) => item(n, named));
}
