// SPDX-License-Identifier: Apache-2.0
// Draws the page from the report it carries. Nothing is known here that the JSON does not say, nothing is asked of any
// network, and what strangers wrote becomes text nodes only: there is no innerHTML in this file.
"use strict";
(() => {

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report, table = data.table, isFuzz = report.kind === "fuzz";
const STATES = ["fail", "below", "error", "refused", "contested", "unscored", "accepted", "unsupported", "not run", "pass"];
const hasCauses = table.cause.values.some((each) => each);
const hasApart = !isFuzz && report.special_values === "apart";
// What breaks is of three kinds. Each has a colour, a shape and words, the same everywhere on the page.
const KINDS = {
  wrong: {title: "wrong answers", words: ["fail", "below", "unstable", "differs", "stale session", "breaks law"].concat(report.mode === "strict" ? ["contested"] : [])},
  crash: {title: "crashes and hangs", words: ["error", "not run"]},
  refused: {title: "refuses legal models", words: ["refused"]},
};
// What a link asks of the list for the numbers of the totals.
const counted = hasApart ? "counted" : "";
const BREAKING = Object.values(KINDS).flatMap((each) => each.words);
const kindOf = (word) => Object.keys(KINDS).find((kind) => KINDS[kind].words.includes(word));
const WORDS = {
  pass: "inside the interval of the level asked for; for a model that breaks a constraint: refused",
  contested: "wrong as an unclear clause is ruled here, right under another reading of it, which is named",
  below: "outside the level asked for, inside what some legitimate arithmetic gives; the standard promises no accuracy",
  fail: "a breach of the text: wrong shape, type or count, or a value no legitimate arithmetic gives",
  unscored: "nothing may be claimed, and why",
  accepted: "a model that breaks a constraint was executed: undefined behaviour, never a fail",
  refused: "a legal model was turned away though nothing declared excludes it",
  "not run": "left out, since cases like it had crashed, hung or eaten memory",
  unsupported: "declared as not supported, or the runtime says that it has no implementation",
  error: "crashed, hung, ran out of memory or answered garbage",
};

// -- text and elements

// What hides or reorders text is shown by number, as the terminal does.
const HIDDEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\u{e0000}-\u{10ffff}]/gu;
const numbered = (letter) => "\\u{" + letter.codePointAt(0).toString(16).padStart(4, "0") + "}";
const plain = (text) => String(text).replace(HIDDEN, numbered);

function addText(node, text) {
  text = String(text);
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > from) node.append(document.createTextNode(text.slice(from, found.index)));
    const mark = document.createElement("span");
    mark.className = "escape";
    mark.append(document.createTextNode(numbered(found[0])));
    node.append(mark);
    from = found.index + found[0].length;
  }
  if (from < text.length) node.append(document.createTextNode(text.slice(from)));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : plain(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) node.append(child);
    else addText(node, child);
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const byId = (id) => document.getElementById(id);
// A stranger's words, kept from reordering what stands beside them.
const said = (text, attributes) => el("bdi", attributes, text);
const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const many = (n, one, more) => thousands(n) + " " + (n === 1 ? one : more || one + "s");
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
// Long words of a runtime have their point at the end.
const middleOut = (text) => (text.length > 240 ? text.slice(0, 90) + " … " + text.slice(-140) : text);
const announce = (words) => { byId("status").textContent = words; };

// -- signs: a shape and a word each, so that no colour has to be told from another

const SHAPES = {
  pass: "M1 6 4.5 9.5 11 2", contested: "M1 4.5c2-3 4 0 5 0s3-1 5-1M1 9c2-3 4 0 5 0s3-1 5-1", below: "M1.5 3h9L6 10z",
  fail: "M2 2l8 8M10 2l-8 8", error: "M6 1v6.5M6 9.5V11", refused: "M6 1a5 5 0 1 0 .01 0M2.5 2.5l7 7",
  unsupported: "M2 6h8", unscored: "M3.5 4a2.5 2.5 0 1 1 3.2 2.4c-.5.2-.7.6-.7 1.2M6 10v1", accepted: "M6 1l5 9.5H1z",
};
Object.assign(SHAPES, {conforms: SHAPES.pass, "not conforming": SHAPES.fail, "not certified": SHAPES.unsupported, wrong: SHAPES.fail, crash: SHAPES.error,
  "not run": "M4 2v8M8 2v8"});
// The word is that of a state, a mark, a kind or a conclusion.
function sign(word, label) {
  const kind = kindOf(word) || (KINDS[word] ? word : null);
  return el("span", {class: "state " + (kind ? "k-" + kind : "s-" + word.replace(/ /g, "-"))},
    svg("svg", {viewBox: "0 0 12 12", "aria-hidden": "true"},
      svg("path", {d: SHAPES[word] || SHAPES[kind] || SHAPES.unsupported, fill: word === "below" ? "currentColor" : "none", stroke: "currentColor", "stroke-width": 1.9})),
    label === undefined ? word : label);
}
const legend = () => el("p", {class: "legend small"}, Object.entries(KINDS).map(([kind, {title, words}]) =>
  el("span", {}, sign(kind, title), " ", el("span", {class: "soft"}, "(" + words.filter((word) => STATES.includes(word) || report.marks[word]).join(", ") + ")"))));

// -- the rows: columns in the data, so that 100,000 of them are a few arrays

const dictionary = (name, row) => { const column = table[name]; return column.values[column.rows[row]]; };
const line = (row) => table.line[row];
const state = (row) => dictionary("state", row);
const version = (row) => line(row).slice(0, line(row).indexOf(" "));
const type = (row) => { const found = /=([a-z]\w*)\[/.exec(line(row)); return found ? found[1] : ""; };
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
function replay(row) {
  const start = dictionary("replay", row);
  return start === null ? null : typeof start === "string" ? start + quoted(line(row)) : start.whole;
}
const because = (row) => dictionary("because", row) || "";
const detail = (row) => dictionary("detail", row) || dictionary("pattern", row) || "";
let rowsById = null;
function rowOf(id) {
  if (!rowsById) rowsById = new Map(table.id.map((each, row) => [each, row]));
  return rowsById.get(id);
}
const clauses = new Map((report.clauses || []).map((each) => [each.id, each]));
const versions = report.operators.map((row) => row.op);

// -- pieces

// Its label says what is copied; `words` stand on it.
function copyButton(text, label, words) {
  const button = el("button", {type: "button", "aria-label": label, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el("textarea", {class: "unseen"});
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => { button.textContent = words; }, 1500);
  }}, words);
  return button;
}
const copied = (text, label) =>
  el("div", {class: "copy"}, el("code", {class: "line"}, said(text)), copyButton(text, "Copy " + (label || "the replay line"), "Copy"));

// A fenced block: fences longer than any in it.
function fenced(text, language) {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length)), fence = "`".repeat(Math.max(3, longest + 1));
  return fence + language + "\n" + text.replace(/\n$/, "") + "\n" + fence + "\n";
}
const issueText = (account) =>
  account.title + "\n\n" + account.opening + (account.python ? fenced(account.python, "python") + "\n" : "") + account.closing;
function takeAway(account) {
  if (!account) return null;
  return block("Take it elsewhere", el("div", {class: "take"},
    account.python ? copyButton(account.python, "Copy as Python: a script that shows it without assay", "Copy as Python") : null,
    copyButton(issueText(account), "Copy as issue: a text for an issue tracker", "Copy as issue")));
}
const block = (title, ...children) => el("div", {class: "block"}, el("p", {class: "label"}, title), children);
// A landmark where there is one of its name; what every cause has is a group.
const scrolled = (label, child, role) => el("div", {class: "scroll", role: role || "region", tabindex: "0", "aria-label": label}, child);
const head = (...names) => el("thead", {}, el("tr", {}, names.map((name) =>
  el("th", {scope: "col", class: name.startsWith("#") ? "num" : null}, name.replace("#", "")))));
const link = (hash, ...children) => el("a", {href: "#" + hash}, children);
const listHash = (filter) => "verdicts?" + new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString();
const outside = (address, ...words) => el("a", {href: address, rel: "external", class: "outside"}, words);
// Where the text of an operator version stands on the web; nothing where the page does not know.
const textOf = (op, words) => (data.pages[op] ? outside(data.pages[op], words) : null);
const nameOf = (op) => op.slice(op.indexOf(":") + 1, op.lastIndexOf("-"));
// The texts that a ruling or a constraint is about: of these operator versions, else of all here that it speaks of; of each
// operator the newest.
function texts(id, ops) {
  const dot = id.lastIndexOf("."), touch = (row) => row.rulings.touched.concat(row.rulings.untouched).includes(id);
  const about = ops || (dot < 0 ? (report.coverage || []).filter(touch).map((row) => row.op) : versions.filter((op) => nameOf(op) === id.slice(0, dot)));
  const newest = new Map(about.map((op) => [op.slice(0, op.lastIndexOf("-")), op]));
  const links = [...newest.values()].map((op) => textOf(op, ops ? op : nameOf(op))).filter(Boolean);
  return links.length ? el("span", {class: "texts small soft"}, "Text: ", links.map((each, i) => [i ? ", " : "", each])) : null;
}

// Opens and closes what a button stands for. `draw` fills `place` when it is opened first.
function opener(button, body, place, draw, opened = () => {}) {
  const open = (really) => {
    if (really && !place.firstChild) fill(place, {}, [draw()]);
    body.hidden = !really;
    button.setAttribute("aria-expanded", String(really));
    opened(really);
  };
  button.addEventListener("click", () => open(body.hidden));
  return open;
}

function quotation(id, ops) {
  const clause = clauses.get(id);
  if (!clause) return el("blockquote", {}, el("b", {}, id));
  return el("blockquote", {}, el("b", {}, id), clause.title ? [" ", el("span", {}, clause.title)] : null, el("br"), clause.text,
    clause.readings && clause.readings.length > 1
      ? el("span", {class: "soft"}, " Readings: " + clause.readings.map((r, i) => r + (i ? "" : " (ruled)")).join(", ") + ".") : null, " ", texts(id, ops));
}

