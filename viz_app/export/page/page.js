"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const LARGEST = 65535;
const blocks = data.blocks.map(unpack);
const state = {
  kind: Math.max(0, data.kinds.findIndex((each) => each.kind === data.shown[0])),
  layer: data.shown[1],
  head: data.shown[2],
  mode: data.mode,
  scale: data.isShare ? "one" : "kind",
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  at: null,
  pinned: null,
};

function unpack(text) {
  const bytes = atob(text);
  const numbers = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
  return numbers;
}

/** The numbers of one head, row after row, and what turns them into weights. */
function headMap(modes, mode, layer, head) {
  const found = modes[mode], [, heads, rows, columns] = found.shape, size = rows * columns;
  const first = (layer * heads + head) * size;
  return { numbers: blocks[found.block].subarray(first, first + size), unit: found.top / LARGEST, rows, columns };
}

function largest(numbers) {
  let top = 0;
  for (const number of numbers) if (number > top) top = number;
  return top;
}

function topOf(found, layer, map) {
  if (state.scale === "one") return 1;
  if (state.scale === "kind") return found.top;
  if (state.scale === "head") return largest(map.numbers) * map.unit || 1;
  const [, heads, rows, columns] = found.shape, size = heads * rows * columns;
  return largest(blocks[found.block].subarray(layer * size, (layer + 1) * size)) * map.unit || 1;
}

function colors() { return data.colors[state.dark ? "dark" : "light"]; }
function colorOf(value, top) { return "#" + colors()[Math.min(255, Math.round(255 * value / top))]; }

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.value = String(chosen);
}

function current() {
  const modes = data.kinds[state.kind].modes, found = modes[state.mode];
  return { found, map: headMap(modes, state.mode, state.layer, state.head) };
}

let box = null;
function draw() {
  const { found, map } = current(), canvas = $("map"), pen = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  pen.font = "13px system-ui, sans-serif";
  const wide = Math.max(20, ...found.rows.map((text) => pen.measureText(text).width));
  const high = Math.max(20, ...found.columns.map((text) => pen.measureText(text).width)) * 0.8 + 14;
  const room = Math.max(240, canvas.parentElement.clientWidth - wide - 50);
  const tall = window.innerHeight - high - 300;
  const cell = Math.max(16, Math.min(34, Math.floor(room / map.columns), Math.floor(tall / map.rows)));
  const aside = Math.ceil(0.8 * high);
  box = { left: wide + 12, top: high, cell };
  const width = box.left + cell * map.columns + aside, height = box.top + cell * map.rows + 2;
  canvas.width = width * ratio; canvas.height = height * ratio;
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue("--text"), mark = style.getPropertyValue("--mark");
  const top = topOf(found, state.layer, map), at = state.pinned || state.at;
  for (let row = 0; row < map.rows; row++) for (let column = 0; column < map.columns; column++) {
    pen.fillStyle = colorOf(map.numbers[row * map.columns + column] * map.unit, top);
    pen.fillRect(box.left + column * cell, box.top + row * cell, cell - 1, cell - 1);
  }
  pen.font = "13px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.textAlign = "right";
  found.rows.forEach((label, row) => {
    pen.fillStyle = at && at[0] === row ? mark : text;
    pen.fillText(label, box.left - 6, box.top + (row + 0.5) * cell);
  });
  pen.textAlign = "left";
  found.columns.forEach((label, column) => {
    pen.save(); pen.translate(box.left + (column + 0.5) * cell, box.top - 8); pen.rotate(-0.93);
    pen.fillStyle = at && at[1] === column ? mark : text; pen.fillText(label, 0, 0); pen.restore();
  });
  if (at) {
    pen.strokeStyle = mark; pen.lineWidth = 2;
    pen.strokeRect(box.left + at[1] * cell - 1, box.top + at[0] * cell - 1, cell + 1, cell + 1);
  }
  read(found, map, at);
  const bar = $("bar").getContext("2d");
  for (let i = 0; i < 256; i++) { bar.fillStyle = "#" + colors()[i]; bar.fillRect(i, 0, 1, 10); }
  $("top").textContent = top.toPrecision(3);
}

function read(found, map, at) {
  const title = `${data.kinds[state.kind].title} · layer ${state.layer + 1} · head ${state.head + 1}`;
  $("title").textContent = title;
  $("map").setAttribute("aria-label", `${title}: rows are ${found.rowsAre}s, columns ${found.columnsAre}s`);
  const facts = Object.entries(data.facts).concat([["map", title], ["rows", found.rowsAre]]);
  $("caption").textContent = facts.map(([name, value]) => `${name}: ${value}`).join(" · ");
  const hidden = found.hidden[state.layer][state.head];
  if (at) {
    const value = (map.numbers[at[0] * map.columns + at[1]] * map.unit).toFixed(4);
    const pair = `${found.rowsAre} “${found.rows[at[0]]}” → ${found.columnsAre} “${found.columns[at[1]]}”`;
    $("reading").textContent = `${pair}: ${value}${state.pinned ? " (pinned: click again to let go)" : ""}`;
    return;
  }
  const share = `${(100 * hidden).toFixed(1)} % of the attention lies on hidden tokens; rows are scaled up for it.`;
  const names = `Rows: ${found.rowsAre}. Columns: ${found.columnsAre}.`;
  $("reading").textContent = `${names} Point at a cell to read it, click to pin it.${hidden > 0 ? " " + share : ""}`;
}

function drawGrid() {
  const modes = data.kinds[state.kind].modes, found = modes[state.mode], grid = $("grid");
  const [layers, heads, rows, columns] = found.shape;
  grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
  const table = colors().map((hex) => [0, 2, 4].map((from) => parseInt(hex.slice(from, from + 2), 16)));
  const children = [];
  for (let layer = 0; layer < layers; layer++) {
    const name = document.createElement("span"); name.textContent = `L${layer + 1}`; children.push(name);
    for (let head = 0; head < heads; head++) {
      const map = headMap(modes, state.mode, layer, head), top = topOf(found, layer, map);
      const canvas = document.createElement("canvas");
      canvas.width = columns; canvas.height = rows; canvas.tabIndex = 0;
      canvas.title = `layer ${layer + 1} · head ${head + 1}`;
      if (layer === state.layer && head === state.head) canvas.className = "chosen";
      const image = new ImageData(Math.max(1, columns), Math.max(1, rows));
      map.numbers.forEach((number, i) => {
        const color = table[Math.min(255, Math.round(255 * number * map.unit / top))];
        image.data.set([color[0], color[1], color[2], 255], 4 * i);
      });
      canvas.getContext("2d").putImageData(image, 0, 0);
      const choose = () => { state.layer = layer; state.head = head; refresh(); };
      canvas.addEventListener("click", choose);
      canvas.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
      });
      children.push(canvas);
    }
  }
  grid.replaceChildren(...children);
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
  const column = Math.floor((event.clientX - area.left - box.left) / box.cell);
  const row = Math.floor((event.clientY - area.top - box.top) / box.cell);
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
