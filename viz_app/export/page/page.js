"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const LARGEST = 65535, ZERO = 32767, MISSING = 65535;
/** Pixels of a small map, and around it for its marks. */
const SMALL = 100, AROUND = 12;
const blocks = data.blocks.map(unpack);
const state = {
  kind: Math.max(0, data.kinds.findIndex((each) => each.kind === data.shown[0])),
  layer: data.shown[1],
  head: data.shown[2],
  mode: data.mode,
  scale: data.isShare ? "one" : "kind",
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  at: null,
  pinned: data.pinned,
};

function unpack(text) {
  const bytes = atob(text);
  const numbers = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
  return numbers;
}

/** The value of a stored number; NaN for a token without a partner in the original. */
function valueOf(found, number) {
  if (!found.signed) return number * found.top / LARGEST;
  return number === MISSING ? NaN : (number - ZERO) / ZERO * found.top;
}

/** One head: its numbers, row after row, and the value of each. */
function headMap(modes, mode, layer, head) {
  const found = modes[mode], [, heads, rows, columns] = found.shape, size = rows * columns;
  const first = (layer * heads + head) * size, numbers = blocks[found.block].subarray(first, first + size);
  return { numbers, rows, columns, signed: found.signed, value: (index) => valueOf(found, numbers[index]) };
}

/** The value farthest from 0. */
function largest(found, numbers) {
  let top = 0;
  for (const number of numbers) {
    const size = Math.abs(valueOf(found, number));
    if (size > top) top = size;
  }
  return top || 1;
}

function topOf(found, layer, map) {
  if (state.scale === "one") return 1;
  if (state.scale === "kind") return found.top;
  if (state.scale === "head") return largest(found, map.numbers);
  const [, heads, rows, columns] = found.shape, size = heads * rows * columns;
  return largest(found, blocks[found.block].subarray(layer * size, (layer + 1) * size));
}

function colors(signed) { return (signed ? data.signedColors : data.colors)[state.dark ? "dark" : "light"]; }
function missingColor() { return data.missing[state.dark ? "dark" : "light"]; }
/** The colour of a value, as six hexadecimal digits. */
function colorOf(value, top, signed) {
  if (Number.isNaN(value)) return missingColor();
  const table = colors(signed), last = table.length - 1;
  const index = signed ? Math.round(last / 2 * (1 + value / top)) : Math.round(last * value / top);
  return table[Math.max(0, Math.min(last, index))];
}

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.value = String(chosen);
}

function current() {
  const modes = data.kinds[state.kind].modes, found = modes[state.mode];
  return { found, map: headMap(modes, state.mode, state.layer, state.head) };
}

/** The marks on the map of one head. */
function marksOf(found, layer, head, pinned) {
  return Object.assign({ changed: found.changed, pinned }, found.marks[layer][head]);
}

/** The marks as shapes: as `mark_shapes` of the window's `heatmap/drawing.py`, which describes them. */
function markShapes(marks, cellWidth, cellHeight, width, height, scale) {
  const along = ({ index, isRow }, distance, size) => isRow
    ? [distance > 0 ? width + distance : distance, index * cellHeight + 1, size, Math.max(cellHeight - 2, 1)]
    : [index * cellWidth + 1, distance > 0 ? height + distance : distance, Math.max(cellWidth - 2, 1), size];
  const middle = ([x, y, wide, high]) => [x + (wide - 4 * scale) / 2, y + (high - 4 * scale) / 2, 4 * scale, 4 * scale];
  const shapes = [
    ...marks.changed.map((band) => ["fill", along(band, -6 * scale, 3 * scale), "warm", 0]),
    ...marks.set.map((band) => ["fill", along(band, 2 * scale, 3 * scale), "warm", 0]),
    ...marks.forced.map((band) => ["dot", middle(along(band, 8 * scale, 4 * scale)), "warm", 0]),
  ];
  if (marks.pinned) {
    const [row, column] = marks.pinned;
    shapes.push(["frame", [column * cellWidth, row * cellHeight, cellWidth, cellHeight], "accent", 2]);
  }
  if (marks.isOff) shapes.push(["line", [0, 0, width, height], "warm", 2]);
  if (marks.pointed) shapes.push(...pointerShapes(marks.pointed, cellWidth, cellHeight, width, height));
  return shapes;
}