function evidence(proof) {
  const rows = [["element", "[" + proof.index.join(",") + "] of data set " + proof.set], ["got", proof.got], ["want", proof.want]];
  if (proof.lower) rows.push(["admitted", "[" + proof.lower + ", " + proof.upper + "]"], ["by", proof.arithmetic]);
  if (proof.exact) rows.push(["exact", shortened(proof.exact, 200)], ["budget", shortened(proof.budget, 200)]);
  const taps = proof.taps || [];
  return block("The proof, in hexadecimal", el("dl", {}, rows.map(([name, value]) =>
    [el("dt", {}, name), el("dd", {class: "mono"}, said(value))])),
  taps.length ? el("details", {}, el("summary", {class: "small"}, many(taps.length, "term") + " of the exact sum"),
    el("ul", {class: "plain mono"}, taps.slice(0, 200).map((tap) =>
      el("li", {}, tap.where + "  " + tap.factors.join(" × ")))),
    taps.length > 200 ? el("p", {class: "small soft"}, "The report has the other " + (taps.length - 200) + ".") : null) : null);
}

// -- the picture of a smallest case: its output, plane by plane

const product = (shape) => shape.reduce((all, extent) => all * extent, 1);
const CELLS = {".": "right", i: "inside", b: "below", w: "wrong", s: "special", u: "unscored", m: "missing", x: "surplus"};
const CELL_WORDS = {right: "correctly rounded", inside: "inside the interval", below: "below the level", wrong: "wrong",
  special: "NaN or infinity, wrongly or not where it must be", unscored: "unscored", missing: "missing", surplus: "too many"};

// Where the shapes differ every cell of either is drawn: there in both, missing, or too many.
function shapeCells(want, got) {
  if (want.length !== got.length || product(want) > 4096 || product(got) > 4096) return null;
  const extent = want.map((each, axis) => Math.max(each, got[axis]));
  if (product(extent) > 4096) return null;
  let cells = "";
  const index = extent.map(() => 0);
  for (let i = product(extent); i > 0; --i) {
    const inWant = index.every((at, axis) => at < want[axis]), inGot = index.every((at, axis) => at < got[axis]);
    cells += inWant && inGot ? "." : inWant ? "m" : inGot ? "x" : "u";
    for (let axis = extent.length - 1; axis >= 0 && ++index[axis] === extent[axis]; --axis) index[axis] = 0;
  }
  return {extent, begin: extent.map(() => 0), cells, ulp: []};
}

// Which axes make a plane: the last two of space; of one axis of space the channels are the rows.
function layout(axes) {
  const space = axes.map((name, axis) => [name, axis]).filter(([name]) => name !== "N" && name !== "C").map(([, axis]) => axis);
  const channel = axes.indexOf("C");
  if (space.length >= 2) return {down: space[space.length - 2], across: space[space.length - 1]};
  if (space.length === 1) return {down: channel, across: space[0]};
  return {down: axes.length > 1 ? 0 : -1, across: axes.length - 1};
}

function cellShape(kind, ulp, x, y, size) {
  const box = {x, y, width: size - 1, height: size - 1, class: "h-" + kind};
  const parts = [];
  if (kind === "inside") box["fill-opacity"] = Math.min(1, 0.35 + 0.13 * Math.max(0, Math.log2(Math.max(ulp, 0.5)) + 1));
  if (kind === "below" || kind === "wrong" || kind === "surplus") box.class = "h-wrong";
  if (kind === "below") box["fill-opacity"] = 0.55;
  if (kind === "missing") Object.assign(box, {x: x + 1, y: y + 1, width: size - 3, height: size - 3});
  parts.push(svg("rect", box));
  const near = x + size * 0.3, far = x + size * 0.65, top = y + size * 0.3, low = y + size * 0.65;
  if (kind === "wrong") parts.push(svg("path", {class: "h-mark", d: `M${near} ${top}L${far} ${low}M${far} ${top}L${near} ${low}`}));
  if (kind === "below") parts.push(svg("path", {class: "h-mark", d: `M${near} ${top}L${(near + far) / 2} ${low}L${far} ${top}`}));
  if (kind === "surplus") parts.push(svg("path", {class: "h-mark", d: `M${near} ${(top + low) / 2}H${far}M${(near + far) / 2} ${top}V${low}`}));
  if (kind === "special") parts.push(svg("text", {class: "h-text", x: x + size / 2 - 0.5, y: y + size / 2 + 2.5}, "N"));
  return parts;
}

function keyOf(kinds) {
  return el("div", {class: "key", "aria-hidden": "true"}, [...kinds].map((kind) =>
    el("span", {}, svg("svg", {viewBox: "0 0 14 14"}, cellShape(kind, 1, 0, 0, 14)), CELL_WORDS[kind])));
}

function planes(picture, grid) {
  const {down, across} = layout(picture.axes), extent = grid.extent, step = extent.map(() => 1);
  for (let axis = extent.length - 2; axis >= 0; --axis) step[axis] = step[axis + 1] * extent[axis + 1];
  const others = extent.map((_, axis) => axis).filter((axis) => axis !== down && axis !== across);
  const rows = down < 0 ? 1 : extent[down], columns = across < 0 ? 1 : extent[across];
  const size = Math.max(7, Math.min(26, Math.floor(520 / Math.max(columns, rows, 1))));
  const all = [];
  const place = others.map(() => 0);
  for (let n = others.reduce((p, axis) => p * extent[axis], 1); n > 0; --n) {
    const base = others.reduce((sum, axis, i) => sum + place[i] * step[axis], 0);
    const shapes = [];
    for (let r = 0; r < rows; ++r)
      for (let c = 0; c < columns; ++c) {
        const at = base + (down < 0 ? 0 : r * step[down]) + (across < 0 ? 0 : c * step[across]);
        const kind = CELLS[grid.cells[at]] || "unscored";
        const index = extent.map((_, axis) => grid.begin[axis] + (axis === down ? r : axis === across ? c : place[others.indexOf(axis)]));
        const ulp = grid.ulp[at];
        shapes.push(svg("g", {}, svg("title", {}, "[" + index.join(",") + "] " + CELL_WORDS[kind] +
          (typeof ulp === "number" ? ", " + ulp + " ulp" : "")), cellShape(kind, ulp, c * size, r * size, size)));
      }
    const name = others.map((axis, i) => picture.axes[axis] + "=" + (grid.begin[axis] + place[i])).join(" ");
    all.push(el("figure", {}, svg("svg", {viewBox: `0 0 ${Math.max(columns * size, 1)} ${Math.max(rows * size, 1)}`,
      width: Math.max(columns * size, 1), height: Math.max(rows * size, 1), "aria-hidden": "true"}, shapes),
    el("figcaption", {}, name || (down === picture.axes.indexOf("C") ? "C down, space across" : "the output"))));
    for (let i = others.length - 1; i >= 0 && ++place[i] === extent[others[i]]; --i) place[i] = 0;
  }
  return el("div", {class: "planes"}, all);
}

function worstTable(worst) {
  return scrolled("The worst elements", el("table", {class: "small"}, el("caption", {}, "The worst elements"),
    head("Element", "#Error in ulp", "Got", "Want", "Admitted"),
    el("tbody", {}, worst.map((each) => el("tr", {}, el("th", {scope: "row", class: "mono"}, "[" + each.index.join(",") + "]"),
      el("td", {class: "num"}, each.ulp === null || each.ulp === undefined ? "no number" : String(each.ulp)),
      el("td", {class: "mono"}, each.got), el("td", {class: "mono"}, each.want),
      el("td", {class: "mono"}, each.lower ? "[" + each.lower + ", " + each.upper + "]" : "—"))))), "group");
}

function figure(picture) {
  const differs = picture.got_shape !== undefined;
  const grid = differs ? shapeCells(picture.shape, picture.got_shape) : picture;
  const counts = {};
  for (const cell of grid ? grid.cells : "") counts[CELLS[cell]] = (counts[CELLS[cell]] || 0) + 1;
  const words = Object.entries(counts).map(([kind, n]) => n + " " + CELL_WORDS[kind]).join(", ");
  const cut = !differs && product(picture.extent) < product(picture.shape);
  const alternative = (differs ? "The output has the shape [" + picture.got_shape.join(",") + "] and not [" + picture.shape.join(",") + "]"
    : "The output " + picture.type + "[" + picture.shape.join(",") + "], data set " + picture.set) +
    (cut ? ", cells from [" + picture.begin.join(",") + "] on, " + picture.extent.join("×") + " of them around the worst" : "") +
    (words ? ": " + words + "." : ".");
  return el("div", {class: "figure"}, el("p", {class: "label"}, "The output of the smallest case, element by element"),
    el("p", {class: "small"}, alternative),
    grid && product(grid.extent) > 0 ? el("div", {role: "img", "aria-label": alternative}, planes(picture, grid), keyOf(Object.keys(counts))) : null,
    picture.worst && picture.worst.length ? worstTable(picture.worst) : null);
}

// -- first screen

const sums = (counts, states) => states.reduce((sum, each) => sum + (counts[each] || 0), 0);
const listed = (counts, states) => states.filter((each) => counts[each]).map((each) => thousands(counts[each]) + " " + each);
const backendName = () => [report.backend.name, report.backend.version].filter(Boolean).join(" ");
// What breaks, of any counts of the report: every number of breaches on this page comes from here.
const breaking = (counts) => BREAKING.filter((word) => counts[word]).map((word) => ({word, kind: kindOf(word), count: counts[word]}));
const gravest = (parts) => Object.keys(KINDS).find((kind) => parts.some((each) => each.kind === kind));

// Special values are judged, and counted by themselves; a crash never is.
const isOfSpecialClass = (row) => hasApart && !report.classes[dictionary("class", row)].decides && !dictionary("class", row).startsWith("invalid");
const isSpecial = (row) => isOfSpecialClass(row) && state(row) !== "error";
// The words that a ledger or a baseline agreed to: of a state, or of a mark.
const agreedWords = (row) => (table.marks[row] || []).filter((each) => each.mark === "xfail" || each.mark === "known").map((each) => each.detail);
// A session counts as the state it ended in.
const wordOf = (mark) => mark.counts_as || mark.mark;
const isAgreed = (row) => dictionary("excused", row) === true || agreedWords(row).includes(state(row));
const marksThatBreak = (row) => (table.marks[row] || []).filter((each) => each.breaches && !agreedWords(row).includes(each.mark)).map((each) => each.mark);

