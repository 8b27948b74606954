"use strict";
// Times are integer picoseconds. Tables are stored by column: data.bursts.number[i] and so on.
const data = JSON.parse(document.getElementById("data").textContent);
const { fibres, bursts, bookings, losses, cuts, nodes, colours } = data;
const byId = (id) => document.getElementById(id);
const canvas = byId("view"), pen = canvas.getContext("2d"), story = byId("story");
// The canvas is sticky inside its scrolling box; the element below it creates the scroll range.
const pane = byId("pane"), below = byId("below");
const LEFT = 150, TOP = 26, GAP = 8;
const row = new Map(bursts.number.map((number, place) => [number, place]));

// Sorts the rows of a table per fibre by start, and records the longest duration. A row visible at
// some time starts no earlier than that time minus the longest duration, so a binary search finds
// the first one.
function shelve(table) {
  const shelves = fibres.map(() => []);
  table.fibre.forEach((fibre, place) => shelves[fibre].push(place));
  return shelves.map((places) => {
    places.sort((a, b) => table.start[a] - table.start[b]);
    const starts = Float64Array.from(places, (place) => table.start[place]);
    const ends = Float64Array.from(places, (place) => table.end[place]);
    let longest = 0;
    places.forEach((_, i) => { longest = Math.max(longest, ends[i] - starts[i]); });
    return { places: Int32Array.from(places), starts, ends, longest };
  });
}
const onFibre = shelve(bookings), lostOn = shelve(losses), cutOn = shelve(cuts);
function byBurst(table) {
  const found = new Map();
  table.burst.forEach((number, place) => {
    if (!found.has(number)) found.set(number, []);
    found.get(number).push(place);
  });
  return (number) => found.get(number) ?? [];
}
const usesOf = byBurst(bookings), lossesOf = byBurst(losses), cutsOf = byBurst(cuts);

function firstFrom(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

const uses = bookings.fibre.filter((fibre) => !fibres[fibre].paths).length;
const whole = [data.begin, data.end];
let [from, to] = whole, lane = 10, scroll = 0, pinned = null, alone = null, width = 1, height = 1;
const keyOf = {
  egress: (burst) => nodes[bursts.egress[burst]],
  ingress: (burst) => nodes[bursts.ingress[burst]],
  label: (burst) => `path ${bursts.label[burst]}`,
};

// The beginnings and ends of nodes with long names: those of one network often begin alike.
function shortened(name, most) {
  if (name.length <= most) return name;
  const nodes = name.split(" → "), half = Math.floor((most / nodes.length - 3) / 2);
  return nodes.map((node) => (node.length <= 2 * half + 1 ? node
    : `${node.slice(0, half)}…${node.slice(-half)}`)).join(" → ");
}
let names = [], nameOf = new Uint8Array(bursts.number.length);

function recolour() {
  const key = keyOf[byId("by").value], counts = new Map();
  bursts.number.forEach((_, i) => counts.set(key(i), (counts.get(key(i)) ?? 0) + 1));
  const most = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  names = most.slice(0, colours.length - 1).map(([name]) => name).sort();
  const place = new Map(names.map((name, i) => [name, i]));
  nameOf = Uint8Array.from(bursts.number, (_, i) => place.get(key(i)) ?? colours.length - 1);
  const shown = most.length > names.length ? [...names, "others"] : names;
  alone = null;
  byId("legend").replaceChildren(...shown.map((name, i) => {
    const at = name === "others" && i === names.length ? colours.length - 1 : i;
    const item = document.createElement("li"), button = document.createElement("button");
    const swatch = document.createElement("i");
    swatch.style.background = colours[at];
    button.append(swatch, shortened(name, 32));
    button.title = name;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      alone = alone === at ? null : at;
      for (const other of byId("legend").querySelectorAll("button")) {
        other.setAttribute("aria-pressed", String(other === button && alone !== null));
      }
      draw();
    });
    item.append(button);
    return item;
  }));
}

const UNITS = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]];
function told(ps) {
  const [size, unit] = UNITS.find(([size]) => Math.abs(ps) >= size) ?? UNITS[4];
  return `${Number((ps / size).toPrecision(9))} ${unit}`;
}
const x = (time) => LEFT + ((time - from) / (to - from)) * (width - LEFT);
const timeAt = (px) => from + ((px - LEFT) / (width - LEFT)) * (to - from);
const tops = [];
function layout() {
  let at = 0;
  fibres.forEach((fibre, i) => { tops[i] = at; at += fibre.rows * lane + GAP; });
  const most = Math.max(0, at - (height - TOP));
  scroll = Math.min(Math.max(0, scroll), most);
  below.style.height = `${most}px`;
  if (Math.abs(pane.scrollTop - scroll) >= 1) pane.scrollTop = scroll;
}

