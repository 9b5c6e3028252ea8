// The page of `nmtcore show`: the map and the tree of the attention head that is chosen, from the page's data.
"use strict";

const WORD_SIZE = 15, STEP = 22, MARGIN = 10, FONT = "sans-serif";
const CELL = 20, NUMBER_CELL = 30, TOKEN_SIZE = 12;

const data = JSON.parse(document.getElementById("data").textContent);
const headChoice = document.getElementById("head");
const numberChoice = document.getElementById("numbers");
const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  measure.font = `${size}px ${FONT}`;
  return measure.measureText(text).width;
}

function svg(name, attributes, content = []) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...[content].flat());
  return element;
}

/** Return the height of each arc [word, word]: 1, or 1 more than the highest arc that it spans. */
function arcLevels(arcs) {
  const spans = arcs.map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
  const levels = arcs.map(() => 0);
  const order = spans.map((_, i) => i).sort((i, j) => spans[i][1] - spans[i][0] - (spans[j][1] - spans[j][0]));
  for (const i of order) {
    const inner = order.filter((j) => spans[i][0] <= spans[j][0] && spans[j][1] <= spans[i][1]
      && String(spans[i]) !== String(spans[j]));
    levels[i] = 1 + Math.max(0, ...inner.map((j) => levels[j]));
  }
  return levels;
}

/** Draw a tree below the others: `heads` count from 1, 0 is the root; arcs that `gold` lacks have another colour. */
function drawTree({ words, centres, width, gold }, heads) {
  const dependents = heads.map((_, i) => i).filter((i) => heads[i] > 0 && heads[i] !== i + 1);
  const levels = arcLevels(dependents.map((i) => [heads[i] - 1, i]));
  const base = MARGIN + STEP * Math.max(1, ...levels) + 4;
  const other = (i) => (gold && gold[i] !== heads[i] ? " other" : "");
  const drawing = dependents.map((i, n) => {
    const from = centres[heads[i] - 1] + (heads[i] - 1 < i ? 5 : -5), to = centres[i];
    const radius = Math.abs(to - from) / 2, height = levels[n] * STEP;
    const path = `M${from} ${base}A${radius} ${height} 0 0 ${Number(to > from)} ${to} ${base}`;
    return svg("path", { class: `arc${other(i)}`, d: path });
  });
  heads.forEach((head, i) => {
    if (head === 0) drawing.push(svg("path", { class: `arc root${other(i)}`, d: `M${centres[i]} ${base}v${-STEP}` }));
    if (head !== i + 1)
      drawing.push(svg("path", { class: `tip${other(i)}`, d: `M${centres[i] - 3} ${base - 5}h6l-3 6z` }));
  });
  words.forEach((word, i) => drawing.push(
    svg("text", { x: centres[i], y: base + WORD_SIZE + 4, "font-size": WORD_SIZE, "text-anchor": "middle" }, word)));
  const height = base + WORD_SIZE + 4 + MARGIN;
  const arcs = words.map((word, i) => `${word}: ${heads[i] ? words[heads[i] - 1] : "root"}`).join("; ");
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return svg("svg", { class: "tree", role: "img", "aria-label": `Heads of the words: ${arcs}`, ...size }, drawing);
}

function fill(box, caption, drawing) {
  box.querySelector(".drawing").replaceChildren(...(drawing ? [drawing] : []));
  box.querySelector("figcaption").textContent = caption;
}

/** Draw the tree of a head; heads of the decoder have none, and that of the parser is drawn already. */
function drawHeadTree(section, sentence, head) {
  const box = section.querySelector("figure[data-tree=head]"), heads = sentence.trees[head];
  if (!box) return;
  box.parentElement.hidden = !heads || String(heads) === String(sentence.parse);
  if (!heads) return;
  const right = sentence.gold && heads.filter((wordHead, i) => wordHead === sentence.gold[i]).length;
  const caption = sentence.gold ? `${right} of ${heads.length} words have their gold head.` : "";
  fill(box, caption, drawTree(sentence, heads));
}

function weightsOf(sentence, head) {
  return Uint8Array.from(atob(sentence.weights[head]), (character) => character.charCodeAt(0));
}