// What the counts of an operator version and of its types leave out: marks, and how many of their breaches were agreed before the run.
const besides = new Map();
function note(row, word) {
  for (const key of ["", version(row), version(row) + " " + type(row)]) {
    if (!besides.has(key)) besides.set(key, {agreed: 0});
    besides.get(key)[word] = (besides.get(key)[word] || 0) + 1;
  }
}
for (let row = 0; row < table.count; ++row) {
  for (const mark of marksThatBreak(row)) note(row, mark);
  for (const mark of table.marks[row] || []) if (mark.counts_as && agreedWords(row).includes(mark.mark)) note(row, "agreed");
  if (!isSpecial(row) && BREAKING.includes(state(row)) && isAgreed(row)) note(row, "agreed");
}
const breakingAt = (counts, key) => breaking({...counts, ...besides.get(key)});
const agreedIn = (key) => (besides.get(key) || {agreed: 0}).agreed;
const agreedAt = (key) => (agreedIn(key) ? [thousands(agreedIn(key)) + " agreed"] : []);
const tags = (parts) => parts.map(({word, count}) => sign(word, thousands(count) + " " + word));

// What is said before and after the name.
function conclusion() {
  if (isFuzz) return report.conforms ? ["Nothing found in ", ""] : ["Found something in ", ""];
  if (report.certified === "conforms") return report.suite.complete ? ["Yes: ", " conforms"] : ["Perhaps: ", " conforms as far as it was tested"];
  return report.certified === "not conforming" ? ["No: ", " does not conform"] : ["Unknown: ", " gave nothing that could be judged"];
}

// Each word as something counted. What is left over is a case with a mark.
const THINGS = {fail: ["wrong answer"], below: ["answer below the level asked for", "answers below the level asked for"],
  contested: ["answer against an unclear clause", "answers against an unclear clause"], error: ["crash or hang", "crashes or hangs"],
  "not run": ["case not run after these", "cases not run after these"],
  unstable: ["answer that changes when run again", "answers that change when run again"], refused: ["legal model"],
  "stale session": ["answer left over from an earlier case", "answers left over from an earlier case"]};

function sentence(opening, kinds) {
  const thing = ({word, count}) => link(listHash({state: word, class: counted}), sign(word, many(count, ...(THINGS[word] || ["case marked " + word, "cases marked " + word]))));
  const things = (counts) => breaking(counts).filter((each) => kinds.includes(each.kind)).map(thing);
  const broken = kinds.includes("wrong") ? overEvery.filter(isBroken).length : 0;
  const states = things(report.totals), marks = things(report.marks).concat(broken ? [link("inputs", sign("wrong", many(broken, "function") + " wrong over every input"))] : []), own = causes.filter((each) => each.number && kinds.includes(kindOf(each.word)));
  const all = (parts) => parts.map((each, i) => [i ? i + 1 < parts.length ? ", " : " and " : "", each]);
  return el("p", {class: "says"}, opening, states.length + marks.length ? all(states) : "nothing found",
    own.length ? [" in ", link("cause-" + own[0].id, many(own.length, "cause"))] : null,
    marks.length && states.length ? "; besides, " : null, all(marks), ".");
}

// Functions that were run over every input of 16 bits.
const overEvery = (report.every_input || []).filter((each) => !each.unsupported);
const isBroken = (each) => each.counts.below + each.counts.fail > 0 || each.ended !== "";
const ulps = (each) => (each.worst ? "worst " + Number(each.worst.ulp.toPrecision(4)) + " ulp at " + each.worst.input : "no output is off");
function everyInput() {
  if (!overEvery.length) return null;
  const worst = overEvery.filter((each) => each.worst).sort((a, b) => b.worst.ulp - a.worst.ulp)[0], broken = overEvery.filter(isBroken).length;
  return el("p", {class: "says"}, "Over every input: ", link("inputs", many(overEvery.length, "function") + " of 16 bits"), broken ? ", " + thousands(broken) + " not within the bound" : ", all within the bound",
    worst ? "; " + worst.op + " " + worst.type + " " + ulps(worst) : "", ".");
}

function specials() {
  if (!report.special || !sums(report.special, STATES)) return null;
  const words = listed(report.special, breaking(report.special).map((each) => each.word)).join(", ");
  return el("p", {class: "special soft"}, "Special values: ", words && hasApart ? link(listHash({state: "breaches", class: "special"}), words) : words || "nothing breaks",
    "; judged, they do not count.");
}

const agreement = () => (agreedIn("") ? el("p", {class: "soft"}, link(listHash({state: "marked"}), thousands(agreedIn("")) + " of these"), " were agreed before the run; they do not count.") : null);

function lead() {
  if (isFuzz)
    return thousands(report.plan.asked) + " generated cases, seed " + report.plan.seed + (report.plan.complete ? "" : ", interrupted") +
      ". A campaign certifies nothing; it looks for what breaks.";
  const rows = report.operators, good = rows.filter((row) => row.certified === "conforms").length;
  const judged = rows.filter((row) => row.judged > 0).length;
  const partly = report.suite.complete ? "" : " This is no certificate: " + (report.suite.reached < report.suite.cases
    ? "the run was interrupted." : "only a part of the suite was run.");
  return good + " of " + many(judged, "operator version") + " that could be judged conform" + (good === 1 ? "s" : "") +
    (rows.length > judged ? "; " + (rows.length - judged) + " could not" : "") + "." + partly;
}

const dash = (words) => el("td", {class: "cell none"}, el("span", {class: "soft", "aria-hidden": "true"}, "—"), el("span", {class: "unseen"}, words));
// The outcome as a sign, what breaks as signs of its own, then a line of details.
const outcome = (first, parts, details) => [first, tags(parts), el("span", {class: "detail"}, details.filter(Boolean).join(" · "))];

function cell(row, name) {
  const counts = (row.types || {})[name];
  if (!counts) return dash("not tested");
  const key = row.op + " " + name, standing = (row.standings || {})[name], parts = breakingAt(counts, key), all = sums(counts, STATES);
  if (standing && standing.legal === 0 && !parts.length) return dash("no legal case");
  const turnedAway = !parts.length && counts.unsupported && (!standing || standing.judged === 0);
  const word = turnedAway || counts.unsupported === all ? "unsupported" : standing ? standing.certified : parts.length ? "not conforming" : "nothing found";
  const first = word === "not conforming" && parts.length ? null : word === "nothing found" ? sign("pass", word) : sign(word, {"not certified": "not judged"}[word]);
  const rest = word === "unsupported" ? [thousands(counts.unsupported) + " cases"] : !parts.length && counts.pass ? [thousands(counts.pass) + " pass"] : [];
  return el("td", {class: "cell", "data-label": name}, link(listHash({op: row.op, type: name, ...(parts.length ? {state: "breaches", class: counted} : {})}),
    outcome(first, parts, [standing && standing.level].concat(rest, agreedAt(key)))));
}

function wholeCell(row) {
  const parts = breakingAt(row.counts, row.op);
  const first = isFuzz ? (parts.length ? null : sign("pass", "nothing found")) : row.certified === "not conforming" ? sign(gravest(parts) || "wrong", "not conforming") : sign(row.certified);
  return el("td", {class: "cell"}, outcome(first, parts, [row.level].concat(agreedAt(row.op))));
}

// Where it breaks: for one cause a predicate that no case that passes meets; an empty one is met by every case.
const predicate = (when) => (when === "" ? "everywhere: no legal case passes" : el("code", {}, said(when)));
function exception(row, {cause, cases, when, others}) {
  const own = causes[cause - 1];
  return el("li", {}, when.length ? when.map((each, i) => [i ? el("span", {class: "soft"}, " or ") : null, predicate(each)]) : "in cases that no condition tells from those that pass",
    when.length && others ? el("span", {class: "soft"}, ", and in " + many(others, "case") + " that no condition tells from those that pass") : null,
    el("span", {class: "why"}, link(listHash({op: row.op, cause: String(cause)}), tags([{word: own.word, count: cases}])), " ", link("cause-" + own.id, "cause " + cause), " ",
      el("span", {class: "soft"}, said(middleOut(own.detail || own.says)))));
}

function versionBody(row) {
  const others = causes.filter((each) => (isFuzz || !each.number) && each.versions.has(row.op)).map((each) =>
    el("li", {}, link("cause-" + each.id, tags([{word: each.word, count: each.versions.get(row.op)}])), " ", el("span", {class: "soft"}, said(middleOut(each.detail || each.says)))));
  const over = overEvery.filter((each) => each.op === row.op && isBroken(each)).map((each) => el("li", {}, link("inputs", sign("wrong", "over every " + each.type + " input"))));
  const where = (row.exceptions || []).map((each) => exception(row, each)).concat(others, over);
  const title = isFuzz ? "What was found" : row.judged ? "Conforms, except where" : "Breaks where";
  return el("div", {class: "within"}, isFuzz ? null : el("p", {class: "small"}, thousands(row.judged) + " of " + many(row.legal, "legal case") + " could be judged.",
    row.certified === "conforms" && !where.length ? " It conforms." : null), where.length ? block(title, el("ul", {class: "plain where"}, where)) : null,
  el("p", {class: "small links"}, link(listHash({op: row.op}), "Its verdicts"), textOf(row.op, "Its text in the standard")));
}

const versionRows = new Map();
function versionRow(row, cells) {
  const place = el("td", {colspan: cells.length + 1}), body = el("tr", {class: "more", hidden: true}, place);
  const button = el("button", {type: "button", class: "bare item toggle", "aria-expanded": "false"}, row.op);
  versionRows.set(row.op, opener(button, body, place, () => versionBody(row)));
  return [el("tr", {id: "version-" + row.op}, el("th", {scope: "row"}, button), cells), body];
}