/** A pointer at a cell or row, as `pointer_shapes` of the window. */
function pointerShapes([style, row, column], cellWidth, cellHeight, width, height) {
  const [left, wide] = column === null ? [0, width] : [column * cellWidth, cellWidth];
  const top = row * cellHeight, right = left + wide, bottom = top + cellHeight;
  const larger = cellHeight < height ? Math.min(Math.max(cellHeight / 24, 1), 2.5) : 1, pen = 3.5 * Math.sqrt(larger);
  const arrow = 34 * larger, tipSize = 11 * larger;
  if (style === "dim") {
    const boxes = [[0, 0, width, top], [0, bottom, width, height - bottom], [0, top, left, cellHeight], [right, top, width - right, cellHeight]];
    return boxes.filter((box) => box[2] > 0 && box[3] > 0).map((box) => ["veil", box, "pointer", 0]);
  }
  if (style === "ring") {
    const [x, y] = [wide, cellHeight].map((side) => Math.min(Math.max(5, 0.12 * side), 9));
    return [["ring", [left - x, top - y, wide + 2 * x, cellHeight + 2 * y], "pointer", pen]];
  }
  const x = left + wide / 2 < width / 2 ? 1 : -1, y = top + cellHeight / 2 < height / 2 ? 1 : -1;
  let tip = [column === null ? left + wide / 2 : x > 0 ? right : left, y > 0 ? bottom : top];
  let lines = [[arrow * x, arrow * y], [tipSize * x, 0], [0, tipSize * y]];
  if (height < 2 * cellHeight + arrow) {
    tip = [tip[0] - 5 * x, top + cellHeight / 2];
    lines = [[17 * x, 0], [5.5 * x, 5.5], [5.5 * x, -5.5]];
  }
  return lines.map((line) => ["line", [...tip, ...line], "pointer", pen]);
}

function drawShapes(pen, shapes, left, top) {
  const style = getComputedStyle(document.documentElement);
  for (const [kind, [x, y, width, height], role, thickness] of shapes) {
    const color = style.getPropertyValue({ warm: "--warm", pointer: "--pointer" }[role] ?? "--mark");
    pen.fillStyle = color; pen.strokeStyle = color; pen.lineWidth = thickness;
    pen.beginPath();
    if (kind === "fill") pen.fillRect(left + x, top + y, width, height);
    else if (kind === "frame") pen.strokeRect(left + x, top + y, width, height);
    else if (kind === "ring") {
      pen.ellipse(left + x + width / 2, top + y + height / 2, width / 2, height / 2, 0, 0, 2 * Math.PI); pen.stroke();
    } else if (kind === "veil") {
      pen.fillStyle = style.getPropertyValue("--ground");
      pen.globalAlpha = 0.72; pen.fillRect(left + x, top + y, width, height); pen.globalAlpha = 1;
    }
    else if (kind === "line") { pen.moveTo(left + x, top + y); pen.lineTo(left + x + width, top + y + height); pen.stroke(); }
    else { pen.arc(left + x + width / 2, top + y + height / 2, width / 2, 0, 2 * Math.PI); pen.fill(); }
  }
}

