// Acting on breakers: asked for, confirmed, and sent with the page's token.

import { find, make, text } from "./dom.js";
import { fullName } from "./words.js";

const token = document.querySelector('meta[name="token"]').content;

export const allowed = token !== "";

export const actions = [
  { name: "force-open", label: "Force open", state: "forced-open", effect: "Every call is refused until somebody resets it." },
  { name: "force-closed", label: "Force closed", state: "forced-closed", effect: "Every call goes through, however many fail, until somebody resets it." },
  { name: "metrics-only", label: "Metrics only", state: "metrics-only", effect: "Calls are counted, and never refused, until somebody resets it." },
  { name: "reset", label: "Reset", state: "", effect: "The breaker closes, forgets what it has counted, and decides by itself again." },
];

// ask asks whether to go on, and does so. It returns what to tell.
export async function ask(action, row) {
  const dialog = find("confirm");
  text(find("confirm-title"), `${action.label}: ${fullName(row.name, row.key)}`);
  text(find("confirm-text"), action.effect);
  text(find("confirm-yes"), action.label);
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes" ? send(action, row) : "";
}

async function send(action, row) {
  try {
    const response = await fetch("act", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Console-Token": token },
      body: JSON.stringify({ id: row.id, action: action.name }),
    });
    return response.ok ? "" : `Not done: ${(await response.text()).trim()}`;
  } catch {
    return "Not done: the console is out of reach.";
  }
}

// buttons returns the buttons for one pipeline. row gives its latest state;
// done is called when something may have changed.
export function buttons(row, done) {
  const said = make("p", { class: "said", role: "alert" });
  const all = actions.map((action) => {
    const button = make("button", { type: "button", class: "act", "data-action": action.name }, action.label);
    button.addEventListener("click", async () => {
      text(said, await ask(action, row()));
      button.focus();
      done();
    });
    return button;
  });
  const element = make("div", { class: "acts" }, make("div", { class: "buttons" }, ...all), said);
  const show = (state) => actions.forEach((action, i) => (all[i].disabled = action.state === state));
  return { element, show };
}