function matrix() {
  const order = ["bf16", "f16", "f32", "f64", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "bool", "string",
    "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f6e2m3", "f6e3m2", "f4e2m1", "u4", "i4", "u2", "i2"];
  // A type that only models that break a constraint have is no column.
  const isShown = (row, name) => row.types && row.types[name] && (isFuzz || !row.standings || !row.standings[name] ||
    row.standings[name].legal > 0 || breaking(row.types[name]).length > 0);
  const types = order.filter((name) => report.operators.some((row) => isShown(row, name)));
  const judged = (row) => (row.legal ? Math.floor(100 * row.judged / row.legal) + " %" : "—");
  const cells = (row) => [wholeCell(row), ...types.map((name) => cell(row, name)), ...(isFuzz ? [] : [el("td", {class: "num", "data-label": "judged"}, judged(row))])];
  const words = (isFuzz ? "What was found, by operator version and type of the first input." : "Verdict, level reached and what breaks it, by operator version and type of the first input.") +
    " A version opens on where it breaks; a cell leads to its verdicts.";
  return [el("p", {class: "small soft"}, words), legend(), scrolled("Verdict by operator version and type", el("table", {class: "matrix versions stacks"},
    el("caption", {class: "unseen"}, "Verdict by operator version and type"),
    head("Operator version", "All types", ...types, ...(isFuzz ? [] : ["#Judged"])),
    el("tbody", {}, report.operators.map((row) => versionRow(row, cells(row))))))];
}

function unsupportedReasons() {
  const reasons = new Map(), column = table.state, wanted = column.values.indexOf("unsupported");
  if (wanted < 0) return [];
  for (let row = 0; row < table.count; ++row)
    if (column.rows[row] === wanted) {
      const words = detail(row) || because(row);
      reasons.set(words, (reasons.get(words) || 0) + 1);
    }
  return [...reasons].sort((a, b) => b[1] - a[1]);
}

// The kinds of change, as reports/README.md has them.
const CHANGES = {broken: "broken, now a breach", worse: "a graver breach", lost: "unsupported now", fixed: "fixed", better: "a milder breach", gained: "supported now",
  reading: "another reading", "level down": "a weaker level", "level up": "a stronger level", otherwise: "ends otherwise"};

function changesColumn() {
  const changes = data.changes, known = report.baseline;
  if (!changes && !known)
    return el("div", {}, el("h2", {class: "sub"}, "Since the baseline"), el("p", {class: "small soft"}, "None was named; --baseline OLD.json tells what changed."));
  const items = [];
  const counted = (number, words, filter) => { if (number) items.push(el("li", {}, filter ? link(listHash(filter), el("b", {}, thousands(number)), " " + words) : [el("b", {}, thousands(number)), " " + words])); };
  if (changes) {
    for (const [kind, number] of Object.entries(changes.counts))
      counted(number, isFuzz ? "kinds of failure that are " + (kind === "broken" ? "new" : "gone") : "cases: " + CHANGES[kind], isFuzz ? null : {change: kind});
    counted(changes.fresh, "cases that are new");
    counted(changes.gone, "cases that are gone");
    for (const each of changes.versions)
      items.push(el("li", {}, link("version-" + each.op, each.op), ": " + (each.before || "not there") + " → " + (each.after || "not there")));
    for (const remark of changes.remarks) items.push(el("li", {}, remark + "."));
  }
  if (known) items.push(el("li", {}, el("b", {}, thousands(known.new)), " new, " + thousands(known.known) + " known, " + thousands(known.fixed.length) + " fixed, as the run counted them"));
  return el("div", {}, el("h2", {class: "sub"}, "Since the baseline"),
    changes ? el("p", {class: "small soft"}, changes.file + ": ", said(changes.from)) : null,
    el("ul", {}, items.length ? items : el("li", {}, "Nothing changed.")));
}

function firstScreen() {
  const section = byId("ship"), [before, after] = conclusion(), options = report.backend.options;
  document.title = plain(before + backendName() + after + " — assay");
  byId("ship-title").replaceChildren();
  fill(byId("ship-title"), {}, [before, said(backendName()), after]);
  const facts = ["Level asked: " + report.level, "mode: " + report.mode, "device: " + report.backend.device,
    "threads " + options.threads + ", optimization " + options.optimization +
      Object.entries(options.set || {}).map(([k, v]) => ", " + k + "=" + v).join(""),
    "ONNX " + report.standard.release, "assay " + report.tool.version,
    report.suite ? "suite " + report.suite.hash.slice(0, 8) + ", " + thousands(report.suite.reached) + " of " + thousands(report.suite.cases) + " cases" : null,
    report.run.started + ", " + Math.round(report.run.seconds) + " s"];
  section.append(...[sentence("What is wrong: ", ["wrong", "crash"]), sentence("What is only refused: ", ["refused"]), everyInput(), agreement(), specials(), el("p", {class: "lead"}, lead())].filter(Boolean), el("ul", {class: "facts"}, facts.filter(Boolean).map((each) => el("li", {}, said(each)))), ...matrix());
  const followed = report.rulings.filter((row) => Object.keys(row.followed).length);
  const reasons = unsupportedReasons();
  section.append(el("div", {class: "columns"},
    el("div", {}, el("h2", {class: "sub"}, "Readings followed"), el("ul", {}, followed.map((row) => el("li", {}, link("reading-" + row.id, row.id), " ",
      Object.entries(row.followed).map(([name, n], i) => [i ? " · " : "", said(name), " ", el("b", {}, thousands(n))])))),
    followed.length ? null : el("p", {class: "small soft"}, "No case showed one.")),
    el("div", {}, el("h2", {class: "sub"}, "Not supported"), el("ul", {}, reasons.slice(0, 6).map(([words, n]) =>
      el("li", {}, link(listHash({state: "unsupported", q: shortened(words, 60).replace("…", "")}), el("b", {}, thousands(n))), " ", said(shortened(words, 140))))),
    reasons.length > 6 ? el("p", {class: "small soft"}, "and " + many(reasons.length - 6, "further reason")) : null,
    reasons.length ? null : el("p", {class: "small soft"}, report.totals.unsupported ? many(report.totals.unsupported, "case") + "; a campaign keeps no reasons." : "Nothing was turned away as unsupported.")),
    changesColumn()));
}

// -- causes

const isWords = (text) => typeof text === "string" && text !== "";

// What a campaign found is told by its smallest finding; a certificate's cause has that with it.
function sorted() {
  const findings = new Map(isFuzz ? report.findings.map((each) => [each.line, each]) : []);
  return report.causes.map((cause, i) => {
    const smallest = isFuzz ? findings.get(cause.smallest) || {} : cause;
    const first = isFuzz ? null : report.findings.find((each) => each.cause === i + 1);
    return {number: i + 1, id: String(i + 1), word: cause.state, says: cause.sentence, detail: smallest.detail || "", count: cause.count,
      versions: new Map(Object.entries(cause.versions)), needs: cause.needs, where: exceptionsOf(i + 1), smallest: cause.smallest, replay: cause.replay,
      clauses: smallest.clauses || [], row: first ? rowOf(first.first) : undefined,
      picture: smallest.picture, account: smallest.account, evidence: smallest.evidence};
  });
}

// Predicates, with the operator versions that share one.
function exceptionsOf(number) {
  const all = new Map();
  for (const row of report.operators)
    for (const each of row.exceptions || [])
      if (each.cause === number) each.when.forEach((when) => all.set(when, (all.get(when) || []).concat(row.op)));
  return [...all];
}

// Marks that break conformance, and what an interrupted run did not sort.
function unsorted() {
  const breaks = (each) => {
    const mark = (table.marks[rowOf(each.first)] || []).find((own) => own.mark === each.mark && own.by === each.because);
    return each.mark && each.mark !== "session" ? !mark || mark.breaches : each.deciding;
  };
  const wordAt = (each) => ((table.marks[rowOf(each.first)] || []).find((own) => own.mark === each.mark) || {}).counts_as || each.mark || each.state;
  return (isFuzz ? [] : report.findings).filter((each) => !each.cause && breaks(each)).map((each, i) => ({
    id: "mark-" + (i + 1), word: wordAt(each), says: each.op + ": " + each.count + " " + (each.mark || each.state) + " (" + each.because + ")",
    detail: each.detail, count: each.count, versions: new Map([[each.op, each.count]]), needs: each.needs, where: [],
    smallest: each.smallest.line, replay: each.smallest.replay || each.replay, clauses: each.clauses, row: rowOf(each.smallest.id)}));
}

const causes = sorted().concat(unsorted());
function causeBody(cause) {
  return [
    el("div", {class: "pair"},
      el("div", {}, block("Smallest case", el("p", {class: "line"}, said(cause.smallest))), block("Ask it again", copied(cause.replay)), takeAway(cause.account),
        isWords(cause.detail) ? block(cause.word === "refused" || cause.word === "error" ? "In its words" : "What was found", el("p", {class: "small"}, said(cause.detail))) : null,
        cause.where.length ? block("Where it breaks, and nothing passes", cause.where.map(([when, ops]) => el("p", {class: "small"}, predicate(when), el("span", {class: "soft"}, " ", ops.join(", "))))) : null,
        cause.needs.length ? block("What the case has", el("p", {class: "small"}, cause.needs.join(", "))) : null),
      el("div", {}, block("Operator versions", el("p", {class: "small"}, [...cause.versions].map(([op, n], i) =>
        [i ? ", " : "", link("version-" + op, op), " ", !hasCauses || !cause.number ? el("b", {}, thousands(n)) : link(listHash({op, cause: cause.id}), many(n, "case"))]))),
      cause.clauses.length ? block("The clauses this case rests on", cause.clauses.map((id) => quotation(id, [...cause.versions.keys()]))) : null,
      cause.row !== undefined ? el("p", {class: "small"}, link("verdict-" + table.id[cause.row], "Its first verdict")) : null)),
    cause.picture ? figure(cause.picture) : null,
    cause.evidence ? evidence(cause.evidence) : null,
  ];
}

