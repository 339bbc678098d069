"use strict";
// Filters, sorts and shows the jobs, a hundred at a time, and draws the weeks of those shown.

const data = JSON.parse(document.getElementById("data").textContent);
const { columns, heads, filters, reasons } = data;
const PAGE = 100;
const place = (id) => document.getElementById(id);
let sorted = { name: "without_compute_ns", down: true };
let chosen = [];  // the rows that the filters let through, in order
let start = 0;  // the first of them on the page

function make(tag, given, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

// Three digits and a unit, as in tables of the command line.
function time(ns) {
  for (const [size, unit] of data.units.slice(0, -1)) {
    const scaled = ns / size;
    if (Math.abs(scaled) >= 0.9995) {
      const short = Math.abs(scaled) >= 99.95
        ? Math.round(scaled).toLocaleString("en") : scaled.toPrecision(3);
      return `${short} ${unit}`;
    }
  }
  return `${ns} ns`;
}

const isText = (kind) => kind === "text" || kind === "date";
// A share that is not 0 or 1 does not look like 0 or 1.
function share(part) {
  if (part > 0 && part < 0.0005) return "<0.1 %";
  return part >= 0.9995 && part < 1 ? ">99.9 %" : `${(100 * part).toFixed(1)} %`;
}
const FORMATS = {
  count: (value) => value.toLocaleString("en"),
  time,
  share,
  trend: (value) => `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)} %`,
};

const AT_MOST = "The utilisation is at most this: the results are of an earlier hta_sql, and lack the "
  + "step time before the first GPU activity and after the last.";

function cell(row, { name, kind }) {
  const value = columns[name][row];
  if (value === null) return make("td", { class: isText(kind) ? "text" : "number" }, "-");
  if (name === "job") return nameOf(row, value);
  if (kind === "text") return make("td", { class: "text" }, name === "reason" ? reasons[value] : value);
  if (kind === "date") return make("td", { class: "text date" }, value);
  const text = FORMATS[kind](value);
  if (name === "utilisation_frac" && columns.is_at_most[row]) {
    return make("td", { class: "number", title: AT_MOST }, `≤ ${text}`);
  }
  if (name !== "diff_ratio") return make("td", { class: "number", title: value }, text);
  const isChange = columns.is_change[row];
  if (!isChange) {
    const why = isChange === null ? "Too few runs before or after this one to tell a change from noise"
      : "Step times did not change at this run";
    return make("td", { class: "number faint", title: why }, text);
  }
  return make("td", { class: "number change", title: "Step times changed at this run" },
    `${value > 0 ? "▲" : "▼"} ${text}`);
}

function nameOf(row, value) {
  const opener = make("button", { type: "button", "aria-expanded": "false" }, value);
  opener.addEventListener("click", () => toggle(opener, row));
  const link = data.reports[row];
  const damage = columns.damage[row];
  return make("td", { class: "text name" }, opener,
    ...(damage ? [" ", make("span", { class: "damage", title: columns.damages[row] }, damage)] : []),
    ...(link ? [" ", make("a", { href: link }, "report")] : []));
}

function toggle(opener, row) {
  const line = opener.closest("tr");
  const open = opener.getAttribute("aria-expanded") === "true";
  opener.setAttribute("aria-expanded", String(!open));
  if (open) line.nextSibling.remove();
  else line.after(make("tr", { class: "more" }, make("td", { colspan: heads.length }, ...more(row))));
}

// Safe in a shell, whatever the name.
const quoted = (name) => (/^[\w.\/@%+:-]+$/.test(name) && !name.startsWith("-")
  ? name : `'${name.replaceAll("'", `'"'"'`)}'`);

function more(row) {
  const of = (name) => columns[name][row];
  const job = data.exact[row] ?? of("job");
  // A list of jobs is a line of CSV.
  const inList = /[",\n\r]/.test(job) ? `"${job.replaceAll('"', '""')}"` : job;
  const lost = Object.keys(reasons)
    .filter((reason) => of(`${reason}_ns`) > 0)
    .sort((a, b) => of(`${b}_ns`) - of(`${a}_ns`))
    .map((reason) => `${reasons[reason]} ${time(of(`${reason}_ns`))}`);
  const host = of("worst_rank_host") ? ` on ${of("worst_rank_host")}` : "";
  const lines = [
    of("damages") && `The figures are of a part of the job: ${of("damages")}`,
    of("is_at_most") && AT_MOST,
    of("device_name") && `GPU: ${of("device_name")}`,
    of("tags") && `Tags: ${of("tags")}`,
    lost.length && `GPU time without computation: ${lost.join(", ")}`,
    of("worst_rank") !== null && `Rank that the others waited for the longest: ${of("worst_rank")}${host}`,
    of("is_change") && `From this run on, steps take ${Math.abs(100 * of("diff_ratio")).toFixed(1)} % `
      + `${of("diff_ratio") > 0 ? "longer" : "less time"}: their median is ${time(of("after_ns"))} in this `
      + `run and up to 4 after it, and ${time(of("before_ns"))} in up to 5 before it`,
    of("top_kernel") && `Kernel with the most time: ${of("top_kernel")}`,
  ];
  return [
    ...lines.filter(Boolean).map((line) => make("p", {}, line)),
    make("p", {}, "Findings with advice:"),
    make("pre", {}, `${data.doctor_command} ${quoted(inList)}`),
    make("p", {}, data.reports[row] ? "Write its report again:" : "Write its report, and link it here:"),
    make("pre", {}, `${data.report_command} ${quoted(job)}`),
  ];
}

// What the text filter searches, in small letters.
const haystacks = columns.job.map((job, row) => [
  job, columns.damage[row], columns.tags[row], columns.device_name[row], columns.top_finding[row],
  reasons[columns.reason[row]], ...filters.flatMap(({ values }) => values[row]),
].filter(Boolean).join("\n").toLowerCase());

// Of numbers and of texts. Collators take too long for thousands of names.
const compared = (a, b) => (a > b) - (a < b);

function choose() {
  const words = place("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = filters.filter(({ list }) => list.value !== "");
  chosen = [];
  for (let row = 0; row < columns.job.length; row++) {
    if (words.every((word) => haystacks[row].includes(word))
      && wanted.every(({ values, list }) => list.value === "none"
        ? values[row].length === 0 : values[row].includes(list.value.slice(1)))) chosen.push(row);
  }
  const values = columns[sorted.name];
  const sign = sorted.down ? -1 : 1;
  // Unknown values come last. Rows of equal values stay in the order of the file.
  chosen.sort((a, b) => (values[a] === null || values[b] === null
    ? (values[a] === null) - (values[b] === null)
    : sign * compared(values[a], values[b])));
  start = 0;
  show();
  sum();
  draw();
}

function show() {
  const rows = chosen.slice(start, start + PAGE);
  place("table").tBodies[0].replaceChildren(
    ...rows.map((row) => make("tr", {}, ...heads.map((head) => cell(row, head)))));
  place("place").textContent = chosen.length
    ? `Jobs ${(start + 1).toLocaleString("en")} to ${(start + rows.length).toLocaleString("en")} `
      + `of ${chosen.length.toLocaleString("en")}` : "No job matches.";
  place("back").disabled = start === 0;
  place("on").disabled = start + PAGE >= chosen.length;
  for (const head of place("table").tHead.rows[0].cells) {
    if (head.dataset.name !== sorted.name) head.removeAttribute("aria-sort");
    else head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
  }
}

const total = (name, rows = chosen) => rows.reduce((all, row) => all + columns[name][row], 0);

function sum() {
  const span = total("gpu_time_ns");
  const lost = total("without_compute_ns");
  const counted = (count) => `${count.toLocaleString("en")} job${count === 1 ? "" : "s"}`;
  const unknown = chosen.filter((row) => !columns.has_results[row]).length;
  const known = chosen.length - unknown;
  const parts = [];
  if (span) {
    parts.push(`${counted(known)}: ${time(span)} of GPU time, `
      + `${time(lost)} (${share(lost / span)}) without computation`);
  } else if (known) parts.push(`${counted(known)} without GPU activity`);
  if (unknown) parts.push(`${counted(unknown)} without stored results`);
  place("sums").textContent = parts.join("; ");
}

for (const head of heads) {
  const button = make("button", { type: "button", title: head.says }, head.head);
  const inside = make("th", { class: isText(head.kind) ? "text" : "number", scope: "col" }, button);
  inside.dataset.name = head.name;
  button.addEventListener("click", () => {
    // Large numbers and late dates first, names from A.
    const down = sorted.name === head.name ? !sorted.down : head.kind !== "text";
    sorted = { name: head.name, down };
    choose();
  });
  place("table").tHead.rows[0].append(inside);
}
for (const filter of filters) {
  const known = [...new Set(filter.values.flat())].sort(compared);
  filter.list = make("select", { "aria-label": filter.name }, make("option", { value: "" }, "all"),
    ...known.map((value) => make("option", { value: `=${value}` }, value)));
  if (filter.values.some((values) => !values.length)) {
    filter.list.append(make("option", { value: "none" }, "(none)"));
  }
  filter.list.addEventListener("change", choose);
  place("filters").append(make("label", {}, `${filter.name} `, filter.list));
}
place("begin")?.addEventListener("click", (event) => {
  event.preventDefault();
  place("text").value = "";
  for (const { list } of filters) list.value = "";
  sorted = { name: "without_compute_ns", down: true };
  choose();
  const opener = place("table").querySelector(".name button");
  opener.click();
  opener.focus();
});
place("filters").addEventListener("submit", (event) => event.preventDefault());
place("text").addEventListener("input", choose);
for (const [id, by] of [["back", -PAGE], ["on", PAGE]]) {
  place(id).addEventListener("click", () => {
    start += by;
    show();
    place("jobs-head").scrollIntoView();
  });
}
place("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
