"use strict";
// Draws what comes into view, in the colours of the page, and lets tables be sorted and filtered.
//
// The page holds plotly and the pictures compressed. plotly is inflated for the first chart that
// comes into view, so a page opens at once.

function inflated(place) {
  const bytes = Uint8Array.from(atob(place.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

let loaded;
function plotly() {
  loaded ??= inflated(document.getElementById("plotly")).then((code) => {
    const script = document.createElement("script");
    script.textContent = code;
    document.head.append(script);
  });
  return loaded;
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
    await plotly();
    if (!data.has(chart)) data.set(chart, JSON.parse(chart.nextElementSibling.textContent));
    const { data: marks, layout } = data.get(chart);
    await Plotly.react(chart, marks, styled(layout), { responsive: true, displaylogo: false });
    chart.dataset.drawn = "";
    document.documentElement.dataset.drawn = charts.filter((one) => "drawn" in one.dataset).length;
    await new Promise((go) => setTimeout(go));
  });
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
for (const place of document.querySelectorAll(".step")) {
  inflated(place.nextElementSibling).then((text) => {
    place.picture = new StepPicture(place, JSON.parse(text));
  });
}

// Prints with light colours, also if the screen is dark.
let onScreen;
window.addEventListener("beforeprint", () => {
  onScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  drawAgain();
});
window.addEventListener("afterprint", () => {
  if (onScreen) document.documentElement.dataset.theme = onScreen;
  else delete document.documentElement.dataset.theme;
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
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
  drawAgain();
});

// A link to a section or to a query's SQL also opens it.
function opened() {
  const place = location.hash && document.getElementById(location.hash.slice(1));
  for (let at = place; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const details = place?.querySelector?.(":scope > details");
  if (details) details.open = true;
  place?.scrollIntoView?.();
}
window.addEventListener("hashchange", opened);
document.addEventListener("click", (event) => {
  if (event.target.closest?.('a[href^="#"]')) setTimeout(opened);
});
opened();