function causeArticle(cause) {
  const body = el("div", {class: "body", hidden: true, id: "body-" + cause.id});
  const button = el("button", {type: "button", class: "bare item", "aria-expanded": "false", "aria-controls": "body-" + cause.id},
    el("span", {class: "number"}, cause.number || "–"), sign(cause.word), el("span", {class: "count"}, thousands(cause.count) + "×"),
    el("span", {class: "words"}, said(cause.says), isWords(cause.detail) && !cause.says.includes(cause.detail) ? el("span", {class: "soft"}, said(middleOut(cause.detail))) : null));
  cause.open = opener(button, body, body, () => causeBody(cause), (really) => { if (really) history.replaceState(null, "", "#cause-" + cause.id); });
  return el("article", {class: "cause k-" + kindOf(cause.word), id: "cause-" + cause.id}, el("h3", {}, button), body);
}

function drawCauses() {
  byId("causes").append(el("p", {class: "soft"}, causes.length ? "What breaks conformance, the gravest first. Every line can be replayed." : "Nothing breaks conformance."),
    ...(causes.length ? [legend()] : []), ...causes.map(causeArticle));
}

// -- errors

// The proven bound in ulp, case by case. A share is (error - 1/2 ulp) / budget, both in the report, so the bound is what
// makes the share of the worst error 1. Where the largest error and the largest share are of two elements it lies between
// the bounds of these. What the last rounding explains has no share, and tells no bound.
let boundsOfAll = null;
function boundsOf(op, wanted) {
  if (isFuzz) return [];  // it keeps failures only
  if (!boundsOfAll) {
    boundsOfAll = new Map();
    for (let row = 0; row < table.count; ++row) {
      const ulp = table.worst_ulp[row], share = table.worst_share[row];
      if (!(ulp > 0.5) || !(share > 0)) continue;
      const name = version(row);
      if (!boundsOfAll.has(name)) boundsOfAll.set(name, []);
      boundsOfAll.get(name).push({type: type(row), ulp: 0.5 + (ulp - 0.5) / share});
    }
  }
  return (boundsOfAll.get(op) || []).filter((each) => wanted === "" || each.type === wanted).map((each) => each.ulp);
}

function binned(values) {
  const bins = new Map();
  for (const value of values) {
    const bin = Math.min(40, Math.max(-24, Math.floor(Math.log2(value))));
    bins.set(bin, (bins.get(bin) || 0) + 1);
  }
  return bins;
}

// `mark` is where the bound stands; `bounds`, where it differs from case to case, how many have it in which bin.
function bars(rows, wide, mark, label, bounds = new Map()) {
  const bins = rows.map((row) => row.bin).concat([...bounds.keys()], mark === null ? [] : [Math.floor(mark) - 1, Math.floor(mark)]);
  const first = Math.min(...bins), last = Math.max(...bins);
  const most = Math.max(10, ...rows.map((row) => Math.max(row.inside, row.outside)), ...bounds.values());
  const width = 300, height = 138, left = 28, foot = 108, step = (width - left - 4) / (last - first + 1);
  const up = (n) => foot - (n > 0 ? (Math.log10(n) + 0.3) / (Math.log10(most) + 0.3) * 92 : 0);
  const across = (bin) => left + (bin - first) * step;
  const parts = [];
  for (let n = 1; n <= most; n *= 10)
    parts.push(svg("line", {x1: left, x2: width, y1: up(n), y2: up(n), class: "c-axis", "stroke-opacity": 0.25}), svg("text", {x: left - 4, y: up(n) + 3, "text-anchor": "end"}, String(n)));
  for (const row of rows) {
    if (row.inside) parts.push(svg("rect", {class: "c-inside", x: across(row.bin) + 1, y: up(row.inside), width: Math.max(1, step * (row.outside ? 0.5 : 1) - 2), height: foot - up(row.inside)}));
    if (row.outside) parts.push(svg("rect", {class: "c-outside", x: across(row.bin) + (row.inside ? step * 0.5 : 0) + 1, y: up(row.outside), width: Math.max(1, step * (row.inside ? 0.5 : 1) - 2), height: foot - up(row.outside)}));
  }
  if (bounds.size) {
    let outline = "M" + across(first) + " " + foot;
    for (let bin = first; bin <= last; ++bin) outline += "V" + up(bounds.get(bin) || 0) + "H" + across(bin + 1);
    parts.push(svg("path", {class: "c-bounds", d: outline + "V" + foot}));
  }
  if (mark !== null) parts.push(svg("line", {class: "c-line", x1: across(mark), x2: across(mark), y1: 4, y2: foot}), svg("text", across(mark) > 110 ? {x: across(mark) - 3, y: 9, "text-anchor": "end"} : {x: across(mark) + 3, y: 9}, bounds.size ? "tightest proven bound" : "proven bound"));
  parts.push(svg("line", {class: "c-axis", x1: left, x2: width, y1: foot, y2: foot}));
  const every = Math.max(1, Math.ceil((last - first + 1) / 7));
  for (let bin = first; bin <= last; bin += every) parts.push(svg("text", {x: across(bin), y: foot + 12, "text-anchor": "middle"}, bin > -4 && bin < 11 ? String(2 ** bin) : "2^" + bin));
  parts.push(svg("text", {x: width - 2, y: height - 4, "text-anchor": "end"}, wide));
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label}, parts);
}

function added(all, kind) {
  const sum = new Map();
  for (const each of all)
    for (const row of each[kind]) {
      const own = sum.get(row.bin) || {bin: row.bin, inside: 0, outside: 0};
      own.inside += row.inside, own.outside += row.outside;
      sum.set(row.bin, own);
    }
  return [...sum.values()].sort((a, b) => a.bin - b.bin);
}

const numbers = (what, rows) => el("table", {}, head(what + ", from", "#inside", "#outside"), el("tbody", {}, rows.map((each) =>
  el("tr", {}, el("th", {scope: "row"}, "2^" + each.bin), el("td", {class: "num"}, thousands(each.inside)), el("td", {class: "num"}, thousands(each.outside))))));

function chart(row, wanted) {
  const all = (row.errors || []).filter((each) => wanted === "" || each.type === wanted);
  if (!all.length) return null;
  const ulp = added(all, "ulp"), share = added(all, "share");
  const cases = all.reduce((sum, each) => sum + each.cases, 0), exact = all.reduce((sum, each) => sum + each.exact, 0), special = all.reduce((sum, each) => sum + each.special, 0);
  const largest = ulp.length ? ulp[ulp.length - 1].bin + 1 : 0, outside = ulp.reduce((sum, each) => sum + each.outside, 0);
  const words = `${row.op}: ${exact} of ${cases} cases correctly rounded throughout` + (ulp.length ? `, the others at most 2^${largest} ulp, ${outside} outside the level asked for` : "");
  const bounds = ulp.length ? boundsOf(row.op, wanted) : [], tightest = bounds.length ? Math.min(...bounds) : null;
  const bound = bounds.length ? ", the proven bound of these cases from " + tightest.toPrecision(3) + " to " + Math.max(...bounds).toPrecision(3) + " ulp" : "";
  return el("div", {class: "chart"}, el("h3", {}, row.op, el("span", {class: "soft small"}, thousands(cases) + " cases")),
    el("p", {class: "small soft"}, thousands(exact) + " correctly rounded throughout" + (special ? "; " + thousands(special) + " wrong by a NaN or an infinity" : "")),
    ulp.length ? bars(ulp, "error, ulp", tightest === null ? null : Math.log2(tightest), words + bound, binned(bounds)) : null,
    share.length ? bars(share, "share of the proven bound", 0, row.op + ": share of the proven bound that cases use") : null,
    ulp.length + share.length ? el("details", {class: "small"}, el("summary", {}, "Numbers"), numbers("ulp", ulp), numbers("share of the bound", share)) : null);
}

function drawErrors() {
  const section = byId("errors");
  const types = [...new Set(report.operators.flatMap((row) => (row.errors || []).map((each) => each.type)))];
  if (!types.length) {
    section.append(el("p", {class: "soft"}, "This report carries no error measures."));
    return;
  }
  const charts = el("div", {class: "charts"});
  const draw = () => charts.replaceChildren(...report.operators.map((row) => chart(row, select.value)).filter(Boolean));
  const select = el("select", {id: "errors-type", onchange: draw}, el("option", {value: ""}, "all types"), types.map((each) => el("option", {value: each}, each)));
  section.append(el("p", {class: "soft"}, "The worst element of each case that is not correctly rounded throughout: above in units in the last place of the exact value, below as the share it uses of the proven bound, which no order of evaluation exceeds at the level asked for. The bound is drawn in: below it is the dashed line; above it differs from case to case, the outline counts the bounds of these cases and the dashed line is the tightest of them. What the last rounding explains uses none of the bound. All axes are logarithmic."),
    el("div", {class: "key", "aria-hidden": "true"}, el("span", {}, svg("svg", {viewBox: "0 0 14 14"}, svg("rect", {class: "c-inside", width: 14, height: 14})), "inside"),
      el("span", {}, svg("svg", {viewBox: "0 0 14 14"}, svg("rect", {class: "c-outside", width: 14, height: 14})), "outside the level asked for"),
      el("span", {}, svg("svg", {viewBox: "0 0 14 14"}, svg("path", {class: "c-bounds", d: "M1 14V6H7V2H13V14"})), "proven bounds, in ulp")),
    el("div", {class: "filters"}, el("label", {}, "Type", select)), charts);
  draw();
}

// -- every input

