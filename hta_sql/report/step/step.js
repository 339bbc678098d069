"use strict";
// The step as one picture: rows of host threads and GPU streams, with the critical path over them.
//
// `new StepPicture(place, data)` draws into an element. A page may have several, each with its own
// data (see picture.py). With a `scale` in its data, it shows at least that many ns, so that steps
// of two jobs have one scale; then all such pictures of a page show the same times.
//
// A bar that is wider than three pixels is drawn as it is. Narrower bars are summed up: in each
// column of pixels, the height that is filled is the share of the time in which something runs. So
// idle time is as large in the picture as in the step, at every zoom.

const STEP_TOP = 22;
const STEP_BARE = 3; // narrower bars, in pixels of the screen, are summed up
const STEP_PATH = 3; // pixels for which the critical path is at one row
const STEP_MOST_ZOOM = 20; // ns per picture

function stepTime(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (Math.abs(ns) >= 0.9995 * size) return `${(ns / size).toPrecision(3)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

// A share that is not 0 or 1 does not look like 0 or 1.
function stepShare(share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return share >= 0.9995 && share < 1 ? ">99.9 %" : `${(100 * share).toFixed(1)} %`;
}

function stepCut(text, most) {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

function stepElement(parent, tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

// The bars of a row as columns, from the differences that the page contains.
function stepBars(row, span) {
  const { size, category, name, frame } = row;
  let [at, of] = [0, 0];
  const start = row.start.map((by) => (at += by));
  const event = row.event.map((by) => (of += by));
  const slices = (row.slices ?? []).map(([place, of, share, count]) => ({
    start: (place * span) / row.slice_count, size: span / row.slice_count,
    category: of, share: share / 1000, count,
  }));
  return { start, size, category, name, frame, event, slices };
}

class StepPicture {
  static ofOneScale = [];

  constructor(place, data) {
    Object.assign(this, { place, data });
    if (data.scale) StepPicture.ofOneScale.push(this);
    this.makeControls();
    this.lanes = stepElement(place, "div", { class: "step-lanes" });
    this.labels = stepElement(this.lanes, "div", { class: "step-labels", "aria-hidden": "true" });
    this.plot = stepElement(this.lanes, "div", { class: "step-plot" });
    this.canvas = stepElement(this.plot, "canvas", {
      tabindex: "0", role: "application", "aria-roledescription": "timeline",
    });
    this.tip = stepElement(this.plot, "div", { class: "step-tip", "aria-hidden": "true" });
    this.details = stepElement(place, "div", { class: "step-details", "aria-live": "polite" });
    this.listen();
    this.choose();
    new ResizeObserver(() => this.draw()).observe(this.plot);
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  makeControls() {
    const bar = stepElement(this.place, "div", { class: "step-controls" });
    this.selects = {};
    for (const name of ["Rank", "Step", "Device"]) {
      const label = stepElement(bar, "label", {}, `${name} `);
      this.selects[name] = stepElement(label, "select");
      this.selects[name].addEventListener("change", () => this.choose());
    }
    const ranks = [...new Set(this.data.windows.map((window) => window.rank))]
      .sort((one, other) => one - other);
    this.options("Rank", ranks.map((rank) => [rank, rank]), this.data.rank);
    for (const [sign, says, act] of [
      ["+", "Zoom in", () => this.zoom(0.5)], ["−", "Zoom out", () => this.zoom(2)],
      ["Whole step", "Show the whole step", () => this.show(0, this.whole)],
    ]) {
      stepElement(bar, "button", { type: "button", "aria-label": says, title: says }, sign)
        .addEventListener("click", act);
    }
    this.width = stepElement(bar, "output");
    this.facts = stepElement(this.place, "p", { class: "step-facts" });
    this.legend = stepElement(this.place, "ul", { class: "step-legend" });
  }

  // Fills a select; without a choice, its label is hidden.
  options(name, items, chosen) {
    const select = this.selects[name];
    select.replaceChildren();
    for (const [value, text] of items) stepElement(select, "option", { value }, text);
    if (items.some(([value]) => String(value) === String(chosen))) select.value = chosen;
    select.parentElement.hidden = items.length < 2;
  }

  // Shows what the selects say.
  choose() {
    const rank = Number(this.selects.Rank.value);
    const windows = this.data.windows.filter((window) => window.rank === rank);
    const step = this.selects.Step.value;
    this.options("Step", windows.map((window) => [String(window.step), window.label]), step);
    const before = this.window;
    this.window = windows.find((window) => String(window.step) === this.selects.Step.value);
    const devices = this.window.devices.map((device) => [device.name, device.name]);
    this.options("Device", [["", "all"], ...devices], this.selects.Device.value);
    if (devices.length < 2) this.selects.Device.parentElement.hidden = true;
    const device = this.selects.Device.value;
    this.rows = this.window.rows
      .map((row, place) => ({ ...row, place, bars: stepBars(row, this.window.span) }))
      .filter((row) => row.host || !device || row.group === device);
    for (const row of this.rows) {
      row.device = this.window.devices.find((of) => of.row === row.place);
    }
    this.selected = null;
    this.whole = Math.max(this.window.span, this.data.scale ?? 0);
    // Another device of the same step is shown at the same times.
    if (this.window !== before) Object.assign(this, { from: 0, until: this.whole });
    this.layOut();
    this.say();
    this.draw();
  }

  // Places the rows, and writes their names beside them.
  layOut() {
    let [y, group] = [STEP_TOP, null];
    this.labels.replaceChildren();
    for (const row of this.rows) {
      if (row.group !== group) {
        group = row.group;
        stepElement(this.labels, "b", { style: `top:${y}px`, title: group }, group);
        y += 17;
      }
      row.y = y;
      row.height = row.host ? 14 : 26;
      const middle = y + row.height / 2 - 8;
      stepElement(this.labels, "span", { style: `top:${middle}px` }, row.title);
      y += row.height + 3;
    }
    this.height = y + 4;
    this.lanes.style.height = `${this.height}px`;
    const longest = Math.max(0, ...this.rows.map((row) => row.group.length));
    this.labelWidth = Math.min(220, Math.max(132, 8 * longest + 6));
    // Pictures of one scale begin at the same place.
    const alike = this.data.scale ? StepPicture.ofOneScale : [this];
    const width = Math.max(...alike.map((picture) => picture.labelWidth ?? 0));
    for (const picture of alike) picture.lanes?.style.setProperty("--labels", `${width}px`);
    this.canvas.style.height = `${this.height}px`;
  }

  // Facts and legend, and what a screen reader says of the picture.
  say() {
    const { window: shown, rows } = this;
    const busy = shown.devices.map(({ name, busy: ns }) => {
      const idle = shown.span - ns;
      const share = stepShare(idle / shown.span);
      return `${name} is idle for ${stepTime(idle)} of the ${stepTime(shown.span)} (${share})`;
    });
    const what = shown.step === null ? "The trace" : `Step ${shown.step}`;
    this.facts.textContent = `${what} of rank ${shown.rank}, from its first event to the end of its `
      + `last: ${stepTime(shown.span)}. `
      + (shown.before ? `${stepTime(shown.before)} of it is the end of the step before on the GPU, `
        + "which the mean step leaves out. " : "")
      + (busy.length ? `${busy.join(", ")}.` : "It has no GPU activity.");
    this.canvas.setAttribute(
      "aria-label",
      `${this.facts.textContent} Arrow keys go from bar to bar, plus and minus zoom, `
        + "0 shows the whole step.",
    );
    const used = new Set(rows.flatMap((row) => [
      ...row.bars.category, ...row.bars.slices.map((slice) => slice.category),
    ]));
    this.legend.replaceChildren();
    this.data.categories.forEach(([name, colour], number) => {
      if (!used.has(number)) return;
      const item = stepElement(this.legend, "li");
      stepElement(item, "span", { style: `background:${colour}` });
      item.append(name);
    });
    if (shown.path.length) {
      stepElement(this.legend, "li", { class: "step-path" }, "critical path");
    }
    stepElement(this.legend, "li", { class: "step-idle" }, "idle");
    this.details.textContent = "Click a bar, or go to one with the arrow keys, to see its operator, "
      + "call stack and command. Drag to zoom in, double-click to zoom out.";
  }

  show(from, until) {
    const least = Math.min(STEP_MOST_ZOOM, this.whole);
    const size = Math.min(this.whole, Math.max(least, until - from));
    const start = Math.max(0, Math.min(from, this.whole - size));
    for (const picture of this.data.scale ? StepPicture.ofOneScale : [this]) {
      Object.assign(picture, { from: start, until: start + size });
      picture.draw();
    }
  }

  // Around a time if one is given; else with the selection in the middle, if it is in view.
  zoom(by, around) {
    const half = ((this.until - this.from) * by) / 2;
    if (around === undefined) {
      const [from, until] = this.extent(this.selected) ?? [this.from, this.until];
      const isInView = until >= this.from && from <= this.until;
      const middle = isInView ? (from + until) / 2 : (this.from + this.until) / 2;
      this.show(middle - half, middle + half);
    } else this.show(around - (around - this.from) * by, around + (this.until - around) * by);
  }

  // The start and the end of what is found at a place.
  extent(found) {
    if (!found) return null;
    const { row, at, slice, gap } = found;
    const [start, size] = gap ?? (slice ? [slice.start, slice.size]
      : [row.bars.start[at], row.bars.size[at]]);
    return [start, start + size];
  }

  colour(name) {
    return getComputedStyle(this.place).getPropertyValue(name).trim();
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(this.plot.clientWidth * scale);
    if (!width) return; // in a section that is closed
    this.canvas.width = width;
    this.canvas.height = Math.round(this.height * scale);
    const pen = this.canvas.getContext("2d");
    this.view = { pen, scale, width, per: width / (this.until - this.from) };
    this.view.edge = Math.max(0, Math.min(width, this.x(this.window.span)));
    this.ground = this.colour("--lane");
    this.tip.style.display = "none"; // what is below it has moved
    this.width.textContent = `shows ${stepTime(this.until - this.from)}`;
    this.axis();
    pen.save(); // a picture on a longer scale is empty after its window
    pen.beginPath();
    pen.rect(0, 0, this.view.edge, this.canvas.height);
    pen.clip();
    for (const row of this.rows) this.drawRow(row);
    pen.restore();
    this.drawPath();
    this.mark();
  }

  x(at) {
    return (at - this.from) * this.view.per;
  }

  // The times at the upper edge and their labels, with as many digits as tell them apart.
  ticks() {
    const raw = (this.until - this.from) / Math.max(2, Math.floor(this.plot.clientWidth / 110));
    const power = 10 ** Math.floor(Math.log10(raw));
    const every = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= raw);
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]
      .find(([least]) => this.until >= least) ?? [1, "ns"];
    const digits = Math.max(0, Math.ceil(Math.log10(size / every) - 1e-9));
    const all = [];
    for (let n = Math.ceil(this.from / every); n * every <= this.until; n++) {
      all.push([n * every, `${((n * every) / size).toFixed(digits)} ${unit}`]);
    }
    return all;
  }

  axis() {
    const { pen, scale, width } = this.view;
    pen.font = `${11 * scale}px system-ui, sans-serif`;
    pen.textBaseline = "top";
    for (const [at, text] of this.ticks()) {
      const x = Math.round(this.x(at));
      pen.fillStyle = this.colour("--line");
      pen.fillRect(x, 0, 1, this.canvas.height);
      pen.fillStyle = this.colour("--faint");
      if (x + pen.measureText(text).width + 6 * scale < width) {
        pen.fillText(text, x + 4 * scale, 4 * scale);
      }
    }
  }

  // The pixels of a row: its upper edge and its height.
  box(row) {
    const { scale } = this.view;
    const top = Math.round(row.y * scale);
    return { top, height: Math.round((row.y + row.height) * scale) - top };
  }

  drawRow(row) {
    const { pen, width, per } = this.view;
    const { top, height } = this.box(row);
    const bars = row.bars;
    pen.fillStyle = this.ground;
    pen.fillRect(0, top, width, height);
    const wide = [];
    const shares = new Map();
    const add = (from, until, category, share) => {
      let columns = shares.get(category);
      if (!columns) shares.set(category, (columns = new Float32Array(width)));
      const [left, right] = [Math.max(0, this.x(from)), Math.min(width, this.x(until))];
      for (let at = Math.floor(left); at < right; at++) {
        columns[at] += (Math.min(right, at + 1) - Math.max(left, at)) * share;
      }
    };
    for (let at = 0; at < bars.start.length; at++) {
      const [from, until] = [bars.start[at], bars.start[at] + bars.size[at]];
      if (until < this.from || from > this.until) continue;
      if (bars.size[at] * per >= STEP_BARE) wide.push(at);
      else add(from, until, bars.category[at], 1);
    }
    for (const slice of bars.slices) {
      add(slice.start, slice.start + slice.size, slice.category, slice.share);
    }
    this.drawShares(shares, top, height);
    wide.forEach((at, place) => {
      const next = bars.start[wide[place + 1]];
      this.drawBar(row, at, top, height, next === undefined ? Infinity : this.x(next));
    });
    for (const gap of row.device?.gaps ?? []) this.nameGap(gap, top, height);
  }

  drawShares(shares, top, height) {
    const { pen, width } = this.view;
    for (let at = 0; at < width; at++) {
      let sum = 0;
      for (const columns of shares.values()) sum += columns[at];
      if (!sum) continue;
      const full = height / Math.max(1, sum);
      let [filled, drawn] = [0, 0];
      for (const [category, columns] of shares) {
        if (!columns[at]) continue;
        filled += columns[at] * full;
        pen.fillStyle = this.data.categories[category][1];
        // Less than a pixel is drawn as a faint pixel.
        const part = Math.round(filled) - drawn || (drawn ? 0 : 1);
        pen.globalAlpha = Math.min(1, filled < 1 ? filled : 1);
        pen.fillRect(at, top + height - drawn - part, 1, part);
        pen.globalAlpha = 1;
        drawn += filled < 1 ? 0 : part;
      }
    }
  }

  // A bar, and its name where it has room before the next bar, which may be inside it.
  drawBar(row, at, top, height, next) {
    const { pen, scale, edge } = this.view;
    const { start, size, category } = row.bars;
    const left = Math.max(-1, Math.round(this.x(start[at])));
    const right = Math.min(edge + 1, Math.round(this.x(start[at] + size[at])));
    pen.fillStyle = this.data.categories[category[at]][1];
    pen.fillRect(left, top, right - left, height);
    if (right - left < 6 * scale) return;
    pen.fillStyle = "rgba(0, 0, 0, 0.3)";
    pen.fillRect(left, top, 1, height);
    const room = Math.min(right, next) - Math.max(0, left) - 6 * scale;
    const most = Math.floor(room / (6.6 * scale));
    if (most < 4) return;
    pen.fillStyle = category[at] === this.darkest() ? "#ffffff" : "#101418";
    pen.font = `${11 * scale}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    pen.save();
    pen.beginPath();
    pen.rect(left, top, Math.min(right, next) - left, height);
    pen.clip();
    const text = stepCut(this.nameOf(row, at), most);
    pen.fillText(text, Math.max(0, left) + 4 * scale, top + height / 2 + scale / 2);
    pen.restore();
  }

  // The one category whose colour is too dark for dark letters.
  darkest() {
    return this.data.categories.findIndex(([name]) => name === "calls");
  }

  nameGap([start, size, cause, host], top, height) {
    const { pen, scale } = this.view;
    const [left, right] = [Math.max(0, this.x(start)), Math.min(this.view.width, this.x(start + size))];
    const most = Math.floor((right - left - 8 * scale) / (6.6 * scale));
    if (most < 8) return;
    pen.fillStyle = this.colour("--faint");
    pen.font = `${11 * scale}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    const text = `idle ${stepTime(size)}: ${host ?? cause}`;
    pen.fillText(stepCut(text, most), left + 4 * scale, top + height / 2);
  }

  // In every few pixels, the line is at the row that has most of the path's time there.
  drawPath() {
    const { pen, scale, width } = this.view;
    const rows = new Map(this.rows.map((row) => [row.place, row]));
    const every = STEP_PATH * scale;
    const times = Array.from({ length: Math.ceil(width / every) }, () => new Map());
    for (const [place, from, until] of this.window.path) {
      const [left, right] = [Math.max(0, this.x(from)), Math.min(width, this.x(until))];
      if (!rows.has(place) || right < 0 || left > width) continue;
      for (let at = Math.floor(left / every); at * every < right; at++) {
        const time = Math.min(right, (at + 1) * every) - Math.max(left, at * every);
        times[at].set(place, (times[at].get(place) ?? 0) + time);
      }
    }
    const points = [];
    times.forEach((of, at) => {
      if (!of.size) return;
      const [most] = [...of].sort((one, other) => other[1] - one[1])[0];
      const { top, height } = this.box(rows.get(most));
      const y = top + height - scale;
      points.push([at * every, y], [(at + 1) * every, y]);
    });
    for (const [colour, size] of [[this.colour("--ground"), 5], [this.colour("--path"), 2.5]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = size * scale;
      pen.lineJoin = "round";
      pen.beginPath();
      points.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
    }
  }

  // A frame around the selected bar.
  mark() {
    if (!this.selected || this.selected.at === undefined) return;
    const { row, at } = this.selected;
    const { pen, scale } = this.view;
    const { top, height } = this.box(row);
    const left = this.x(row.bars.start[at]);
    pen.strokeStyle = this.colour("--ink");
    pen.lineWidth = 2 * scale;
    pen.strokeRect(left, top, Math.max(3 * scale, row.bars.size[at] * this.view.per), height);
  }

  nameOf(row, at) {
    const name = row.bars.name[at];
    return name < 0 ? this.data.categories[row.bars.category[at]][0] : this.data.names[name];
  }

  // What is at a place: {row, at} for a bar, {row, slice}, {row, gap}, or null.
  find(x, y) {
    const row = this.rows.find((one) => y >= one.y - 1 && y <= one.y + one.height + 1);
    if (!row) return null;
    const time = this.from + ((this.until - this.from) * x) / this.plot.clientWidth;
    const near = (2 * (this.until - this.from)) / this.plot.clientWidth;
    const { start, size, slices } = row.bars;
    let [best, distance] = [-1, near];
    for (let at = 0; at < start.length; at++) {
      const away = Math.max(start[at] - time, time - start[at] - size[at], 0);
      // Of bars around the place, the last is the innermost.
      if (away < distance || (away === 0 && distance === 0)) [best, distance] = [at, away];
    }
    if (best >= 0) return { row, at: best, time };
    const slice = slices.find((one) => time >= one.start && time < one.start + one.size);
    if (slice) return { row, slice };
    const gap = row.device?.gaps.find(([from, long]) => time >= from && time < from + long);
    return gap ? { row, gap } : null;
  }

  short(found) {
    if (found.gap) {
      const [, size, cause, host] = found.gap;
      return `idle for ${stepTime(size)}: ${cause}${host ? `, ${host}` : ""}`;
    }
    if (found.slice) {
      return `${found.slice.count} short bars of ${this.data.categories[found.slice.category][0]}`;
    }
    const { row, at } = found;
    return `${this.nameOf(row, at)}: ${stepTime(row.bars.size[at])}`;
  }

  // The bar of a stream that a bar of the row of all streams shows; null if several do.
  single(found) {
    const [from, until] = this.extent(found);
    const category = found.row.bars.category[found.at];
    const all = [];
    for (const row of this.rows) {
      if (row.host || row === found.row || row.group !== found.row.group) continue;
      row.bars.start.forEach((start, at) => {
        const end = start + row.bars.size[at];
        if (row.bars.category[at] === category && start < until && end > from) {
          all.push({ row, at, start, end });
        }
      });
    }
    if (all.length === 1) return all[0];
    const here = all.filter((bar) => bar.start <= found.time && found.time < bar.end);
    return here.length === 1 ? here[0] : null;
  }

  select(found) {
    this.selected = found;
    this.details.replaceChildren();
    if (!found) return this.draw();
    const isMerged = found.at !== undefined && found.row.title.startsWith("all ");
    const { row, at, gap, slice } = (isMerged && this.single(found)) || found;
    stepElement(this.details, "h3", {}, at === undefined ? this.short(found) : this.nameOf(row, at));
    const facts = stepElement(this.details, "dl");
    const fact = (name, value) => {
      if (value === undefined || value === null) return;
      stepElement(facts, "dt", {}, name);
      stepElement(facts, "dd", {}, String(value));
    };
    fact("row", `${row.group}, ${row.title}`);
    let command = this.data.commands[row.host ? "host" : "gpu"];
    if (gap) {
      fact("starts at", stepTime(gap[0]));
      fact("ends with", gap[4]);
      command = this.data.commands.gap;
    } else if (slice) {
      fact("from", stepTime(slice.start));
      fact("to", stepTime(slice.start + slice.size));
      fact("busy", stepShare(slice.share));
    } else {
      fact("duration", stepTime(row.bars.size[at]));
      fact("starts at", stepTime(row.bars.start[at]));
      fact("category", this.data.categories[row.bars.category[at]][0]);
      if (row.bars.event[at] >= 0) command = this.data.commands.event;
      this.stack(row, at);
    }
    if (isMerged && row === found.row) {
      stepElement(this.details, "p", {}, "Click a bar of a stream below for its call stack.");
    }
    stepElement(this.details, "pre", {}, this.filled(command, row.bars.event[at]));
    return this.draw();
  }

  // The call stack, the outermost first.
  stack(row, at) {
    const names = [];
    for (let frame = row.bars.frame[at]; frame >= 0; frame = this.data.frames[frame][0]) {
      names.unshift(this.data.names[this.data.frames[frame][1]]);
    }
    if (row.host) names.pop();
    if (!names.length) return;
    stepElement(this.details, "p", {}, row.host ? "Called by:" : "Launched by:");
    const list = stepElement(this.details, "ol");
    for (const name of names) stepElement(list, "li", {}, name);
  }

  filled(command, event) {
    const step = this.window.step === null ? "" : ` --only-steps ${this.window.step}`;
    return command.replace("{event}", event).replace("{rank}", this.window.rank)
      .replace(" {step}", step);
  }

  // Goes to the next or previous bar of the row, or to the bar at the same time in another row.
  go(along, across) {
    const rows = this.rows.filter((row) => row.bars.start.length);
    if (!rows.length) return;
    const now = this.selected?.at === undefined ? null : this.selected;
    let row = now?.row ?? rows.find((one) => !one.host) ?? rows[0];
    let at = now?.at ?? row.bars.start.findIndex((start) => start >= this.from);
    if (now && across) {
      const middle = row.bars.start[at] + row.bars.size[at] / 2;
      row = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + across))];
      at = row.bars.start.findLastIndex((start) => start <= middle);
    } else if (now) at += along;
    at = Math.max(0, Math.min(row.bars.start.length - 1, at));
    const [from, until] = [row.bars.start[at], row.bars.start[at] + row.bars.size[at]];
    if (until < this.from || from > this.until) {
      const half = (this.until - this.from) / 2;
      [this.from, this.until] = [from - half, from + half];
      this.show(this.from, this.until);
    }
    this.select({ row, at });
  }

  listen() {
    let pressed = null;
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const time = (x) => this.from + ((this.until - this.from) * x) / this.plot.clientWidth;
    this.canvas.addEventListener("pointerdown", (event) => {
      pressed = at(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (pressed && Math.abs(x - pressed[0]) > 4) {
        this.draw();
        const { pen, scale } = this.view;
        pen.fillStyle = "rgba(59, 130, 196, 0.25)";
        pen.fillRect(pressed[0] * scale, 0, (x - pressed[0]) * scale, this.canvas.height);
        return;
      }
      const found = this.find(x, y);
      this.tip.textContent = found ? this.short(found) : "";
      this.tip.style.display = found ? "block" : "none";
      const room = this.plot.clientWidth - this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, Math.min(x + 12, room))}px`;
      this.tip.style.top = `${y + 18}px`;
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.tip.style.display = "none";
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const [x, y] = at(event);
      const [from, was] = [pressed?.[0] ?? x, pressed];
      pressed = null;
      if (was && Math.abs(x - from) > 4) this.show(time(Math.min(x, from)), time(Math.max(x, from)));
      else this.select(this.find(x, y));
    });
    this.canvas.addEventListener("dblclick", () => this.show(0, this.whole));
    this.canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 0.8 : 1.25, time(at(event)[0]));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        const by = ((this.until - this.from) * event.deltaX) / this.plot.clientWidth;
        this.show(this.from + by, this.until + by);
      }
    }, { passive: false });
    const keys = {
      ArrowRight: () => this.go(1, 0), ArrowLeft: () => this.go(-1, 0),
      ArrowDown: () => this.go(0, 1), ArrowUp: () => this.go(0, -1),
      "+": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.show(0, this.whole),
    };
    this.canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