/** Draw a map, whose rows attend to its columns; arrow keys, clicks and the mouse choose a cell, which is put in words. */
function drawMap(section, sentence, head) {
  const weights = weightsOf(sentence, head), columns = sentence.source;
  const rows = data.heads[head].decoder ? sentence.target : sentence.source;
  const numbers = numberChoice.checked, cell = numbers ? NUMBER_CELL : CELL;
  const widest = (tokens) => Math.max(...tokens.map((token) => textWidth(token, TOKEN_SIZE)));
  const left = widest(rows) + 8, top = widest(columns) + 10;
  const [width, height] = [left + cell * columns.length + 4, top + cell * rows.length + 4].map(Math.ceil);
  const place = { x: left, y: top, width: cell * columns.length, height: cell * rows.length };
  const drawing = [svg("rect", { class: "ground", ...place })];
  rows.forEach((_, r) => columns.forEach((_, c) => {
    const percent = weights[r * columns.length + c], x = left + cell * c, y = top + cell * r;
    if (percent) drawing.push(svg("rect", { class: "weight", x, y, width: cell, height: cell, opacity: percent / 100 }));
    const middle = { x: x + cell / 2, y: y + cell / 2 + 4, "font-size": 11, "text-anchor": "middle" };
    if (numbers) drawing.push(svg("text", { class: "number", ...middle }, String(percent)));
  }));
  const baseline = cell / 2 + 4;
  const rowLabels = rows.map((token, r) => svg(
    "text", { x: left - 5, y: top + cell * r + baseline, "font-size": TOKEN_SIZE, "text-anchor": "end" }, token));
  const columnLabels = columns.map((token, c) => {
    const [x, y] = [left + cell * c + baseline, top - 5];
    return svg("text", { x, y, "font-size": TOKEN_SIZE, transform: `rotate(-90 ${x} ${y})` }, token);
  });
  const frame = svg("rect", { class: "frame", width: cell, height: cell });
  const map = svg("svg", {
    class: "map", tabindex: 0, role: "application", width, height, viewBox: `0 0 ${width} ${height}`,
    "aria-label": `${data.heads[head].name}, ${rows.length} rows and ${columns.length} columns; arrow keys choose a cell`,
  }, [...drawing, ...rowLabels, ...columnLabels, frame]);
  const output = section.querySelector("output");
  const show = (r, c) => {
    frame.setAttribute("x", left + cell * c);
    frame.setAttribute("y", top + cell * r);
    rowLabels.forEach((label, n) => label.classList.toggle("chosen", n === r));
    columnLabels.forEach((label, n) => label.classList.toggle("chosen", n === c));
    output.textContent = `${rows[r]} (${r + 1}) to ${columns[c]} (${c + 1}): ${weights[r * columns.length + c]} %`;
  };
  let chosen = [0, weights.subarray(0, columns.length).indexOf(Math.max(...weights.subarray(0, columns.length)))];
  const cellAt = (event) => {
    const box = map.getBoundingClientRect();
    const [r, c] = [(event.clientY - box.top - top) / cell, (event.clientX - box.left - left) / cell].map(Math.floor);
    return r >= 0 && r < rows.length && c >= 0 && c < columns.length ? [r, c] : null;
  };
  map.addEventListener("pointermove", (event) => show(...(cellAt(event) ?? chosen)));
  map.addEventListener("pointerleave", () => show(...chosen));
  map.addEventListener("click", (event) => show(...(chosen = cellAt(event) ?? chosen)));
  map.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const within = (value, count) => Math.min(count - 1, Math.max(0, value));
    chosen = [within(chosen[0] + step[0], rows.length), within(chosen[1] + step[1], columns.length)];
    show(...chosen);
    frame.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  });
  show(...chosen);
  fill(section.querySelector("figure[data-map]"), data.heads[head].rows, map);
  section.querySelector(".head-name").textContent = data.heads[head].name;
}

function draw(section) {
  const sentence = data.sentences[section.dataset.sentence], head = Number(headChoice.value);
  drawHeadTree(section, sentence, head);
  drawMap(section, sentence, head);
}

function drawOpen() {
  for (const section of document.querySelectorAll("details[open]")) draw(section);
}

headChoice.addEventListener("change", drawOpen);
numberChoice.addEventListener("change", drawOpen);
for (const section of document.querySelectorAll("details"))
  section.addEventListener("toggle", () => section.open && draw(section));
for (const [id, open] of [["open-all", true], ["close-all", false]])
  document.getElementById(id).addEventListener("click", () => {
    for (const section of document.querySelectorAll("details")) section.open = open;
  });
window.addEventListener("beforeprint", () => {
  for (const section of document.querySelectorAll("details")) {
    section.open = true;
    draw(section);
  }
});
drawOpen();