const INPUT_BINS = 1024;
// Columns stand for bins of inputs: the most negative at the left, zero in the middle. One step up doubles the error.
function landscape(each) {
  const width = 512, height = 132, left = 34, bits = each.of / INPUT_BINS, allowed = data.bounds[each.op + " " + each.type] || [];
  const up = (ulp) => Math.log2(Math.max(ulp, 0.5)) + 1, most = Math.max(4, Math.ceil(each.worst ? up(each.worst.ulp) : 1) + 1);
  const y = (level) => 4 + height * (1 - Math.min(level, most) / most), half = INPUT_BINS / 2;
  const x = (bin) => left + (bin < half ? half + bin : INPUT_BINS - 1 - bin) * width / INPUT_BINS;
  const parts = [], bad = new Set(each.breaches.map((own) => Math.floor(own.pattern / bits)));
  for (let level = 0, every = Math.ceil(most / 6); level <= most; level += every)
    parts.push(svg("line", {x1: left, x2: left + width, y1: y(level), y2: y(level), class: "c-axis", "stroke-opacity": 0.25}), svg("text", {x: left - 4, y: y(level) + 3, "text-anchor": "end"}, level < 12 ? String(2 ** level / 2) : "2^" + (level - 1)));
  let bars = "", wrong = "", line = "", before = null;
  for (const peak of each.peaks) {
    const bin = Math.floor(peak.pattern / bits), bar = `M${x(bin)} ${y(0)}V${y(up(peak.ulp))}h0.6V${y(0)}Z`;
    if (bad.has(bin)) wrong += bar; else bars += bar;
  }
  for (const bin of bad) wrong += `M${x(bin) - 1.5} ${y(most)}h3.6v6h-3.6Z`;
  const order = allowed.map((_, i) => i).sort((a, b) => x(4 * a) - x(4 * b));
  for (const i of order) {
    if (allowed[i] !== null) line += (before === null ? "M" : "L") + x(4 * i) + " " + y(up(allowed[i]));
    before = allowed[i];
  }
  parts.push(svg("path", {class: "c-inside", d: bars}), svg("path", {class: "c-outside", d: wrong}), svg("path", {class: "c-bounds", d: line}), svg("line", {class: "c-axis", x1: left, x2: left + width, y1: y(0), y2: y(0)}));
  const exponents = each.type === "f16" ? [-7, 0, 8] : [-63, 0, 64], least = each.type === "f16" ? -14 : -126, binades = each.type === "f16" ? 32 : 256;
  for (const exponent of exponents)
    for (const sign of [-1, 1]) parts.push(svg("text", {x: left + width / 2 * (1 + sign * (exponent - least + 1) / binades), y: height + 16, "text-anchor": "middle"}, (sign < 0 ? "-" : "") + (exponent ? "2^" + exponent : "1")));
  parts.push(svg("text", {x: left + width / 2, y: height + 16, "text-anchor": "middle"}, "0"));
  return svg("svg", {viewBox: `0 0 ${left + width + 4} ${height + 20}`, role: "img", "aria-label": each.op + " " + each.type + ": error in ulp over the inputs, " + ulps(each)}, parts);
}

function inputsChart(each) {
  const shares = Object.entries(each.counts).filter(([, n]) => n).map(([word, n]) => (word === "fail" || word === "below" ? [sign(word, thousands(n) + " " + word)] : [(n === each.inputs ? "all" : (100 * n / each.inputs).toFixed(3) + " %") + " " + word]));
  const odd = [[each.disorders.count, "in the wrong order"], [each.exits.count, "outside of the function's range"]].filter(([n]) => n).map(([n, words]) => "; " + thousands(n) + " " + words);
  return el("div", {class: "chart"}, el("h3", {}, each.op + " " + each.type, el("span", {class: "soft small"}, ulps(each))),
    el("p", {class: "small soft"}, each.ended ? [sign("error", each.ended)] : shares.map((words, i) => [i ? ", " : "", words]), odd, each.contested ? "; contested: " + each.contested : ""),
    each.inputs ? landscape(each) : null,
    each.breaches.slice(0, 1).map((breach) => [el("p", {class: "small mono"}, said("got " + breach.got + ", want " + breach.want)), copied(breach.replay)]));
}

function drawInputs() {
  const section = byId("inputs");
  if (!report.every_input) return section.remove();
  const names = (all) => ["f16", "bf16"].map((name) => [name, all.filter((each) => each.type === name).map((each) => each.op).join(", ")]).filter(([, ops]) => ops).map(([name, ops]) => name + ": " + ops).join("; ");
  const drawn = overEvery.filter((each) => isBroken(each) || (each.worst && each.worst.ulp > 0.51)).sort((a, b) => isBroken(b) - isBroken(a));
  const rest = overEvery.filter((each) => !drawn.includes(each)), right = rest.filter((each) => !each.worst), close = rest.filter((each) => each.worst), absent = report.every_input.filter((each) => each.unsupported);
  section.append(el("p", {class: "soft"}, "Functions of one number over all 65,536 numbers of a type. Each column stands for the inputs of one sign and of a part of a binade, from the most negative at the left to the largest at the right; its height is the largest error among their outputs, in ulp of the exact value, and the line what is allowed. Half an ulp is correct rounding."),
    ...[right.length ? el("p", {}, "All outputs correctly rounded: " + names(right) + ".") : null,
      close.length ? el("p", {}, "Correctly rounded but for a few outputs, of which none is off by more than 0.51 ulp: " + names(close) + ".") : null, absent.length ? el("p", {class: "soft"}, "Unsupported: " + names(absent) + ".") : null].filter(Boolean),
    el("div", {class: "charts broad"}, drawn.map(inputsChart)));
}

// -- model

// The nodes in the order of the model, each with its verdict and the cause beside it.
function drawModel() {
  const section = byId("model"), nodes = report.nodes;
  if (!nodes) return section.remove();
  const digits = (value) => (value === undefined ? "" : Number(value.toPrecision(3)).toString());
  const word = (state) => (state === "not judged" ? "unsupported" : state);
  const why = (node) => (node.cause ? [link("cause-" + causes[node.cause - 1].id, "cause " + node.cause), " ", el("span", {class: "soft"}, said(causes[node.cause - 1].says))]
    : node.state === "pass" ? [] : [el("span", {class: "soft"}, said(node.because || ""))]);
  const judged = nodes.filter((node) => node.worst_ulp !== undefined).length;
  section.append(el("p", {class: "soft"}, said(report.model.file), ": " + judged + " of " + many(nodes.length, "node") + " judged, each on small integers, on numbers of full significands and on what arrives there."),
    scrolled("Verdict by node", el("table", {class: "stacks"}, el("caption", {class: "unseen"}, "Verdict by node"), head("Node", "Operator", "Verdict", "#Worst ulp", "#Share of the bound", "Cause"),
      el("tbody", {}, nodes.map((node) => el("tr", {}, el("th", {scope: "row"}, said(node.name)), el("td", {"data-label": "operator"}, said(node.op)), el("td", {"data-label": "verdict"}, sign(word(node.state), node.state)),
        el("td", {class: "num", "data-label": "worst ulp"}, digits(node.worst_ulp)), el("td", {class: "num", "data-label": "share of the bound"}, digits(node.worst_share)), el("td", {}, why(node))))))));
  drawWindows(section);
}

// The windows of several nodes that do not conform, each with what differs and how to run it again.
function drawWindows(section) {
  const windows = report.windows || [], broken = windows.filter((each) => each.replay);
  if (!windows.length) return;
  section.append(el("p", {class: "soft"}, "Of " + many(windows.length, "window") + " of two to six nodes, with data that no rewriting of the graph may change, " + windows.filter((each) => each.state === "pass").length + " pass."));
  if (broken.length) section.append(scrolled("Windows that do not conform", el("table", {class: "stacks"}, el("caption", {class: "unseen"}, "Windows that do not conform"), head("Nodes", "Verdict", "What differs", "Replay"),
    el("tbody", {}, broken.map((each) => el("tr", {}, el("th", {scope: "row"}, said(each.nodes.join(" > "))), el("td", {"data-label": "verdict"}, sign(each.state, each.state)), el("td", {}, said(each.because || "")), el("td", {}, el("code", {}, said(each.replay)))))))));
}

// -- graphs

// What drawn graphs came to: the causes, then which patterns were drawn beside what a rewriting may forget.
function drawGraphs() {
  const section = byId("graphs"), graphs = report.graphs;
  if (!graphs) return section.remove();
  const {totals, causes: found, cells} = graphs;
  section.append(el("p", {class: "soft"}, "Of " + many(graphs.graphs, "graph") + " of patterns that optimisers rewrite " + thousands(totals.pass) + " pass and " + thousands(totals.unscored) + " have no single right answer."));
  if (found.length) section.append(scrolled("Causes of wrong graphs", el("table", {class: "stacks"}, el("caption", {class: "unseen"}, "Causes of wrong graphs"), head("Cause", "Verdict", "#Graphs", "What differs", "Replay"),
    el("tbody", {}, found.map((each) => el("tr", {}, el("th", {scope: "row"}, said(each.text)), el("td", {"data-label": "verdict"}, sign(each.state, each.state)), el("td", {class: "num", "data-label": "graphs"}, thousands(each.graphs.length)), el("td", {}, said(each.detail)), el("td", {}, el("code", {}, said(each.replay)))))))));
  const patterns = cells.filter((each) => !each.hazard);
  const beside = (pattern) => cells.filter((each) => each.hazard && each.pattern === pattern).map((each) => each.hazard + " " + thousands(each.graphs) + (each.wrong ? " (" + thousands(each.wrong) + " wrong)" : "")).join(", ");
  section.append(el("details", {}, el("summary", {}, many(patterns.length, "pattern") + " and what a rewriting may forget there"), scrolled("Patterns", el("table", {class: "stacks"}, el("caption", {class: "unseen"}, "Patterns"), head("Pattern", "#Graphs", "#Judged", "#Wrong", "Beside it"),
    el("tbody", {}, patterns.map((each) => el("tr", {}, el("th", {scope: "row"}, each.pattern), el("td", {class: "num", "data-label": "graphs"}, thousands(each.graphs)), el("td", {class: "num", "data-label": "judged"}, thousands(each.judged)), el("td", {class: "num", "data-label": "wrong"}, thousands(each.wrong)), el("td", {class: "small"}, beside(each.pattern)))))))));
}

// -- coverage

