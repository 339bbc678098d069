"use strict";
// Tables: sort by a click on a head, filter by a text, and show a name that is cut in full.

// The value to sort by: the exact number if the cell has one. Unknown values come last.
function valueOf(row, at) {
  const cell = row.cells[at];
  if (cell.textContent === "-") return null;
  const number = Number(cell.title);
  return cell.title !== "" && !Number.isNaN(number) ? number : cell.title || cell.textContent;
}

function compared(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sort(head) {
  const at = head.cellIndex;
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, at) }));
  // Large numbers first, names from A.
  const before = head.getAttribute("aria-sort");
  const down = before
    ? before === "ascending"
    : rows.some(({ value }) => typeof value === "number");
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  rows.sort((a, b) => (
    a.value === null || b.value === null || !down
      ? compared(a.value, b.value)
      : compared(b.value, a.value)
  ));
  body.append(...rows.map(({ row }) => row));
}

// Shows the rows of which a cell, with its full name, contains the text.
function filter(field) {
  const figure = field.closest("figure");
  const rows = [...figure.querySelector("tbody").rows];
  const text = field.value.trim().toLowerCase();
  for (const row of rows) {
    row.hidden = ![...row.cells].some((cell) => (
      `${cell.textContent}\n${cell.title}`.toLowerCase().includes(text)
    ));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  figure.querySelector("output").textContent = text ? `${shown} of ${rows.length} rows` : "";
}

// Shows a cut name in full, or cuts it again. A name that is selected, to copy it, stays as it is.
function unfold(name) {
  const selection = getSelection();
  if (!selection.isCollapsed && selection.containsNode(name, true)) return;
  const isCut = name.getAttribute("aria-expanded") === "false";
  if (isCut) name.dataset.cut = name.textContent;
  name.textContent = isCut ? name.parentElement.title : name.dataset.cut;
  name.setAttribute("aria-expanded", String(isCut));
}

function pressed(element, act) {
  element.tabIndex = 0;
  element.addEventListener("click", () => act(element));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(element);
  });
}

for (const head of document.querySelectorAll("th")) pressed(head, sort);
for (const cell of document.querySelectorAll("td.cut")) {
  const name = document.createElement("span");
  name.setAttribute("role", "button");
  name.setAttribute("aria-expanded", "false");
  name.append(...cell.childNodes);
  cell.append(name);
  pressed(name, unfold);
}
for (const field of document.querySelectorAll(".filter input")) {
  field.addEventListener("input", () => filter(field));
}