function grid(ink) {
  const span = to - from, raw = (span / (width - LEFT)) * 110;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw));
  const [size, unit] = UNITS.find(([size]) => step >= size) ?? UNITS[4];
  pen.textAlign = "center";
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    pen.strokeStyle = ink.line;
    pen.beginPath(); pen.moveTo(x(time), TOP); pen.lineTo(x(time), height); pen.stroke();
    pen.fillStyle = ink.soft;
    const words = `${Number((time / size).toPrecision(12))} ${unit}`;
    if (x(time) > LEFT + 30 && x(time) < width - 30) pen.fillText(words, x(time), 16);
  }
}

// Chooses the initial height of a row so that all fibres are visible, if rows remain legible.
function fit() {
  const number = fibres.reduce((sum, fibre) => sum + fibre.rows, 0);
  const room = (pane.clientHeight - TOP - GAP * fibres.length) / number;
  lane = Math.min(10, Math.max(5, Math.floor(room)));
}

// Collects boxes by colour to fill them together; skips boxes in a pixel that is already covered.
function boxes(fibre, y, into) {
  const { places, starts, ends, longest } = onFibre[fibre];
  const pixel = (to - from) / (width - LEFT);
  const taken = new Float64Array(fibres[fibre].channels);
  let seen = 0;
  for (let i = firstFrom(starts, from - longest); i < places.length && starts[i] < to; i++) {
    if (ends[i] <= from) continue;
    seen++;
    const place = places[i], channel = bookings.channel[place];
    if (ends[i] < taken[channel]) continue;
    const left = Math.max(x(starts[i]), LEFT), right = Math.min(x(ends[i]), width);
    const colour = nameOf[bookings.row[place]];
    if (alone !== null && alone !== colour) continue;
    taken[channel] = from + (Math.floor(right) + 1 - LEFT) * pixel;
    into[colour].push(left, y + channel * lane, Math.max(right - left, 1));
  }
  return seen;
}

// Draws losses with a cross at the head, and cut-off pieces with a dashed frame.
function frames({ places, starts, ends, longest }, table, y, ink) {
  const cut = table === cuts;
  pen.lineWidth = 1.5;
  let last = -9;
  for (let i = firstFrom(starts, from - longest); i < places.length && starts[i] < to; i++) {
    if (ends[i] <= from) continue;
    const place = places[i], top = y + table.channel[place] * lane;
    if (alone !== null && alone !== nameOf[table.row[place]]) continue;
    const head = x(starts[i]), left = Math.max(head, LEFT), right = Math.min(x(ends[i]), width);
    const wide = right - left > 3;
    if (!wide && head < last + 2) continue;
    // A frame in the colour of the page below the dashes makes them visible on any colour.
    for (const [colour, dashes] of cut ? [[ink.paper, []], [ink.lost, [4, 3]]] : [[ink.lost, []]]) {
      pen.strokeStyle = colour;
      pen.setLineDash(dashes);
      if (wide || cut) pen.strokeRect(left, top + 0.5, Math.max(right - left, 1), lane - 2);
    }
    last = head;
    if (cut || head < LEFT) continue;
    const r = Math.min(4, lane / 2), middle = top + lane / 2;
    pen.beginPath();
    pen.moveTo(head - r, middle - r); pen.lineTo(head + r, middle + r);
    pen.moveTo(head - r, middle + r); pen.lineTo(head + r, middle - r);
    pen.stroke();
  }
  pen.lineWidth = 1;
  pen.setLineDash([]);
}