function coverageOf(row) {
  const dimensions = row.dimensions || [], pairs = row.pairs.by_dimension || [];
  let at = 0;
  const cells = dimensions.map(() => []);
  for (let a = 0; a < dimensions.length; ++a) for (let b = a + 1; b < dimensions.length; ++b) cells[b][a] = pairs[at++];
  const shade = ([seen, possible]) => (!seen ? 0 : seen === possible ? 4 : seen >= 0.9 * possible ? 3 : seen >= 0.6 * possible ? 2 : 1);
  const grid = dimensions.length ? scrolled("Pairs of values that were covered", el("table", {class: "grid-coverage"},
    el("caption", {class: "unseen"}, "Share of the possible pairs of values, in percent"),
    el("thead", {}, el("tr", {}, el("td"), dimensions.slice(0, -1).map((each) => el("th", {scope: "col"}, el("span", {}, each.name))))),
    el("tbody", {}, dimensions.map((each, b) => (b ? el("tr", {}, el("th", {scope: "row"}, each.name), cells[b].map((pair, a) =>
      pair[1] ? el("td", {class: "v" + shade(pair), title: dimensions[a].name + " × " + each.name + ": " + pair[0] + " of " + pair[1] + " pairs"}, Math.floor(100 * pair[0] / pair[1]) === 100 ? el("span", {class: "full"}, "100") : String(Math.floor(100 * pair[0] / pair[1])))
        : el("td", {class: "soft"}, "·")), dimensions.slice(b, -1).map(() => el("td"))) : null))))) : null;
  const ids = (list) => list.length ? list.join(", ") : "none";
  return [el("p", {}, many(row.legal, "legal case") + ", " + many(row.near_misses, "near miss", "near misses") + "; " + thousands(row.pairs.seen) + " of " + thousands(row.pairs.possible) + " pairs of values."),
    grid ? el("p", {class: "small soft"}, "Share of the possible pairs of values that some case has, in percent, dimension by dimension.") : null, grid, el("div", {class: "columns"}, [
      block("Constraints broken alone", el("p", {class: "small"}, ids(row.constraints.broken)), row.constraints.unbroken.length ? el("p", {class: "small"}, "Not broken: " + ids(row.constraints.unbroken)) : null),
      block("Unclear clauses touched", el("p", {class: "small"}, ids(row.rulings.touched)), row.rulings.untouched.length ? el("p", {class: "small"}, "Not touched: " + ids(row.rulings.untouched)) : null),
      row.unseen_values.length ? block("Values not covered", el("p", {class: "small"}, row.unseen_values.join("; "))) : null,
      row.unseen_pairs.length ? block("Pairs not covered", el("p", {class: "small"}, row.unseen_pairs.join("; ") + (row.unseen_left_out ? "; and " + thousands(row.unseen_left_out) + " more" : ""))) : null,
      dimensions.length ? el("details", {class: "small"}, el("summary", {}, "Cases with each value"), el("dl", {}, valuesOf(row, dimensions))) : null])];
}

function valuesOf(row, dimensions) {
  let at = 0;
  return dimensions.map((each) => [el("dt", {}, each.name), el("dd", {}, each.values.map((value) => value + " " + thousands(row.values[at++])).join(" · "))]);
}

function drawCoverage() {
  const section = byId("coverage"), rows = report.coverage || [];
  if (!rows.length) {
    section.append(el("p", {class: "soft"}, "This report carries no coverage."));
    return;
  }
  const place = el("div");
  const draw = () => place.replaceChildren(...coverageOf(rows[select.selectedIndex]).filter(Boolean));
  const select = el("select", {id: "coverage-version", onchange: draw}, rows.map((row) => el("option", {value: row.op}, row.op)));
  section.append(el("div", {class: "filters"}, el("label", {}, "Operator version", select)), place);
  draw();
}

// -- clauses

function drawReadings() {
  const section = byId("readings");
  const counts = (row) => Object.entries(row.followed).sort((a, b) => b[1] - a[1]).map(([name, n], i) => [i ? " · " : "", said(name), " ", el("b", {}, thousands(n))]);
  section.append(el("p", {class: "soft"}, "Where the standard is silent or contradicts itself: how it is ruled here, and which reading the backend showed in how many cases."),
    scrolled("Readings followed", el("table", {class: "stacks"}, head("Clause", "How it is ruled", "Followed"), el("tbody", {}, report.rulings.map((row) => {
      const clause = clauses.get(row.id) || {};
      return el("tr", {id: "reading-" + row.id}, el("th", {scope: "row"}, row.id, " ", el("span", {class: "small"}, row.title || clause.title || "")),
        el("td", {class: "small"}, clause.text || "", clause.readings && clause.readings.length > 1 ? el("span", {class: "soft"}, " Ruled: " + clause.readings[0] + "; else " + clause.readings.slice(1).join(", ") + ".") : null, " ", texts(row.id)),
        el("td", {"data-label": "followed"}, counts(row)));
    })))));
  if (!report.constraints || !report.constraints.length) return;
  section.append(el("h3", {}, "Models that break a constraint"), scrolled("Models that break a constraint", el("table", {},
    head("Constraint", "Says", "#refused", "#accepted", "#contested", "#unsupported", "#error"),
    el("tbody", {}, report.constraints.map((row) => el("tr", {id: "constraint-" + row.id}, el("th", {scope: "row"}, link(listHash({q: row.id, class: "invalid-static"}), row.id)), el("td", {class: "small"}, row.text, " ", texts(row.id)),
      ["refused", "accepted", "contested", "unsupported", "error"].map((name) => el("td", {class: "num"}, row[name] ? thousands(row[name]) : "·"))))))));
}

// -- the list of verdicts

const PAGE = 50;
const EVERYTHING = {q: "", op: "", state: "", type: "", class: "", cause: "", change: "", page: 0};
const filter = {...EVERYTHING};
const changed = new Map(((data.changes || {}).cases || []).map((each) => [each.id, each]));
let found = null, opened = -1;

// Whether a word of a state or of a mark is what the filter asks for.
const isAsked = (word) => (filter.state === "breaches" ? BREAKING.includes(word) : KINDS[filter.state] ? kindOf(word) === filter.state : word === filter.state);
// Marks count whatever the values; a state is on one side or the other.
function hasState(row) {
  const isHere = filter.class === "special" ? isSpecial(row) : filter.class !== "counted" || !isSpecial(row);
  if (filter.state === "" || filter.state === "marked") return isHere && (filter.state === "" || Boolean(table.marks[row]));
  const marks = (table.marks[row] || []).filter((each) => each.breaches || each.mark === filter.state);
  const isApart = (mark) => mark.counts_as === "fail" && isOfSpecialClass(row);
  const isMarkHere = (mark) => (filter.class === "special" ? isApart(mark) : filter.class !== "counted" || !isApart(mark));
  return (isHere && isAsked(state(row))) || marks.some((each) => isMarkHere(each) && (isAsked(wordOf(each)) || each.mark === filter.state));
}
const hasClass = (row) => ["", "special", "counted"].includes(filter.class) || dictionary("class", row) === filter.class;

function matches() {
  const words = filter.q.toLowerCase(), has = (text) => String(text || "").toLowerCase().includes(words);
  const spoken = ["detail", "because", "pattern", "violated"].map((name) => [table[name].rows, table[name].values.map((each) => words !== "" && has(each))]);
  const start = filter.op + " ", rows = [];
  for (let row = 0; row < table.count; ++row) {
    if (filter.op && !line(row).startsWith(start)) continue;
    if (!hasState(row) || !hasClass(row)) continue;
    if (filter.cause && ![dictionary("cause", row), ...(table.marks[row] || []).map((each) => each.cause)].map(String).includes(filter.cause)) continue;
    if (filter.type && type(row) !== filter.type) continue;
    if (filter.change && (changed.get(table.id[row]) || {}).kind !== filter.change) continue;
    if (words && !spoken.some(([at, fits]) => fits[at[row]]) && !table.id[row].startsWith(words) && !has(line(row))) continue;
    rows.push(row);
  }
  return rows;
}

// The list opens on what breaks, where anything does that was not agreed.
function atFirst() {
  const all = breakingAt(report.totals, "").reduce((sum, each) => sum + each.count, 0);
  Object.assign(filter, EVERYTHING, all > agreedIn("") ? {state: "breaches", class: counted} : {});
  found = null, opened = -1;
}

function marksOf(row) {
  return (table.marks[row] || []).map((mark) => block("Mark: " + mark.mark + ", by " + mark.by, el("p", {class: "small"}, said(mark.detail)), copied(mark.replay)));
}

function more(row) {
  const facts = [["id", table.id[row]], ["class", dictionary("class", row)], ["level", dictionary("level", row)], ["origin", dictionary("origin", row)],
    ["index", table.index[row]], ["because", because(row)], ["detail", detail(row)], ["cause", dictionary("cause", row) ? link("cause-" + dictionary("cause", row), "cause " + dictionary("cause", row)) : null],
    ["reading", pairsOf(dictionary("readings", row))], ["follows", pairsOf(dictionary("followed", row))],
    ["elements", table.elements[row] === null ? null : table.elements[row] + ", of these " + table.exact[row] + " correctly rounded, " + table.unscored[row] + " unscored"],
    ["worst error", typeof table.worst_ulp[row] === "number" ? table.worst_ulp[row].toPrecision(3) + " ulp" +
      (typeof table.worst_share[row] === "number" ? ", " + (100 * table.worst_share[row]).toPrecision(3) + " % of the proven bound" : "") : null]];
  const change = changed.get(table.id[row]);
  if (change) facts.push(["before", change.before]);
  const violated = dictionary("violated", row) || [];
  return [block("Case", el("p", {class: "line"}, said(line(row)))),
    el("dl", {}, facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [el("dt", {}, name), el("dd", {}, value instanceof Node ? value : said(value))])),
    el("p", {class: "small"}, link("verdict-" + table.id[row], "Link to this verdict")),
    violated.length ? block("The constraint this model breaks", violated.map((id) => quotation(id, [version(row)]))) : null,
    replay(row) ? block("Ask it again", copied(replay(row))) : null, marksOf(row),
    table.evidence[row] ? evidence(table.evidence[row]) : null];
}
const pairsOf = (object) => (object ? Object.entries(object).map(([name, value]) => name + "=" + value).join(" ") : "");