let box = null;
function draw() {
  const { found, map } = current(), canvas = $("map"), pen = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  pen.font = "13px system-ui, sans-serif";
  const wide = Math.max(20, ...found.rows.map((text) => pen.measureText(text).width));
  const high = Math.max(20, ...found.columns.map((text) => pen.measureText(text).width)) * 0.8 + 14;
  const aside = Math.ceil(0.8 * high);
  const room = Math.max(240, canvas.parentElement.clientWidth - wide - 12 - aside);
  const tall = window.innerHeight - high - 220;
  const cellHeight = Math.max(16, Math.min(72, Math.floor(room / map.columns), Math.floor(tall / map.rows)));
  const cellWidth = Math.max(16, Math.min(4 * cellHeight, Math.floor(room / map.columns)));
  box = { left: wide + 12, top: high, cellWidth, cellHeight };
  const width = box.left + cellWidth * map.columns + aside, height = box.top + cellHeight * map.rows + 14;
  canvas.width = width * ratio; canvas.height = height * ratio;
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue("--text"), mark = style.getPropertyValue("--mark"), warm = style.getPropertyValue("--warm");
  const top = topOf(found, state.layer, map), at = state.pinned || state.at;
  for (let row = 0; row < map.rows; row++) for (let column = 0; column < map.columns; column++) {
    const value = map.value(row * map.columns + column), x = box.left + column * cellWidth;
    const y = box.top + row * cellHeight;
    pen.fillStyle = "#" + colorOf(value, top, map.signed);
    pen.fillRect(x, y, cellWidth - 1, cellHeight - 1);
    if (Number.isNaN(value)) hatch(pen, x, y, cellWidth - 1, cellHeight - 1);
  }
  pen.font = "13px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.textAlign = "right";
  const isNew = (index, isRow) => found.changed.some((band) => band.index === index && band.isRow === isRow);
  found.rows.forEach((label, row) => {
    pen.fillStyle = at && at[0] === row ? mark : isNew(row, true) ? warm : text;
    pen.fillText(label, box.left - 6, box.top + (row + 0.5) * cellHeight);
  });
  pen.textAlign = "left";
  found.columns.forEach((label, column) => {
    pen.save(); pen.translate(box.left + (column + 0.5) * cellWidth, box.top - 8); pen.rotate(-0.93);
    pen.fillStyle = at && at[1] === column ? mark : isNew(column, false) ? warm : text; pen.fillText(label, 0, 0); pen.restore();
  });
  const marks = marksOf(found, state.layer, state.head, at);
  const isShown = [data.kinds[state.kind].kind, state.layer, state.head].join() === data.shown.join();
  if (data.pointed && isShown && String(state.pinned) === String(data.pinned)) marks.pointed = data.pointed;
  const shapes = markShapes(marks, cellWidth, cellHeight, cellWidth * map.columns, cellHeight * map.rows, 1);
  drawShapes(pen, shapes, box.left, box.top);
  read(found, map, at);
  const bar = $("bar").getContext("2d");
  for (let i = 0; i < 256; i++) {
    bar.fillStyle = "#" + colorOf(map.signed ? i / 127.5 - 1 : i / 255, 1, map.signed);
    bar.fillRect(i, 0, 1, 10);
  }
  $("bottom").textContent = map.signed ? "−" + top.toPrecision(3) : "0";
  $("top").textContent = (map.signed ? "+" : "") + top.toPrecision(3);
}

function hatch(pen, x, y, width, height) {
  pen.save(); pen.beginPath(); pen.rect(x, y, width, height); pen.clip();
  pen.beginPath(); pen.strokeStyle = "#888"; pen.lineWidth = 1;
  for (let from = 6; from < width + height; from += 6) {
    pen.moveTo(x + from, y); pen.lineTo(x + from - height, y + height);
  }
  pen.stroke(); pen.restore();
}

function read(found, map, at) {
  const title = `${data.kinds[state.kind].title} · layer ${state.layer + 1} · head ${state.head + 1}`;
  $("title").textContent = title;
  $("map").setAttribute("aria-label", `${title}: rows are ${found.rowsAre}s, columns ${found.columnsAre}s`);
  const facts = Object.entries(data.facts).concat([["map", title], ["rows", found.rowsAre]]);
  $("caption").textContent = facts.map(([name, value]) => `${name}: ${value}`).join(" · ");
  const hidden = found.hidden[state.layer][state.head];
  if (at) {
    const number = map.value(at[0] * map.columns + at[1]);
    const value = Number.isNaN(number) ? "not in the original" : (map.signed && number > 0 ? "+" : "") + number.toFixed(4);
    const pair = `${found.rowsAre} “${found.rows[at[0]]}” → ${found.columnsAre} “${found.columns[at[1]]}”`;
    $("reading").textContent = `${pair}: ${value}${state.pinned ? " (pinned: click again to let go)" : ""}`;
    return;
  }
  const share = `${(100 * hidden).toFixed(1)}% of the attention lies on hidden tokens; rows are scaled up for it.`;
  const names = `Rows: ${found.rowsAre}. Columns: ${found.columnsAre}.`;
  $("reading").textContent = `${names} Point at a cell to read it, click to pin it.${hidden > 0 ? " " + share : ""}`;
}

/** All heads of all kinds. */
function drawGrid() {
  $("grid").replaceChildren(...data.kinds.map((each, kind) => kindGrid(each, kind)));
}

function kindGrid(each, kind) {
  const found = each.modes[state.mode], [layers, heads, rows, columns] = found.shape;
  const section = document.createElement("div"), name = document.createElement("h3"), grid = document.createElement("div");
  name.textContent = each.title;
  grid.className = "heads";
  grid.style.setProperty("--heads", heads);
  grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
  for (let layer = 0; layer < layers; layer++) {
    const label = document.createElement("span"); label.textContent = `layer ${layer + 1}`; grid.append(label);
    for (let head = 0; head < heads; head++) grid.append(thumbnail(each, kind, found, layer, head, rows, columns));
  }
  section.append(name, grid);
  return section;
}

