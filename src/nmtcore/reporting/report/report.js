"use strict";
// Long tables are sorted by a click on a column's name (a third click restores the order) and filtered by words.
const LONG = 13;

function valueOf(row, column, numeric) {
  const cell = row.cells[column];
  const text = (cell.dataset.value ?? cell.textContent).trim();
  if (!numeric) return text === "" ? null : text.toLowerCase();
  const number = parseFloat(text.replace("−", "-").replace(/[,<\s]/g, ""));
  return Number.isNaN(number) ? null : number;
}

/** Return the cells with the names of columns, which may be in two rows, below headings of several columns. */
function namesOf(table) {
  const below = [...(table.tHead.rows[1]?.cells ?? [])];
  return [...table.tHead.rows[0].cells].flatMap((head) => head.colSpan > 1 || head.classList.contains("group")
    ? below.splice(0, head.colSpan) : [head]);
}

function sortRows(table, rows, column, direction) {
  const numeric = namesOf(table)[column].classList.contains("right");
  const keyed = rows.map(({ row }) => ({ row, key: valueOf(row, column, numeric) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    const order = numeric ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
    return direction * order;
  });
  table.tBodies[0].append(...keyed.map(({ row }) => row));
}

function makeSortable(table) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows].map((row) => ({ row, body })));
  if (rows.length < LONG) return;
  const heads = namesOf(table);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[head.ariaSort] ?? "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next === "none") rows.forEach(({ row, body }) => body.append(row));
      else {
        head.setAttribute("aria-sort", next);
        sortRows(table, rows, column, next === "ascending" ? 1 : -1);
      }
    });
  });
  addFilter(table, rows.map(({ row }) => row));
}

function addFilter(table, rows) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  label.className = "filter";
  input.type = "search";
  label.append("Filter", input, count);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    });
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}

function targetOf(hash) {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {  // a hash such as #50% names nothing
    return null;
  }
}

function openTarget(hash = location.hash) {
  const target = targetOf(hash);
  if (target === null) return;
  for (let node = target; node !== null; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
  target.scrollIntoView();
}

document.querySelectorAll("table").forEach(makeSortable);
window.addEventListener("hashchange", () => openTarget());
// A link to where the page already is changes no hash, though its target may have been closed since.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link !== null && link.hash === location.hash) openTarget(link.hash);
});
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
});
openTarget();
