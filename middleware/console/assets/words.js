// How numbers, times and names are written.

export const nothing = "–";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const count = (n) => whole.format(n);

export function rate(n) {
  if (n >= 100_000) return `${whole.format(n / 1000)}k`;
  return n >= 100 ? whole.format(n) : tenth.format(n);
}

export function share(s) {
  if (s === null) return nothing;
  if (s > 0 && s < 0.001) return "<0.1%";
  return `${s < 0.1 ? tenth.format(s * 100) : whole.format(s * 100)}%`;
}

export function duration(ms) {
  if (ms >= 3_600_000) return `${tenth.format(ms / 3_600_000)} h`;
  if (ms >= 120_000) return `${tenth.format(ms / 60_000)} min`;
  if (ms >= 1000) return `${tenth.format(ms / 1000)} s`;
  return `${ms >= 10 ? whole.format(ms) : tenth.format(ms)} ms`;
}

export function ago(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86_400)} days ago`;
}

export const clock = (at) => new Date(at).toLocaleTimeString("en-GB");

// plain writes "failure_ratio" and "forced-open" as people would.
export const plain = (name) => name.replaceAll(/[_-]/g, " ").replace("half open", "half-open");

export const fullName = (name, key) => (key ? `${name} ${key}` : name);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

// Each level has a sign of its own shape, since not everybody sees its colour.
export const levels = {
  down: { sign: "■", word: "down" },
  recovering: { sign: "◐", word: "recovering" },
  strained: { sign: "▲", word: "strained" },
  "by-hand": { sign: "◆", word: "by hand" },
  well: { sign: "●", word: "well" },
  idle: { sign: "○", word: "idle" },
  shut: { sign: "×", word: "shut" },
};

// stateWord is one word or two for what a pipeline is doing.
export function stateWord(row) {
  const state = row.status.breaker?.state ?? "";
  if (row.level !== "shut" && state && state !== "closed") return plain(state);
  return levels[row.level].word;
}
