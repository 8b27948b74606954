"use strict";
// Interactive explorer of a sweep. Data come from `report/sweep_data.py` and are inserted as text
// only, never as HTML. The template wraps this in a function, as Vega also defines short names.
const sweep = JSON.parse(document.getElementById("sweep-data").textContent);
const palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A"];
const shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke"];
const mostLines = 12; // at first; more would be illegible
const mostDots = 1500; // more are drawn without lines and intervals
const mostDrawn = 20000; // more are summarised in bins
const mostRows = 200;
const bins = 40;
const none = "(nothing)";
const at = (id) => document.getElementById(id);
const points = sweep.places.length ? sweep.places[0].length : 1;
const axisNames = sweep.axes.map((axis) => axis.name);

function option(select, value, words) {
  const one = document.createElement("option");
  one.value = value;
  one.textContent = words;
  select.append(one);
}

function control(words, node) {
  const label = document.createElement("label");
  label.append(words + " ", node);
  return label;
}

function chooser(id, names, words, chosen) {
  const select = document.createElement("select");
  select.id = id;
  names.forEach((name, place) => option(select, name, words[place]));
  select.value = chosen;
  select.addEventListener("change", show);
  return select;
}

// Size of an axis unit in SI units and its symbol, chosen to keep numbers short.
const scaleOf = (one, log) => one?.scales?.[log ? 1 : 0] ?? [1, one?.unit ?? ""];
const withUnit = (words, unit) => (unit ? `${words} (${unit})` : words);

function widest(numeric) {
  let best = -1;
  sweep.axes.forEach((axis, place) => {
    if (axis.values.length < 2 || (numeric && !axis.numbers)) return;
    if (best < 0 || axis.values.length > sweep.axes[best].values.length) best = place;
  });
  return best;
}

// Sets the logarithmic option of x if the values of the axis are geometric.
function setLog(x) {
  at("x-log").checked = sweep.axes[x].log;
}

function build() {
  const names = Object.keys(sweep.metrics);
  const metrics = chooser("metric", names,
    names.map((name) => withUnit(sweep.metrics[name].words, sweep.metrics[name].unit) +
      (name.includes("[") ? "" : ` \u2013 ${name}`) +
      (sweep.metrics[name].theories ? ", with theory" : "")), sweep.shown[0] ?? names[0]);
  const x = widest(true) >= 0 ? widest(true) : Math.max(widest(false), 0);
  const box = at("choose");
  box.append(control("Show", metrics));
  if (!sweep.axes.length) return;
  const words = sweep.axes.map((axis) => axis.words);
  box.append(control("against", chooser("x", axisNames, words, axisNames[x])));
  at("x").addEventListener("change", () => { setLog(axisNames.indexOf(at("x").value)); show(); });
  const others = sweep.axes.map((_, place) => place)
    .filter((place) => place !== x && sweep.axes[place].values.length > 1);
  const hue = others.find((place) => axisNames[place] === "variant") ?? others[0];
  box.append(control("colour", chooser("hue", [none, ...axisNames], [none, ...words],
    hue === undefined ? none : axisNames[hue])));
  for (const [id, words] of [["x-log", "logarithmic x"], ["y-log", "logarithmic y"]]) {
    const check = document.createElement("input");
    check.type = "checkbox";
    check.id = id;
    check.addEventListener("change", show);
    const label = document.createElement("label");
    label.append(check, " " + words);
    box.append(label);
  }
  setLog(x);
  let lines = hue === undefined ? 1 : sweep.axes[hue].values.length;
  sweep.axes.forEach((axis, place) => {
    if (axis.values.length < 2) return;
    const filter = axis.values.length > 30 ? slider(axis, place) : dropdown(axis, place);
    if (place !== x && place !== hue && filter.tagName === "SELECT") {
      lines *= axis.values.length;
      if (lines > mostLines && !sweep.sample) {
        lines /= axis.values.length;
        filter.value = "0";
      }
    }
    at("filters").append(control(axis.words, filter));
  });
}

function dropdown(axis, place) {
  const places = ["all", ...axis.values.map((_, code) => String(code))];
  return chooser(`filter-${place}`, places, ["all", ...axis.values], "all");
}

function slider(axis, place) {
  const both = document.createElement("span");
  both.className = "range";
  const said = document.createElement("output");
  const ends = [0, axis.values.length - 1].map((end, which) => {
    const input = document.createElement("input");
    Object.assign(input, { type: "range", min: 0, max: axis.values.length - 1, value: end });
    input.id = `filter-${place}-${which ? "to" : "from"}`;
    input.setAttribute("aria-label", `${axis.words}, ${which ? "to" : "from"}`);
    return input;
  });
  const tell = () => {
    said.textContent = ends.map((end) => axis.values[Number(end.value)]).join(" to ");
  };
  ends.forEach((end) => end.addEventListener("input", () => { tell(); show(); }));
  tell();
  both.append(...ends, said);
  return both;
}