function verdictRows(row) {
  const place = el("td", {colspan: 4}), body = el("tr", {class: "more", hidden: true}, place);
  const button = el("button", {type: "button", class: "bare item", "aria-expanded": "false"}, el("span", {class: "line"}, said(shortened(line(row), 400))));
  const marks = (table.marks[row] || []).map((each) => (each.breaches ? sign(wordOf(each), each.mark) : el("span", {class: "small soft"}, each.mark)));
  const tr = el("tr", {class: "row", id: "verdict-" + table.id[row]}, el("td", {}, sign(state(row)), isSpecial(row) && BREAKING.includes(state(row)) ? el("span", {class: "small soft"}, "special") : null, marks),
    el("td", {}, button), el("td", {class: "wide small"}, said(shortened(because(row) + (detail(row) && detail(row) !== because(row) ? ": " + detail(row) : ""), 120))),
    el("td", {class: "wide num small"}, [dictionary("level", row), typeof table.worst_ulp[row] === "number" && table.worst_ulp[row] > 0 ? table.worst_ulp[row].toPrecision(2) + " ulp" : null].filter(Boolean).join(" · ")));
  const open = opener(button, body, place, () => more(row), (really) => tr.classList.toggle("open", really));
  if (row === opened) open(true);
  return [tr, body];
}

const list = {};
function drawList() {
  if (!found) found = matches();
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  filter.page = Math.min(Math.max(0, filter.page), pages - 1);
  const rows = found.slice(filter.page * PAGE, (filter.page + 1) * PAGE);
  list.body.replaceChildren(...rows.flatMap(verdictRows));
  list.count.textContent = found.length === table.count ? many(found.length, isFuzz ? "failure" : "verdict") : thousands(found.length) + " of " + many(table.count, isFuzz ? "failure" : "verdict");
  list.where.textContent = "page " + thousands(filter.page + 1) + " of " + thousands(pages);
  list.back.disabled = filter.page === 0;
  list.next.disabled = filter.page >= pages - 1;
  for (const name of Object.keys(EVERYTHING)) if (list[name] && list[name] !== document.activeElement) list[name].value = filter[name];
}

function hashOfFilter() {
  const set = Object.entries(filter).filter(([, value]) => value !== "" && value !== 0);
  return "#verdicts?" + (set.length ? new URLSearchParams(set).toString() : "state=all");
}

function refilter(part) {
  Object.assign(filter, {page: 0}, part);
  found = null, opened = -1;
  drawList();
  history.replaceState(null, "", hashOfFilter());
  announce(list.count.textContent);
}

function turn(by) {
  filter.page += by;
  drawList();
  history.replaceState(null, "", hashOfFilter());
  byId("verdicts").scrollIntoView({block: "start"});
}

function drawVerdicts() {
  const section = byId("verdicts");
  const choose = (name, label, options) => {
    list[name] = el("select", {id: "filter-" + name, onchange: () => refilter({[name]: list[name].value})},
      el("option", {value: ""}, "all"), options.map(([value, words]) => el("option", {value}, words)));
    return el("label", {}, label, list[name]);
  };
  const same = (values) => values.filter(isWords).map((each) => [each, each]);
  const types = [...new Set(report.operators.flatMap((row) => Object.keys(row.types || {})))];
  let waiting = 0;
  list.q = el("input", {type: "search", id: "search", placeholder: "line, reason, constraint or id", autocomplete: "off", spellcheck: "false", oninput: () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => refilter({q: list.q.value.trim()}), 150);
  }});
  list.body = el("tbody");
  list.count = el("span", {id: "count"});
  list.where = el("span", {class: "soft small"});
  list.back = el("button", {type: "button", onclick: () => turn(-1)}, "Back");
  list.next = el("button", {type: "button", onclick: () => turn(1)}, "Next");
  section.append(...[
    isFuzz ? el("p", {class: "soft"}, "A campaign keeps what failed and what was marked; it ran " + many(report.plan.asked, "case") + ".") : null,
    el("form", {class: "filters", role: "search", "aria-label": "Verdicts", onsubmit: (event) => event.preventDefault()},
      el("label", {class: "grow"}, "Search", list.q), choose("op", "Operator", same(versions)),
      choose("state", "State", [["breaches", "what breaks"], ["wrong", "wrong answers"], ["crash", "crashes and hangs"], ["marked", "marked"]]
        .concat(same(Object.keys(report.marks).filter((mark) => report.marks[mark] > 0)), same(table.state.values))),
      choose("type", "Type", same(types)),
      isFuzz ? null : choose("class", "Class", (hasApart ? [["counted", "all that count"], ["special", "special values"]] : []).concat(same(table.class.values))),
      !hasCauses ? null : choose("cause", "Cause", report.causes.map((cause, i) => [String(i + 1), i + 1 + ": " + cause.count + " " + cause.state])),
      data.changes && !isFuzz ? choose("change", "Change", same(Object.keys(data.changes.counts))) : null,
      el("button", {type: "button", id: "reset", onclick: () => { list.q.value = ""; refilter(EVERYTHING); }}, "Show all")),
    el("div", {class: "pager"}, list.count, list.back, list.next, list.where),
    el("table", {class: "verdicts"}, el("caption", {class: "unseen"}, "Verdicts that match"),
      el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "State"), el("th", {scope: "col"}, "Case"), el("th", {scope: "col", class: "wide"}, "Because"), el("th", {scope: "col", class: "wide num"}, "Level"))), list.body)].filter(Boolean));
  atFirst();
  drawList();
}

// -- links, keys, colours

function route() {
  const hash = decodeURIComponent(location.hash.slice(1));
  if (hash === "verdicts") {
    atFirst();
    drawList();
    byId("verdicts").scrollIntoView();
  } else if (hash.startsWith("verdicts?")) {
    const wanted = new URLSearchParams(location.hash.slice(1).split("?")[1]);
    for (const name of Object.keys(filter)) filter[name] = name === "page" ? Number(wanted.get(name)) || 0 : wanted.get(name) || "";
    if (filter.state === "all") filter.state = "";
    found = null, opened = -1;
    drawList();
    byId("verdicts").scrollIntoView();
  } else if (hash.startsWith("verdict-")) {
    showVerdict(hash.slice(8));
  } else if (hash.startsWith("cause-")) {
    const cause = causes.find((each) => "cause-" + each.id === hash);
    if (cause) {
      cause.open(true);
      byId(hash).scrollIntoView();
      byId(hash).querySelector("button").focus({preventScroll: true});
    }
  } else if (hash && byId(hash)) {
    if (versionRows.has(hash.slice(8))) versionRows.get(hash.slice(8))(true);
    byId(hash).scrollIntoView();
  }
}

function showVerdict(id) {
  const row = rowOf(id);
  if (row === undefined) {
    announce("This report has no verdict " + id);
    return;
  }
  Object.assign(filter, EVERYTHING, {page: Math.floor(row / PAGE)});
  found = null, opened = row;
  drawList();
  byId("verdict-" + id).scrollIntoView({block: "center"});
  byId("verdict-" + id).querySelector("button").focus({preventScroll: true});
}

function step(by) {
  const items = [...document.querySelectorAll(".item")].filter((each) => each.offsetParent !== null);
  let at = items.indexOf(document.activeElement);
  if (at < 0) at = items.findIndex((each) => each.getBoundingClientRect().top > 60) - (by > 0 ? 1 : 0);
  const next = items[Math.min(Math.max(at + by, 0), items.length - 1)];
  if (next) next.focus();
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || byId("help").open) return;
  const actions = {"/": () => { byId("verdicts").scrollIntoView(); list.q.focus({preventScroll: true}); list.q.select(); }, j: () => step(1), k: () => step(-1), "?": () => byId("help").showModal(), t: toggleTheme,
    n: () => { if (!list.next.disabled) turn(1); }, p: () => { if (!list.back.disabled) turn(-1); }};
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

const THEMES = ["", "light", "dark"];
function toggleTheme() {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "") + 1) % 3];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  byId("theme").setAttribute("aria-label", "Colours: " + (next || "as the system"));
  announce("Colours: " + (next || "as the system"));
}

function drawFrame() {
  const names = {ship: "Summary", ...(report.nodes ? {model: "Model"} : {}), causes: "Causes", ...(report.graphs ? {graphs: "Graphs"} : {}), errors: "Errors", ...(report.every_input ? {inputs: "Every input"} : {}), coverage: "Coverage", readings: "Clauses", verdicts: "Verdicts"};
  byId("sections").append(...Object.entries(names).map(([id, words]) => link(id, words)));
  byId("theme").addEventListener("click", toggleTheme);
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  const keys = [["/", "search the verdicts"], ["j k", "next and previous operator version, cause or verdict"], ["Enter", "open or close it"], ["n p", "next and previous page of verdicts"], ["t", "colours: system, light, dark"], ["?", "this"], ["Esc", "leave"]];
  byId("help").append(el("dl", {}, keys.map(([key, words]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, words)])), el("h3", {}, "Words"),
    el("dl", {}, STATES.map((each) => [el("dt", {}, sign(each)), el("dd", {class: "small"}, WORDS[each])])),
    el("form", {method: "dialog"}, el("button", {}, "Close")));
  const run = report.run;
  byId("foot").append(el("p", {}, "Made from ", said(data.file), ", report schema " + report.schema + ", by assay. The JSON is the report; this page shows it. ",
    "Run: " + run.started + ", " + Math.round(run.seconds) + " s, " + many(run.jobs, "job") + ", ", said(run.cpu || "unknown processor"), ", ", said(run.isolation || ""), "."),
  el("p", {}, "Judgement " + report.judgement.hash.slice(0, 12) + (report.suite ? ", suite " + report.suite.hash.slice(0, 12) : "") + ". Two reports compare only where these are equal."));
  if ("IntersectionObserver" in window) {
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting)
        for (const each of byId("sections").children)
          if (each.getAttribute("href") === "#" + entry.target.id) each.setAttribute("aria-current", "true"); else each.removeAttribute("aria-current");
    }, {rootMargin: "-30% 0px -65% 0px"});
    for (const section of document.querySelectorAll("main > section")) watcher.observe(section);
  }
}

drawFrame();
firstScreen();
drawCauses();
drawErrors();
drawInputs();
drawModel();
drawGraphs();
drawCoverage();
drawReadings();
drawVerdicts();
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", route);
window.addEventListener("beforeprint", () => [...versionRows.values(), ...causes.slice(0, 40).map((cause) => cause.open)].forEach((open) => open(true)));
if (location.hash) route();
document.documentElement.dataset.ready = "true";

})();