function outline(number, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 2.5;
  for (const place of usesOf(number)) {
    const y = TOP - scroll + tops[bookings.fibre[place]] + bookings.channel[place] * lane;
    const left = Math.max(x(bookings.start[place]), LEFT);
    const right = Math.min(x(bookings.end[place]), width);
    if (right >= LEFT && left <= width) {
      pen.strokeRect(left - 1, y - 1, Math.max(right - left, 2) + 2, lane + 1);
    }
  }
  pen.lineWidth = 1;
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  width = canvas.clientWidth; height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const ink = Object.fromEntries(["ink", "soft", "line", "lost", "paper"].map(
    (name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  layout();
  grid(ink);
  pen.save();
  pen.beginPath(); pen.rect(0, TOP, width, height - TOP); pen.clip();
  const into = colours.map(() => []), inSight = [];
  let seen = 0;
  fibres.forEach((fibre, i) => {
    const y = TOP - scroll + tops[i];
    if (y > height || y + fibre.rows * lane < TOP) return;
    inSight.push([i, y]);
    const there = boxes(i, y, into);
    if (!fibre.paths) seen += there;
  });
  into.forEach((list, colour) => {
    pen.fillStyle = colours[colour];
    for (let i = 0; i < list.length; i += 3) pen.fillRect(list[i], list[i + 1], list[i + 2], lane - 1);
  });
  for (const [i, y] of inSight) {
    frames(cutOn[i], cuts, y, ink);
    frames(lostOn[i], losses, y, ink);
    const { name, channels, rows } = fibres[i];
    pen.strokeStyle = ink.line;
    pen.strokeRect(LEFT - 0.5, y - 1, width, channels * lane + 1);
    pen.textAlign = "right";
    pen.fillStyle = ink.ink;
    pen.fillText(shortened(name, 22), LEFT - 8, y + (channels * lane) / 2 + 4, LEFT - 12);
    if (rows > channels && lane >= 9) {
      pen.fillStyle = ink.soft;
      pen.fillText("no channel", LEFT - 8, y + (channels + 0.5) * lane + 4);
    }
  }
  if (pinned !== null) {
    outline(pinned, ink.ink);
    for (const [table, places] of [[losses, lossesOf(pinned)], [cuts, cutsOf(pinned)]]) {
      for (const place of places) {
        if (table.holder[place] !== null) outline(table.holder[place], ink.lost);
      }
    }
  }
  pen.restore();
  const [first, last] = [inSight[0], inSight.at(-1)].map((one) => one[0] + 1);
  const which = inSight.length < fibres.length
    ? `rows ${first} to ${last} of ${fibres.length}, scroll for the others; ` : "";
  byId("state").textContent = `${which}${told(from)} to ${told(to)}: ${seen.toLocaleString("en")} of `
    + `${uses.toLocaleString("en")} uses of a channel`;
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

// Finds the burst under the pointer: preferably a loss, then a cut-off piece, then a transmission.
function under(px, py) {
  const fibre = tops.findIndex((top, i) => {
    const y = py - TOP + scroll - top;
    return py > TOP && y >= 0 && y < fibres[i].rows * lane;
  });
  if (fibre < 0 || px < LEFT) return null;
  const channel = Math.floor((py - TOP + scroll - tops[fibre]) / lane);
  const time = timeAt(px), near = ((to - from) / (width - LEFT)) * 4;
  const nearest = (shelf, table) => {
    let best = null, least = near;
    for (let i = firstFrom(shelf.starts, time - shelf.longest - near); i < shelf.places.length
      && shelf.starts[i] <= time + near; i++) {
      const place = shelf.places[i];
      if (table.channel[place] !== channel) continue;
      const away = Math.max(shelf.starts[i] - time, time - shelf.ends[i], 0);
      if (away < least) { best = place; least = away; }
    }
    return best;
  };
  for (const [shelves, table] of [[lostOn, losses], [cutOn, cuts], [onFibre, bookings]]) {
    const place = nearest(shelves[fibre], table);
    if (place !== null) return table.burst[place];
  }
  return null;
}

function short(number) {
  const i = row.get(number);
  if (i === undefined) return `burst ${number}`;
  return `burst ${number}, ${nodes[bursts.ingress[i]]} → ${nodes[bursts.egress[i]]}`;
}

function tell(number) {
  const i = row.get(number);
  const lines = [`${short(number)} (number ${bursts.of_node[i]} of ${nodes[bursts.ingress[i]]})`,
    `${bursts.packets[i]} packets, ${bursts.bytes[i].toLocaleString("en")} B, path ${bursts.label[i]}`,
    `first packet at ${told(bursts.opened[i])}, closed at ${told(bursts.made[i])},`
    + ` leaves at ${told(bursts.departure[i])}`];
  for (const place of usesOf(number)) {
    if (fibres[bookings.fibre[place]].paths) continue;
    lines.push(`  ${fibres[bookings.fibre[place]].name}, channel ${bookings.channel[place]}: `
      + `${told(bookings.start[place])} to ${told(bookings.end[place])}`
      + (bookings.bytes[place] < bursts.bytes[i] ? `, ${bookings.bytes[place]} B are left` : ""));
  }
  for (const place of cutsOf(number)) {
    lines.push(`CUT OFF at ${told(cuts.start[place])} on ${fibres[cuts.fibre[place]].name}: `
      + `${cuts.packets[place]} packet${cuts.packets[place] > 1 ? "s" : ""}, ${cuts.bytes[place].toLocaleString("en")} B`);
    if (cuts.holder[place] !== null) lines.push(`  ${short(cuts.holder[place])} had the channel`);
  }
  if (bursts.reason[i] !== null) {
    lines.push(`LOST at ${told(bursts.lost[i])} ${bursts.lost_where[i]}: ${bursts.reason[i]}`);
    if (bursts.holder[i] !== null) lines.push(`  ${short(bursts.holder[i])} had what it wanted`);
  } else if (bursts.arrival[i] !== null) {
    lines.push(`arrived at ${told(bursts.arrival[i])}`);
  } else lines.push("under way when the run ended");
  return lines.join("\n");
}

function show(number, px, py) {
  story.hidden = number === null;
  if (number === null) return;
  story.textContent = tell(number);
  const wide = story.offsetWidth, high = story.offsetHeight;
  story.style.left = `${Math.max(0, Math.min(px + 14, width - wide - 4))}px`;
  story.style.top = `${py + 18 + high > height ? Math.max(0, py - high - 10) : py + 18}px`;
}

function zoom(factor, at = (from + to) / 2) {
  const span = Math.min(Math.max((to - from) * factor, 1000), whole[1] - whole[0]);
  const share = (at - from) / (to - from);
  move(at - share * span, span);
}
function move(begin, span = to - from) {
  from = Math.min(Math.max(begin, whole[0]), whole[1] - span);
  to = from + span;
  redraw();
}
function find(number) {
  for (const [table, places] of [[losses, lossesOf(number)], [cuts, cutsOf(number)],
    [bookings, usesOf(number)]]) {
    if (places.length > 0) return go(table, places[0]);
  }
  pinned = number;
  redraw();
}
function go(table, place) {
  const fibre = table.fibre[place], number = table.burst[place];
  const longest = Math.max(onFibre[fibre].longest, lostOn[fibre].longest);
  pinned = number;
  const span = Math.min(12 * longest, whole[1] - whole[0]);
  layout();
  scroll = tops[fibre] - (height - TOP) / 3;
  move(table.start[place] - span / 2, span);
  draw();
  show(number, x(table.start[place]), TOP - scroll + tops[fibre] + table.channel[place] * lane);
}

let held = null;
canvas.addEventListener("pointerdown", (event) => {
  held = { x: event.offsetX, y: event.offsetY, from, scroll, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (held === null) return show(under(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
  const [dx, dy] = [event.offsetX - held.x, event.offsetY - held.y];
  held.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
  if (!held.moved) return;
  story.hidden = true;
  scroll = held.scroll - dy;
  move(held.from - (dx / (width - LEFT)) * (to - from));
});
canvas.addEventListener("pointerup", (event) => {
  if (held !== null && !held.moved) {
    pinned = under(event.offsetX, event.offsetY);
    redraw();
  }
  held = null;
});
canvas.addEventListener("pointerleave", () => { if (pinned === null) story.hidden = true; });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey) { scroll += event.deltaY || event.deltaX; return redraw(); }
  zoom(Math.exp(event.deltaY * 0.0015), timeAt(Math.max(event.offsetX, LEFT)));
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const step = (to - from) / 5;
  const deeds = {
    ArrowLeft: () => move(from - step), ArrowRight: () => move(from + step),
    ArrowUp: () => { scroll -= 60; redraw(); }, ArrowDown: () => { scroll += 60; redraw(); },
    "+": () => zoom(0.5), "-": () => zoom(2), 0: () => move(whole[0], whole[1] - whole[0]),
    Escape: () => { pinned = null; story.hidden = true; redraw(); },
  };
  if (deeds[event.key]) { event.preventDefault(); deeds[event.key](); }
});
byId("in").addEventListener("click", () => zoom(0.4));
byId("out").addEventListener("click", () => zoom(2.5));
byId("all").addEventListener("click", () => move(whole[0], whole[1] - whole[0]));
byId("taller").addEventListener("click", () => { lane = Math.min(lane * 1.4, 40); redraw(); });
byId("flatter").addEventListener("click", () => { lane = Math.max(lane / 1.4, 2); redraw(); });
byId("by").addEventListener("change", () => { recolour(); draw(); });
byId("find").addEventListener("change", (event) => {
  const number = Number(event.target.value);
  event.target.setCustomValidity(row.has(number) ? "" : "no burst of this number is traced here");
  event.target.reportValidity();
  if (row.has(number)) find(number);
});
const all = [losses, cuts].flatMap((table) => table.burst.map((_, place) => [table, place]));
all.sort(([a, i], [b, j]) => a.start[i] - b.start[j]);
let next = 0;
byId("next").disabled = all.length === 0;
byId("next").addEventListener("click", () => { go(...all[next++ % all.length]); });
pane.addEventListener("scroll", () => {
  if (Math.abs(pane.scrollTop - scroll) >= 1) { scroll = pane.scrollTop; redraw(); }
});
window.addEventListener("resize", redraw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
recolour();
fit();
draw();