function allowed(place) {
  const select = at(`filter-${place}`);
  if (select) return select.value === "all" ? () => true : (code) => code === Number(select.value);
  const ends = ["from", "to"].map((end) => at(`filter-${place}-${end}`));
  if (!ends[0]) return () => true;
  const [low, high] = ends.map((end) => Number(end.value));
  return (code) => low <= code && code <= high;
}

function chosen() {
  // Points for which an axis does not vary pass every filter on that axis.
  const tests = sweep.axes.map((_, place) => allowed(place));
  const found = [];
  for (let point = 0; point < points; point++) {
    const fits = tests.every((test, place) => {
      const code = sweep.places[place][point];
      return code < 0 || test(code);
    });
    if (fits) found.push(point);
  }
  return found;
}

function wordsOf(place, point) {
  const code = sweep.places[place][point];
  return code < 0 ? "\u2013" : sweep.axes[place].values[code];
}

function rows(found, metric, x, hue) {
  const rest = sweep.axes.map((_, place) => place)
    .filter((place) => place !== x && place !== hue && sweep.axes[place].values.length > 1);
  let inUse = x < 0 ? [] : [...new Set(found.map((point) => sweep.places[x][point]))]
    .filter((code) => code >= 0);
  if (x >= 0 && !inUse.length) inUse = sweep.axes[x].values.map((_, code) => code);
  const made = [];
  for (const point of found) {
    const mean = metric.mean[point];
    if (mean === null || mean === "inf") continue;
    const colour = hue < 0 ? "all" : wordsOf(hue, point);
    const beside = rest.map((place) => wordsOf(place, point));
    const row = {
      point, y: mean, low: metric.low[point], high: metric.high[point], n: metric.n[point], colour,
      line: [colour, ...beside].join(" \u00b7 "),
      beside: rest.map((place, which) => `${sweep.axes[place].words} ${beside[which]}`).join(", "),
    };
    const code = x < 0 ? 0 : sweep.places[x][point];
    const flat = code < 0;
    for (const one of flat ? inUse : [code]) {
      const number = x < 0 ? 0 : sweep.axes[x].numbers?.[one];
      made.push({ ...row, flat, x: number ?? (x < 0 ? "" : sweep.axes[x].values[one]) });
    }
  }
  return made;
}

function predictions(data, metric) {
  // Predictions of each theory at the rows, and the relative deviation of the simulation.
  return (metric.theories ?? []).flatMap((theory) => data.flatMap((row) => {
    const value = theory.values[row.point];
    if (typeof value !== "number") return [];
    const broken = theory.broken[row.point];
    const part = (mean) => (mean === null || !value ? null : mean / value - 1);
    return [{ ...row, theory: theory.words, line: `${row.line} \u00b7 ${theory.words}`,
      value, holds: !broken.length, breaks: broken.join("; ") || "nothing",
      part: part(row.y), partLow: part(row.low), partHigh: part(row.high) }];
  }));
}

function quantile(sorted, share) {
  const place = (sorted.length - 1) * share;
  const low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

function binned(data, log) {
  const scale = log ? Math.log : (x) => x;
  const back = log ? Math.exp : (x) => x;
  const kept = log ? data.filter((row) => row.x > 0) : data;
  let low = Infinity, high = -Infinity;
  for (const row of kept) {
    low = Math.min(low, scale(row.x));
    high = Math.max(high, scale(row.x));
  }
  const groups = new Map();
  for (const row of kept) {
    const bin = Math.min(bins - 1, Math.floor(bins * (scale(row.x) - low) / (high - low || 1)));
    const key = `${bin} ${row.colour}`;
    if (!groups.has(key)) groups.set(key, { bin, colour: row.colour, values: [] });
    groups.get(key).values.push(row.y);
  }
  return [...groups.values()].map(({ bin, colour, values }) => {
    values.sort((a, b) => a - b);
    return {
      x: back(low + (bin + 0.5) * (high - low) / bins), colour, line: colour, n: values.length,
      y: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75),
      beside: "", flat: false,
    };
  });
}

const wordsOfAxis = (name) => sweep.axes.find((axis) => axis.name === name)?.words ?? "";