function thumbnail(each, kind, found, layer, head, rows, columns) {
  const map = headMap(each.modes, state.mode, layer, head), top = topOf(found, layer, map);
  const canvas = document.createElement("canvas");
  const across = SMALL / Math.max(1, columns), down = SMALL / Math.max(1, rows);
  canvas.width = canvas.height = SMALL + 2 * AROUND; canvas.tabIndex = 0;
  canvas.title = `${each.title} · layer ${layer + 1} · head ${head + 1}`;
  if (kind === state.kind && layer === state.layer && head === state.head) canvas.classList.add("chosen");
  const image = new ImageData(Math.max(1, columns), Math.max(1, rows));
  map.numbers.forEach((_, i) => {
    const color = parseInt(colorOf(map.value(i), top, map.signed), 16);
    image.data.set([color >> 16, (color >> 8) & 255, color & 255, 255], 4 * i);
  });
  const cells = document.createElement("canvas"), pen = canvas.getContext("2d"), marks = marksOf(found, layer, head, null);
  cells.width = image.width; cells.height = image.height;
  cells.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(cells, AROUND, AROUND, SMALL, SMALL);
  const style = getComputedStyle(document.documentElement);
  if (marks.isOff) {
    pen.globalAlpha = 0.82; pen.fillStyle = style.getPropertyValue("--ground");
    pen.fillRect(AROUND, AROUND, SMALL, SMALL); pen.globalAlpha = 1;
  }
  pen.strokeStyle = style.getPropertyValue("--line"); pen.strokeRect(AROUND, AROUND, SMALL, SMALL);
  drawShapes(pen, markShapes(marks, across, down, SMALL, SMALL, 1), AROUND, AROUND);
  const choose = () => {
    if (kind !== state.kind) state.pinned = state.at = null;
    state.kind = kind; state.layer = layer; state.head = head; refresh();
  };
  canvas.addEventListener("click", choose);
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
  });
  return canvas;
}

function refresh() {
  const [layers, heads] = data.kinds[state.kind].modes[state.mode].shape;
  const count = (n) => Array.from({ length: n }, (_, i) => [i, i + 1]);
  state.layer = Math.min(state.layer, layers - 1); state.head = Math.min(state.head, heads - 1);
  fill($("kind"), data.kinds.map((each, i) => [i, each.title]), state.kind);
  fill($("layer"), count(layers), state.layer); fill($("head"), count(heads), state.head);
  const scales = ["kind", "layer", "head"].map((name) => [name, `the largest of the ${name}`]);
  if (data.isShare) scales.unshift(["one", "1, the same for all"]);
  fill($("scale"), scales, state.scale);
  $("mode").value = state.mode; $("mode").disabled = data.kinds[state.kind].kind === "encoder";
  document.documentElement.dataset.theme = state.dark ? "dark" : "light";
  drawGrid(); draw();
}

function change(name, value) {
  state[name] = value;
  state.pinned = state.at = null;
  refresh();
}

function place(event) {
  const { map } = current(), area = $("map").getBoundingClientRect();
  const column = Math.floor((event.clientX - area.left - box.left) / box.cellWidth);
  const row = Math.floor((event.clientY - area.top - box.top) / box.cellHeight);
  return row >= 0 && row < map.rows && column >= 0 && column < map.columns ? [row, column] : null;
}

for (const name of ["kind", "layer", "head"]) {
  $(name).addEventListener("change", () => change(name, Number($(name).value)));
}
$("mode").addEventListener("change", () => change("mode", $("mode").value));
$("scale").addEventListener("change", () => { state.scale = $("scale").value; refresh(); });
$("theme").addEventListener("click", () => { state.dark = !state.dark; refresh(); });
$("map").addEventListener("mousemove", (event) => { state.at = place(event); draw(); });
$("map").addEventListener("mouseleave", () => { state.at = null; draw(); });
$("map").addEventListener("click", (event) => { state.pinned = state.pinned ? null : place(event); draw(); });
$("map").addEventListener("keydown", (event) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (event.key === "Escape") { state.pinned = null; draw(); }
  if (!step) return;
  event.preventDefault();
  const { map } = current(), [row, column] = state.pinned || [-step[0], -step[1]];
  const inside = (place, count) => Math.max(0, Math.min(count - 1, place));
  state.pinned = [inside(row + step[0], map.rows), inside(column + step[1], map.columns)];
  draw();
});
window.addEventListener("resize", draw);
$("source").textContent = data.facts.sentence; $("target").textContent = data.facts.translation ?? data.facts["given translation"];
$("meaning").textContent = `${data.meaning} ${data.caveat}`;
refresh();
