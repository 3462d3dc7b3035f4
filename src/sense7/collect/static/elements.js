/* What the page is made of. Texts of people and files only ever become text nodes. */
"use strict";

const carried = JSON.parse(document.getElementById("carried").textContent);
const { settings, words, levels } = carried;

/* How each kind of step is drawn that has more than questions. */
const drawings = {};

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/* A text of the page in its language, with values in the places of {names}. */
function say(key, values = {}, sentences = words) {
  return sentences[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/* A text that is not the page's: its direction, and marks that turn it, end with it. */
const own = (tag, text, attributes = {}) => make(tag, { dir: "auto", ...attributes, class: `own ${attributes.class ?? ""}` }, text);

/* What is rated, and what is answered: a browser's translation would put other words in its place. */
const asWritten = (classes = "") => ({ translate: "no", class: `notranslate ${classes}`.trim() });

const button = (label, action, kind = "") => make("button", { type: "button", class: kind || null, click: action }, label);

const capital = (text) => text.charAt(0).toLocaleUpperCase(document.documentElement.lang) + text.slice(1);