function scaled(row, xSize, size) {
  const over = (value) => (typeof value === "number" ? value / size : value);
  return { ...row, x: typeof row.x === "number" ? Number((row.x / xSize).toPrecision(12)) : row.x,
    y: over(row.y), low: over(row.low), high: over(row.high), value: over(row.value) };
}

// Zeros can be drawn at the lower edge, negative values cannot.
const isLog = (data) => Boolean(at("y-log")?.checked) && data.every((row) => row.y >= 0) &&
  data.some((row) => row.y > 0);

function lowestOf(data) {
  const ends = data.flatMap((row) => [row.y, row.low]).filter((end) => end > 0);
  const least = ends.reduce((a, b) => Math.min(a, b)), most = data.reduce(
    (most, row) => Math.max(most, row.y, row.high ?? 0), least);
  return least / 10 ** Math.max(0.15, 0.12 * Math.log10(most / least));
}

function specification(data, told, metric, x, colours, dots, inBins) {
  const axis = sweep.axes[x];
  const numeric = Boolean(axis?.numbers);
  const yLog = isLog(data);
  const xLog = numeric && at("x-log").checked && data.every((row) => row.x > 0);
  const [size, unit] = scaleOf(metric, yLog), [xSize, xUnit] = scaleOf(axis, xLog);
  data = data.map((row) => scaled(row, numeric ? xSize : 1, size));
  told = told.map((row) => scaled(row, numeric ? xSize : 1, size))
    .filter((row) => !yLog || row.value > 0);
  const lowest = yLog ? lowestOf(data) : undefined;
  const y = { title: withUnit(metric.words, unit), axis: { tickCount: 6 },
    scale: yLog ? { type: "log", domainMin: lowest, nice: false } : { type: "linear", zero: true } };
  const xTitle = axis ? withUnit(axis.words, xUnit) : "";
  const swept = numeric ? [...new Set(data.map((row) => row.x))].sort((a, b) => a - b) : [];
  const encoding = {
    x: numeric
      ? { field: "x", type: "quantitative", title: xTitle,
          axis: { tickCount: 7, ...(swept.length > 1 && swept.length < 10 &&
            { values: swept, format: swept.at(-1) < 1e5 ? "~r" : "~s", labelOverlap: true }) },
          scale: { type: xLog ? "log" : "linear", ...(!xLog && { zero: false }), nice: !xLog,
            padding: 12 } }
      : { field: "x", type: "nominal", title: xTitle, axis: { labelLimit: 110, labelAngle: -25 },
          sort: axis ? axis.values : null },
    color: { field: "colour", type: "nominal", title: null, legend: null, scale: {
      domain: colours, range: colours.map((_, place) => palette[place % palette.length]) } },
    detail: { field: "line", type: "nominal" },
  };
  const low = yLog ? `max(datum.low, ${lowest})` : "datum.low";
  const interval = {
    transform: [{ filter: `datum.low !== null && datum.high !== null && ${yLog ? "datum.high > 0" : "true"}` },
      { calculate: low, as: "bottom" }],
    encoding: { y: { ...y, field: "bottom", type: "quantitative" }, y2: { field: "high" } },
  };
  const number = { type: "quantitative", format: ".4~g" };
  const tooltip = [
    { field: "colour", type: "nominal", title: wordsOfAxis(at("hue")?.value) },
    { field: "x", type: numeric ? "quantitative" : "nominal", title: xTitle || "x" },
    { field: "y", ...number, title: inBins ? "Median" : "Mean" },
    { field: "low", ...number, title: inBins ? "Quarter from" : "95 % interval from" },
    { field: "high", ...number, title: "to" },
    { field: "n", type: "quantitative", title: inBins ? "Points" : "Runs" },
    { field: "beside", type: "nominal", title: "Also" },
  ];
  const mean = { ...y, field: "y", type: "quantitative" };
  const above = yLog ? [{ filter: "datum.y > 0" }] : [];
  const layer = [];
  if (!dots) {
    if (numeric) layer.push({ mark: { type: "area", opacity: 0.12 }, ...interval });
    layer.push({ mark: { type: "rule", strokeWidth: 1.5, opacity: 0.8 }, ...interval });
    if (numeric) layer.push({ mark: { type: "line", strokeWidth: 2 }, transform: above,
      encoding: { y: mean } });
  }
  const shape = { field: "colour", type: "nominal", legend: null,
    scale: { domain: colours, range: colours.map((_, place) => shapes[place % 6]) } };
  layer.push({ transform: above,
    mark: { type: "point", filled: true, size: dots ? 18 : 60, opacity: dots ? 0.5 : 1 },
    encoding: { y: mean, tooltip, shape },
  });
  // Zero has no logarithm: such points are drawn hollow on the lower edge.
  if (yLog && data.some((row) => row.y === 0)) layer.push({ transform: [{ filter: "datum.y === 0" }],
    mark: { type: "point", filled: false, fill: "white", size: 60, strokeWidth: 1.5 },
    encoding: { y: { value: { expr: "height" } }, tooltip, shape } });
  if (told.length) layer.push(...theoryLayers(told, { ...y, field: "value" }, numeric && !dots));
  return { width: "container", height: 380, data: { values: data }, encoding, layer,
    resolve: { scale: { shape: "independent" } }, usermeta: { xSize: numeric ? xSize : 1 } };
}

