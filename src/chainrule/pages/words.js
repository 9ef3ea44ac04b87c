// Numbers as text, and elements of the page. All text goes in as text, never as HTML.

export function shown(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "-" : x > 0 ? "∞" : "-∞";
  if (Math.abs(x) < 1e-9) return "0";
  return Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}

// An element with attributes, properties that begin with "on", and children.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const button = (text, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, text);

// A checkbox with its label.
export function checkbox(text, checked, onchange) {
  const input = element("input", { type: "checkbox", onchange: () => onchange(input.checked) });
  input.checked = checked;
  return element("label", { class: "check" }, input, text);
}

// A choice from a list of [value, text].
export function choice(text, options, onchange) {
  const select = element("select", { "aria-label": text, onchange: () => onchange(select.value) },
    ...options.map(([value, label]) => element("option", { value }, label)));
  return select;
}
