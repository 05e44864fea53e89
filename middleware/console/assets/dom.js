// The little of the DOM that the page needs. Text is always set as text: names
// and keys come from outside.

export const find = (id) => document.getElementById(id);

// make returns an element with attributes and children.
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  set(e, attributes);
  e.append(...children);
  return e;
}

const space = "http://www.w3.org/2000/svg";

export function makeSVG(tag, attributes = {}, ...children) {
  const e = document.createElementNS(space, tag);
  set(e, attributes);
  e.append(...children);
  return e;
}

// set changes the attributes that are not so already; null removes one.
export function set(e, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) {
      if (e.hasAttribute(name)) e.removeAttribute(name);
    } else if (e.getAttribute(name) !== String(value)) {
      e.setAttribute(name, value);
    }
  }
}

// text changes the text of e if it is another one, so that a screen reader is
// not told twice.
export function text(e, words) {
  if (e.textContent !== words) e.textContent = words;
}

// fill makes children those of e, if what they were made from has changed.
export function fill(e, from, children) {
  const key = JSON.stringify(from);
  if (e.madeFrom === key) return;
  e.madeFrom = key;
  e.replaceChildren(...children());
}