const shapesOfTheory = { domain: [true, false], range: ["circle", "cross"] };
const tellOfTheory = [
  { field: "theory", type: "nominal", title: "Theory" },
  { field: "value", type: "quantitative", format: ".4~g", title: "says" },
  { field: "part", type: "quantitative", format: "+.2~%", title: "Simulation above it by" },
  { field: "breaks", type: "nominal", title: "Breaks" },
];

function theoryLayers(told, y, lines) {
  const dashes = { domain: [...new Set(told.map((row) => row.theory))], range: [[6, 4], [2, 3]] };
  const mean = { ...y, type: "quantitative" };
  const found = lines ? [{ data: { values: told }, mark: { type: "line", strokeWidth: 1.5 },
    encoding: { y: mean, strokeDash: { field: "theory", type: "nominal", legend: null,
      scale: dashes } } }] : [];
  return [...found, { data: { values: told }, mark: { type: "point", filled: false, size: 45 },
    encoding: { y: mean, tooltip: tellOfTheory, shape: { field: "holds", type: "nominal",
      legend: null, scale: shapesOfTheory } } }];
}

function residuals(told, spec) {
  // Same x axis and colours as the points above.
  told = told.map((row) => scaled(row, spec.usermeta.xSize, 1));
  const { x, color, detail } = spec.encoding;
  const y = { title: "(mean \u2212 theory) / theory", axis: { format: "~%", tickCount: 4 } };
  const dashes = theoryLayers(told, { ...y, field: "part" }, false);
  return { width: "container", height: 150, data: { values: told }, encoding: { x, color, detail },
    resolve: { scale: { shape: "independent" } },
    layer: [
      { data: { values: [{}] }, mark: { type: "rule", color: "#8A8A8A" },
        encoding: { y: { datum: 0, type: "quantitative" }, x: null, color: null, detail: null } },
      { transform: [{ filter: "datum.partLow !== null && datum.partHigh !== null" }],
        mark: { type: "rule", strokeWidth: 1.5, opacity: 0.8 },
        encoding: { y: { ...y, field: "partLow", type: "quantitative" }, y2: { field: "partHigh" } } },
      ...dashes,
    ] };
}

function tell(data, told, found, metric, inBins, dots) {
  const infinite = found.filter((point) => metric.mean[point] === "inf").length;
  const missing = found.filter((point) => metric.mean[point] === null).length;
  const parts = [`${found.length.toLocaleString("en")} of ${points.toLocaleString("en")} points.`];
  if (infinite) parts.push(`${infinite} have no end, because flows did not finish: not drawn.`);
  if (missing) parts.push(`${missing} have no such figure.`);
  if (inBins) parts.push("So many are drawn as median and quarters of the means in bins of x.");
  else if (dots) parts.push("Dots are means; hover for their intervals.");
  else parts.push(
    `Means over the seeds; bars and bands are 95 % intervals (${metric.interval}).`);
  if (metric.note) parts.push(metric.note);
  if (found.some((point) => metric.mean[point] === 0 && metric.high[point] > 0))
    parts.push("A bar up from 0 is the bound of what was not seen.");
  const lines = new Map();
  for (const row of data) lines.set(row.colour, (lines.get(row.colour) ?? new Set()).add(row.line));
  if (!dots && [...lines.values()].some((own) => own.size > 1))
    parts.push("Lines of one colour differ in what the filters leave: hover tells in what.");
  if (data.some((row) => row.flat))
    parts.push("Where an axis does not vary, its one value stands at all of x.");
  const heights = data.map((row) => row.y).filter((y) => y > 0);
  const [least, most] = heights.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)],
    [Infinity, 0]);
  if (at("y-log")?.checked && !isLog(data))
    parts.push("Not logarithmic: some means are below zero, or all are zero.");
  else if (isLog(data) && heights.length < data.length)
    parts.push("Hollow on the lower edge: 0.");
  else if (at("y-log") && !isLog(data) && most / least >= 100)
    parts.push(`Over ${Math.log10(most / least).toFixed(1)} decades: logarithmic y tells the low ` +
      "points apart.");
  at("state").textContent = [...parts, ...tellTheory(told, found, metric)].join(" ");
}

