"use strict";
// Draws what comes into view, in the colours of the page, and lets tables be sorted and filtered.
//
// The page holds plotly and the pictures compressed. plotly starts for the first chart that comes
// into view, so a page opens at once.

function inflated(place) {
  const text = atob(place.textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

let inflating;
let script; // of plotly, once it is inflated
function inflatePlotly() {
  inflating ??= inflated(document.getElementById("plotly")).then((code) => { script = code; });
  return inflating;
}

function startPlotly() {
  if (typeof Plotly !== "undefined") return;
  const element = document.createElement("script");
  element.textContent = script;
  document.head.append(element);
}

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

const charts = [...document.querySelectorAll(".chart")];
const data = new WeakMap();
// Charts are drawn one after the other, so that the page can be read and scrolled meanwhile.
let queue = Promise.resolve();

function draw(chart) {
  queue = queue.then(async () => {
    await inflatePlotly();
    startPlotly();
    await drawNow(chart);
    await new Promise((go) => setTimeout(go));
  });
}

function drawNow(chart) {
  if (!data.has(chart)) data.set(chart, JSON.parse(chart.nextElementSibling.textContent));
  const { data: marks, layout } = data.get(chart);
  const done = Plotly.react(chart, marks, styled(layout), { responsive: true, displaylogo: false });
  chart.dataset.drawn = "";
  document.documentElement.dataset.drawn = charts.filter((one) => "drawn" in one.dataset).length;
  return done;
}

function drawAgain() {
  charts.filter((chart) => "drawn" in chart.dataset).forEach(draw);
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target);
  }
}, { rootMargin: "200px" });
charts.forEach((chart) => seen.observe(chart));

const sections = [...document.querySelectorAll("section > details")];
document.getElementById("all").addEventListener("click", () => {
  for (const section of sections) section.open = true;
  for (const chart of charts) {
    seen.unobserve(chart);
    if (!("drawn" in chart.dataset)) draw(chart);
  }
});

// The picture of a step.
const pictures = document.querySelectorAll(".step");
for (const place of pictures) {
  inflated(place.nextElementSibling).then((text) => {
    place.picture = new StepPicture(place, JSON.parse(text));
  });
}

// Prints all sections in light colours, with pictures as wide as a page. A browser does not wait, so
// plotly is inflated some time after the page has opened.
const root = document.documentElement;
let onScreen;
let opened = [];
setTimeout(inflatePlotly, 1500);
window.addEventListener("beforeprint", () => {
  onScreen = root.dataset.theme;
  root.dataset.theme = "light";
  root.classList.add("printed");
  const folded = "main details:not([open], .source, li details, #sql details)";
  opened = [...document.querySelectorAll(folded)];
  for (const part of opened) part.open = true;
  for (const place of pictures) place.picture?.draw();
  if (!script) return;
  startPlotly();
  charts.forEach(drawNow);
});
window.addEventListener("afterprint", () => {
  if (onScreen) root.dataset.theme = onScreen;
  else delete root.dataset.theme;
  root.classList.remove("printed");
  for (const part of opened) part.open = false;
  for (const place of pictures) place.picture?.draw();
  drawAgain();
});

// Names are cut differently in narrow windows.
let wasNarrow = window.innerWidth < 600;
window.addEventListener("resize", () => {
  if (wasNarrow === window.innerWidth < 600) return;
  wasNarrow = !wasNarrow;
  drawAgain();
});

const dark = window.matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", drawAgain);
document.getElementById("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
  drawAgain();
});

// A link to a section or to a query's SQL also opens it.
function openGoal() {
  const place = location.hash && document.getElementById(location.hash.slice(1));
  for (let at = place; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const details = place?.querySelector?.(":scope > details");
  if (details) details.open = true;
  place?.scrollIntoView?.();
}
window.addEventListener("hashchange", openGoal);
document.addEventListener("click", (event) => {
  if (event.target.closest?.('a[href^="#"]')) setTimeout(openGoal);
});
openGoal();
