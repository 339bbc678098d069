// Draws the GPU time of the chosen jobs, one bar per week.

const COLOURS = {
  computation: "#3b82c4", straggler: "#d55e00", communication: "#e69f00", memory: "#009e73",
  host_wait: "#cc79a7", launching: "#56b4e9", queued: "#c9b458", kernel_wait: "#a3a8b3",
  unknown_wait: "#6b7280", outside: "#8c564b",
};
const SERIES = [
  "#3b82c4", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#c9b458", "#a3a8b3",
];
const WEEK_MS = 7 * 86400e3;
// With more weeks than this, those without jobs are left out.
const MOST_WEEKS = 104;
const HEIGHT = 180;

// Of each week and part the GPU time. A part is a reason, or a value of a tag.
function parted() {
  const by = place("by").value === "" ? null : filters[Number(place("by").value)];
  const sums = new Map();
  const add = (row, part, ns) => {
    if (!ns) return;
    const week = columns.week[row] ?? "no date";
    if (!sums.has(week)) sums.set(week, new Map());
    sums.get(week).set(part, (sums.get(week).get(part) ?? 0) + ns);
  };
  if (!by) {
    for (const row of chosen) {
      add(row, "computation", columns.compute_ns[row]);
      for (const reason of Object.keys(reasons)) add(row, reason, columns[`${reason}_ns`][row]);
    }
    const parts = ["computation", ...Object.keys(reasons)];
    return { sums, parts, caption: "GPU time by week, and what the GPUs did" };
  }
  const of = (row) => by.values[row][0] ?? "(none)";
  const totals = new Map();
  for (const row of chosen) {
    totals.set(of(row), (totals.get(of(row)) ?? 0) + columns.without_compute_ns[row]);
  }
  const order = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const parts = order.length > SERIES.length
    ? [...order.slice(0, SERIES.length - 1), "(others)"] : order;
  for (const row of chosen) {
    const part = parts.includes(of(row)) ? of(row) : "(others)";
    add(row, part, columns.without_compute_ns[row]);
  }
  return { sums, parts, caption: `GPU time without computation by week and ${by.name}` };
}

// All weeks from the first to the last, with those without jobs; then jobs without a date.
function weeksOf(sums) {
  const dated = [...sums.keys()].filter((week) => week !== "no date").sort();
  const [first, last] = [Date.parse(dated[0]), Date.parse(dated.at(-1))];
  let weeks = dated;
  if ((last - first) / WEEK_MS < MOST_WEEKS) {
    weeks = [];
    for (let day = first; day <= last; day += WEEK_MS) {
      weeks.push(new Date(day).toISOString().slice(0, 10));
    }
  }
  return { weeks: sums.has("no date") ? [...weeks, "no date"] : weeks, isAll: weeks !== dated };
}

function inSvg(tag, given, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The end of the axis: 1, 2 or 5 and zeros, in the unit of the largest bar.
function roundUp(ns) {
  const [size] = data.units.find(([unit]) => ns >= unit) ?? data.units.at(-1);
  const power = 10 ** Math.floor(Math.log10(ns / size));
  return size * power * [1, 2, 5, 10].find((step) => step * power >= ns / size);
}

function draw() {
  const { sums, parts, caption } = parted();
  place("weeks").hidden = !sums.size;
  const width = place("picture").clientWidth;
  if (!sums.size || !width) return;
  const { weeks, isAll } = weeksOf(sums);
  const used = parts.filter((part) => weeks.some((week) => sums.get(week)?.get(part)));
  const colour = (part) => COLOURS[part] && place("by").value === ""
    ? COLOURS[part] : SERIES[parts.indexOf(part)];
  const name = (part) => (place("by").value === "" ? reasons[part] ?? part : part);
  const height = (week) => [...(sums.get(week)?.values() ?? [])].reduce((a, b) => a + b, 0);
  const top = roundUp(Math.max(...weeks.map(height)));
  const [left, bottom] = [70, HEIGHT - 22];
  const y = (ns) => bottom - (bottom - 10) * ns / top;
  const step = Math.min(80, (width - left - 50) / weeks.length);
  const svg = inSvg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": caption });
  for (const part of [0, 0.5, 1]) {
    svg.append(inSvg("line", { x1: left, x2: width, y1: y(part * top), y2: y(part * top) }));
    svg.append(inSvg("text", { x: left - 8, y: y(part * top) + 4, "text-anchor": "end" },
      part ? time(part * top) : "0"));
  }
  const every = Math.ceil(90 / step);
  weeks.forEach((week, at) => {
    let below = 0;
    for (const part of used) {
      const ns = sums.get(week)?.get(part) ?? 0;
      const bar = inSvg("rect", {
        x: left + at * step + step * 0.1, width: step * 0.8, y: y(below + ns),
        height: y(below) - y(below + ns), fill: colour(part),
      });
      bar.append(inSvg("title", {}, `${week}, ${name(part)}: ${time(ns)} of ${time(height(week))}`));
      if (ns) svg.append(bar);
      below += ns;
    }
    if (at % every === 0) {
      svg.append(inSvg("text", { x: left + at * step + step * 0.1, y: HEIGHT - 5 }, week));
    }
  });
  place("weeks-head").textContent = isAll ? caption : `${caption}; only weeks with jobs`;
  place("picture").replaceChildren(svg);
  place("legend").replaceChildren(...used.map((part) => make("li", {},
    make("span", { style: `color:${colour(part)}`, "aria-hidden": "true" }, "■"), ` ${name(part)}`)));
  const cells = (week, part) => make("td", { class: "number" }, time(sums.get(week).get(part) ?? 0));
  place("figures").replaceChildren(make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "week of"),
      ...used.map((part) => make("th", { scope: "col" }, name(part))))),
    make("tbody", {}, ...weeks.filter((week) => sums.has(week)).map((week) => make("tr", {},
      make("th", { scope: "row" }, week), ...used.map((part) => cells(week, part)))))));
}

place("by").append(make("option", { value: "" }, "what the GPUs did"), ...filters.flatMap(
  ({ name, isTag }, at) => (isTag ? [make("option", { value: at }, name)] : [])));
place("by-label").hidden = place("by").length === 1;
place("by").addEventListener("change", draw);
choose();
new ResizeObserver(draw).observe(place("picture"));