function tellTheory(told, found, metric) {
  if (!told.length) return [];
  const parts = ["Below, how far the means lie from theory, with the same intervals."];
  for (const theory of metric.theories) {
    const broken = new Map();
    const said = found.filter((point) => theory.values[point] !== null);
    for (const point of said)
      for (const words of theory.broken[point]) broken.set(words, (broken.get(words) ?? 0) + 1);
    const ends = [...broken].map(([words, count]) => `${words} (at ${count})`).join("; ");
    if (said.length < found.length)
      parts.push(`${theory.words} is about ${said.length} of the ${found.length} points.`);
    if (ends) parts.push(`${theory.words} assumes what does not hold at its crosses: ${ends}.`);
  }
  return parts;
}

function table(found, metric) {
  const body = at("points");
  body.replaceChildren();
  const line = (cells, kind) => {
    const row = document.createElement("tr");
    for (const words of cells) {
      const cell = document.createElement(kind);
      cell.textContent = words;
      row.append(cell);
    }
    body.append(row);
  };
  const digits = (value) => (typeof value === "number" ? Number(value.toPrecision(4)).toString()
    : value ?? "\u2013");
  const theories = metric.theories ?? [];
  line([...sweep.axes.map((axis) => axis.words), "Runs", withUnit("Mean", metric.unit), "95 % from", "to",
    ...theories.flatMap((theory) => [theory.words, "Mean less theory", "It breaks"])], "th");
  for (const point of found.slice(0, mostRows)) {
    const mean = metric.mean[point];
    line([...axisNames.map((_, place) => wordsOf(place, point)), metric.n[point],
      digits(mean), digits(metric.low[point]), digits(metric.high[point]),
      ...theories.flatMap(({ values, broken }) => [digits(values[point]),
        digits(typeof mean === "number" && values[point] !== null ? mean - values[point] : null),
        broken[point].join("; ")])], "td");
  }
  at("more").textContent = found.length > mostRows
    ? `The first ${mostRows} of ${found.length.toLocaleString("en")} points.` : "";
}

function legend(colours, hue, told) {
  const list = at("series");
  list.replaceChildren();
  [...new Set(told.map((row) => row.theory))].forEach((words, place) => {
    const item = document.createElement("li");
    const mark = document.createElement("i");
    mark.className = place ? "theory second" : "theory";
    item.append(mark, words);
    list.append(item);
  });
  if (hue < 0) return;
  colours.forEach((words, place) => {
    const item = document.createElement("li");
    const mark = document.createElement("i");
    mark.style.background = palette[place % palette.length];
    item.append(mark, words === "\u2013" ? "(does not vary)" : words);
    list.append(item);
  });
}

let drawing = 0;
async function show() {
  const metric = sweep.metrics[at("metric").value];
  const x = at("x") ? axisNames.indexOf(at("x").value) : -1;
  const wanted = at("hue") ? axisNames.indexOf(at("hue").value) : -1;
  const hue = wanted === x ? -1 : wanted;
  const found = chosen();
  let data = rows(found, metric, x, hue);
  const numeric = Boolean(sweep.axes[x]?.numbers);
  const inBins = numeric && data.length > mostDrawn;
  const dots = !inBins && (sweep.sample || data.length > mostDots);
  if (inBins) data = binned(data, at("x-log").checked);
  const there = new Set(data.map((row) => row.colour));
  const colours = hue < 0 ? ["all"]
    : [...sweep.axes[hue].values, "\u2013"].filter((words) => there.has(words));
  const told = inBins ? [] : predictions(data, metric);
  legend(colours, hue, told);
  tell(data, told, found, metric, inBins, dots);
  table(found, metric);
  const spec = specification(data, told, metric, x, colours, dots, inBins);
  const turn = ++drawing;
  const box = at("explore-chart");
  const how = { renderer: dots ? "canvas" : "svg", config: look(),
    actions: { export: true, source: false, compiled: false, editor: false } };
  const made = await vegaEmbed(box, spec, how);
  if (turn !== drawing) return made.finalize();
  const below = at("explore-residual");
  const parts = told.filter((row) => row.part !== null);
  below.hidden = !parts.length;
  if (parts.length) await vegaEmbed(below, residuals(parts, spec), how);
}

build();
dark.addEventListener("change", show);
show();
