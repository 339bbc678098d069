"use strict";
// Draws each chart from the data that follows it, in the colours of the page, and sorts tables.

const charts = [...document.querySelectorAll(".chart")].map((place) => ({
  place,
  drawn: JSON.parse(place.nextElementSibling.textContent),
}));

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Shortens names on an axis, so that narrow screens have room for the marks.
function fitted(text) {
  const most = window.innerWidth < 600 ? 16 : 60;
  const plain = new DOMParser().parseFromString(text, "text/html").documentElement.textContent;
  if (plain.length <= most) return text;
  const cut = `${plain.slice(0, most / 2)}…${plain.slice(1 - most / 2)}`;
  return cut.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function styled(layout) {
  const own = structuredClone(layout);
  const line = colour("--line");
  Object.assign(own, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" });
  own.font = { ...own.font, color: colour("--ink") };
  own.hoverlabel = {
    ...own.hoverlabel, bgcolor: colour("--raised"), bordercolor: line,
    font: { color: colour("--ink") },
  };
  for (const key of Object.keys(own).filter((name) => /^[xy]axis/.test(name))) {
    Object.assign(own[key], { gridcolor: line, zerolinecolor: line, linecolor: line });
    own[key].dividercolor = line;
    if (own[key].ticktext) own[key].ticktext = own[key].ticktext.map(fitted);
  }
  return own;
}

function draw({ place, drawn }) {
  const config = { responsive: true, displaylogo: false };
  return Plotly.react(place, drawn.data, styled(drawn.layout), config);
}

// Draws one chart at a time, so that the page can be read and scrolled meanwhile.
async function drawAll() {
  for (const chart of charts) {
    await draw(chart);
    await new Promise((go) => setTimeout(go));
  }
  document.documentElement.dataset.drawn = charts.length;
}

// Prints with light colours, also if the screen is dark.
let onScreen;
window.addEventListener("beforeprint", () => {
  onScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  charts.forEach(draw);
});
window.addEventListener("afterprint", () => {
  if (onScreen) document.documentElement.dataset.theme = onScreen;
  else delete document.documentElement.dataset.theme;
  drawAll();
});

// Names are cut differently in narrow windows.
let wasNarrow = window.innerWidth < 600;
window.addEventListener("resize", () => {
  if (wasNarrow === window.innerWidth < 600) return;
  wasNarrow = !wasNarrow;
  drawAll();
});

const dark = window.matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", drawAll);
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
  drawAll();
});

// The value to sort by: the exact number if the cell has one. Unknown values come last.
function valueOf(row, at) {
  const cell = row.cells[at];
  if (cell.textContent === "-") return null;
  const number = Number(cell.title);
  return cell.title !== "" && !Number.isNaN(number) ? number : cell.textContent;
}

function compared(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
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

for (const head of document.querySelectorAll("th")) {
  head.tabIndex = 0;
  head.addEventListener("click", () => sort(head));
  head.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      sort(head);
    }
  });
}

// A link to a query's SQL also opens it.
function opened() {
  const place = location.hash && document.getElementById(location.hash.slice(1));
  if (place instanceof HTMLDetailsElement) place.open = true;
}
window.addEventListener("hashchange", opened);
document.addEventListener("click", (event) => {
  if (event.target.closest?.('a[href^="#sql-"]')) setTimeout(opened);
});
opened();
drawAll();
