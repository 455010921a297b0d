/**
 * Maps on canvases. They are described as in `heatmap/drawing.py`, and their marks have the same shapes.
 *
 * Colours of marks and words are variables of the page's style: --ground, --text, --soft, --line, --mark, --warm,
 * --pointer. Those of cells come from a `ColorTable`.
 */

/**
 * @typedef {Object} Band A row or column.
 * @property {number} index
 * @property {boolean} isRow
 *
 * @typedef {Object} Marks The marks on one map, as `Marks` of `state/map_view.py`; absent ones are as in `NO_MARKS`.
 * @property {number} [factor]
 * @property {boolean} [isDimmed]
 * @property {[number, number] | null} [pinned] row and column
 * @property {[string, number | null, number | null] | null} [pointed] style, row and column
 * @property {Band[]} [lit]
 * @property {Band[]} [changed]
 * @property {Band[]} [set]
 * @property {Band[]} [forced]
 *
 * @typedef {Object} Drawing One map as drawn.
 * @property {Float32Array | number[]} values row after row; NaN: a cell without a value, which is hatched
 * @property {string[]} rowLabels
 * @property {string[]} columnLabels
 * @property {string} rowsAre the meaning of a row
 * @property {string} columnsAre
 * @property {number} top the value of the last colour; of a signed map, on both sides of 0
 * @property {boolean} isSigned whether values lie on both sides of 0
 * @property {Marks} marks
 *
 * @typedef {Object} Room In pixels.
 * @property {number} width
 * @property {number} height
 * @property {number} [ratio] pixels of the canvas for each of these
 * @property {number} [scrolled] pixels hidden at the left: the labels of rows are drawn where they stay in sight
 * @property {boolean} [hasNumbers] whether cells hold their values, if they are large enough
 *
 * @typedef {Object} Layout The place of the cells on a canvas, in pixels.
 * @property {number} left
 * @property {number} top
 * @property {number} cellWidth
 * @property {number} cellHeight
 *
 * @typedef {[string, number[], string, number]} Shape kind, box (left, top, width, height), role of its colour, pen
 */

import { elided } from "./sentence.js";

const FONT = "13px system-ui, sans-serif";
const SMALL_FONT = "11px system-ui, sans-serif";
const FACTOR_FONT = `bold ${FONT}`;
const SMALL_FACTOR_FONT = "bold 34px system-ui, sans-serif";
/** Slanted labels of columns need more room than those of rows. */
const MIN_WIDTH = 16;
const MIN_HEIGHT = 14;
/** Characters of a label; table and reading have the whole text. */
const LONGEST_LABEL = 24;
const MAX_CELL = 72;
const GAP = 8;
/** A map in less room has no column of its own for the meaning of rows. */
const NARROW = 500;
const MARKS_ROOM = 14;
const SLANT = 0.93;
/** Pixels of a small map, and around it for its marks. */
const SMALL = 100;
const AROUND = 12;
const BELOW_MAP = 84; // for the scale and the reading
const DIMMED_OPACITY = 0.72;
const PALE = 0.82;
const VARIABLES = { warm: "--warm", pointer: "--pointer", accent: "--mark" };
export const NO_MARKS = {
  factor: 1,
  isDimmed: false,
  pinned: null,
  pointed: null,
  lit: [],
  changed: [],
  set: [],
  forced: [],
};

/** The colours of cells in the present theme of the page: those of `ColorTable` of `heatmap/drawing.py`. */
export class ColorTable {
  /** @param {Object<string, {weights: string[], signed: string[], missing: string}>} themes six hexadecimal digits each */
  constructor(themes) {
    this.themes = themes;
  }

  /** The colour of a value, as six hexadecimal digits. Values beyond `top` are clipped. */
  colorOf(value, { top, isSigned }) {
    const { weights, signed, missing } =
      this.themes[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
    if (Number.isNaN(value)) return missing;
    const colors = isSigned ? signed : weights;
    const last = colors.length - 1;
    const index = isSigned ? Math.round((last / 2) * (1 + value / top)) : Math.round((last * value) / top);
    return colors[Math.max(0, Math.min(last, index))];
  }
}

/** A value in the few characters that a cell has room for, as `cell_text`. */
export function shortNumber(value, isSigned) {
  return (
    (isSigned && value > 0 ? "+" : "") +
    value
      .toFixed(2)
      .replace("-", "−")
      .replace(/^(−?)0\./, "$1.")
  );
}

/** The meaning of rows and columns in words. @param {Drawing} drawing */
export function axesInWords({ rowsAre, columnsAre }) {
  return `each row is a ${rowsAre}, each column a ${columnsAre}`;
}

/** A cell in words. @param {Drawing} drawing */
export function reading(drawing, [row, column]) {
  const number = drawing.values[row * drawing.columnLabels.length + column];
  const sign = drawing.isSigned && number > 0 ? "+" : "";
  const value = Number.isNaN(number) ? "not in the original" : sign + number.toFixed(4);
  const query = `${drawing.rowsAre} “${drawing.rowLabels[row]}”`;
  return `${query} → ${drawing.columnsAre} “${drawing.columnLabels[column]}”: ${value}`;
}

/** The meaning of the marks that are on a map, as `marks_note`. @param {Marks} found @param {Object<string, string>} meanings */
export function marksNote(found, meanings) {
  const { pinned, changed, set, forced, factor } = Object.assign({}, NO_MARKS, found);
  const there = { pinned, changed: changed.length, set: set.length, forced: forced.length };
  Object.assign(there, { off: factor === 0, scaled: factor !== 0 && factor !== 1 });
  const named = Object.keys(meanings).filter((name) => there[name]);
  return named.length ? `Marks: ${named.map((name) => meanings[name]).join("; ")}.` : "";
}

/** The marks as shapes in pixels from the first cell: as `mark_shapes`. @returns {Shape[]} */
export function markShapes(found, cellWidth, cellHeight, width, height, scale) {
  const marks = Object.assign({}, NO_MARKS, found);
  /** @returns {[number, number, number, number]} */
  const along = ({ index, isRow }, distance, size) =>
    isRow
      ? [distance > 0 ? width + distance : distance, index * cellHeight + 1, size, Math.max(cellHeight - 2, 1)]
      : [index * cellWidth + 1, distance > 0 ? height + distance : distance, Math.max(cellWidth - 2, 1), size];
  const middle = ([x, y, wide, high]) => [x + (wide - 4 * scale) / 2, y + (high - 4 * scale) / 2, 4 * scale, 4 * scale];
  const whole = ({ index, isRow }) =>
    isRow ? [0, index * cellHeight, width, cellHeight] : [index * cellWidth, 0, cellWidth, height];
  const shapes = [
    ...(marks.isDimmed ? [["dimmed", [0, 0, width, height], "pointer", 0]] : []),
    ...marks.changed.map((band) => ["fill", along(band, -6 * scale, 3 * scale), "warm", 0]),
    ...marks.set.map((band) => ["fill", along(band, 2 * scale, 3 * scale), "warm", 0]),
    ...marks.forced.map((band) => ["dot", middle(along(band, 8 * scale, 4 * scale)), "warm", 0]),
    ...marks.lit.map((band) => ["frame", whole(band), "accent", 1.4]),
  ];
  if (marks.pinned) {
    const [row, column] = marks.pinned;
    shapes.push(["frame", [column * cellWidth, row * cellHeight, cellWidth, cellHeight], "accent", 2]);
  }
  if (marks.factor === 0) shapes.push(["line", [0, 0, width, height], "warm", 2]);
  if (marks.pointed) shapes.push(...pointerShapes(marks.pointed, cellWidth, cellHeight, width, height));
  return shapes;
}

/**
 * A pointer at a cell, a row or the whole map, as `pointer_shapes`.
 *
 * @param {[string, number | null, number | null]} pointed style, row and column
 * @returns {Shape[]}
 */
function pointerShapes([style, row, column], cellWidth, cellHeight, width, height) {
  const [left, wide] = column === null ? [0, width] : [column * cellWidth, cellWidth];
  const [top, high] = row === null ? [0, height] : [row * cellHeight, cellHeight];
  const right = left + wide;
  const bottom = top + high;
  const larger = high < height ? Math.min(Math.max(high / 24, 1), 2.5) : 1;
  const pen = 3.5 * Math.sqrt(larger);
  const arrow = 34 * larger;
  const tipSize = 11 * larger;
  if (style === "dim") {
    const boxes = [
      [0, 0, width, top],
      [0, bottom, width, height - bottom],
      [0, top, left, high],
      [right, top, width - right, high],
    ];
    return boxes.filter((box) => box[2] > 0 && box[3] > 0).map((box) => ["dimmed", box, "pointer", 0]);
  }
  if (style === "ring") {
    const [x, y] = [wide, high].map((side) => Math.min(Math.max(5, 0.12 * side), 9));
    return [["ring", [left - x, top - y, wide + 2 * x, high + 2 * y], "pointer", pen]];
  }
  let x = left + wide / 2 < width / 2 ? 1 : -1;
  let y = top + high / 2 < height / 2 ? 1 : -1;
  if (x === y && wide < width) {
    if (Math.min(left, height - bottom) >= arrow) [x, y] = [-1, 1];
    else if (Math.min(width - right, top) >= arrow) [x, y] = [1, -1];
  }
  let tip = [column === null ? left + wide / 2 : x > 0 ? right : left, y > 0 ? bottom : top];
  let lines = [
    [arrow * x, arrow * y],
    [tipSize * x, 0],
    [0, tipSize * y],
  ];
  if (height < 2 * high + arrow) {
    tip = [tip[0] - 5 * x, top + high / 2];
    lines = [
      [17 * x, 0],
      [5.5 * x, 5.5],
      [5.5 * x, -5.5],
    ];
  }
  return lines.map((line) => ["line", [...tip, ...line], "pointer", pen]);
}

function drawShapes(pen, shapes, style) {
  for (const [kind, [x, y, width, height], role, thickness] of shapes) {
    const color = style.getPropertyValue(VARIABLES[role]);
    pen.fillStyle = color;
    pen.strokeStyle = color;
    pen.lineWidth = thickness;
    pen.beginPath();
    if (kind === "fill") pen.fillRect(x, y, width, height);
    else if (kind === "frame") pen.strokeRect(x, y, width, height);
    else if (kind === "dimmed") dim(pen, [x, y, width, height], style, DIMMED_OPACITY);
    else if (kind === "line") {
      pen.moveTo(x, y);
      pen.lineTo(x + width, y + height);
      pen.stroke();
    } else {
      pen.ellipse(x + width / 2, y + height / 2, width / 2, height / 2, 0, 0, 2 * Math.PI);
      if (kind === "dot") pen.fill();
      else pen.stroke();
    }
  }
}

function dim(pen, box, style, opacity) {
  pen.fillStyle = style.getPropertyValue("--ground");
  pen.globalAlpha = opacity;
  pen.fillRect(...box);
  pen.globalAlpha = 1;
}

/** @returns {CanvasRenderingContext2D} */
const penOf = (canvas) => canvas.getContext("2d");

/** A canvas of this size in pixels of the style, cleared and ready to be drawn on. */
function sized(canvas, width, height, ratio = window.devicePixelRatio || 1) {
  const pen = penOf(canvas);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/**
 * Draws a map with labels and marks, and gives the canvas its size: as large as the room allows, but at least 16 by 14
 * pixels for a cell.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Drawing} whole
 * @param {ColorTable} table
 * @param {Room} room
 * @returns {Layout}
 */
export function drawMap(canvas, whole, table, room) {
  const short = (/** @type {string} */ label) => elided(label, room.width < NARROW ? LONGEST_LABEL / 2 : LONGEST_LABEL);
  const shown = { rowLabels: whole.rowLabels.map(short), columnLabels: whole.columnLabels.map(short) };
  const drawing = Object.assign({}, whole, shown);
  const rows = drawing.rowLabels.length;
  const columns = drawing.columnLabels.length;
  const measure = penOf(canvas);
  measure.font = FONT;
  const widthOf = (label) => measure.measureText(label).width;
  const widest = (labels) => Math.max(20, ...labels.map(widthOf));
  const axis = room.width < NARROW ? [] : [`${drawing.rowsAre} ↓`];
  const left = Math.ceil(widest([...drawing.rowLabels, ...axis]) + 12);
  const slanted = Math.ceil(widest(drawing.columnLabels) * 0.8 + 14);
  const top = slanted + 20;
  const beyond = (label, column) => 0.6 * widthOf(label) + GAP - (columns - 1 - column) * MIN_WIDTH;
  const aside = Math.ceil(Math.max(MARKS_ROOM, ...drawing.columnLabels.map(beyond)));
  const across = Math.floor(Math.max(0, room.width - left - aside) / Math.max(1, columns));
  const down = Math.floor(Math.max(0, room.height - top - MARKS_ROOM) / Math.max(1, rows));
  const cellHeight = Math.max(MIN_HEIGHT, Math.min(MAX_CELL, Math.max(MIN_WIDTH, across), down));
  const cellWidth = Math.max(MIN_WIDTH, Math.min(4 * cellHeight, across));
  const width = cellWidth * columns;
  const height = cellHeight * rows;
  const pen = sized(canvas, left + width + aside, top + height + MARKS_ROOM, room.ratio);
  const style = getComputedStyle(document.documentElement);
  pen.translate(left, top);
  drawCells(pen, drawing, table, cellWidth, cellHeight);
  if (room.hasNumbers) drawNumbers(pen, drawing, table, cellWidth, cellHeight);
  drawLabels(pen, drawing, cellWidth, cellHeight, style);
  drawAxes(pen, drawing, left, slanted, style); // after a bold factor, perhaps
  drawShapes(pen, markShapes(drawing.marks, cellWidth, cellHeight, width, height, 1), style);
  if (room.scrolled) {
    pen.translate(room.scrolled, 0);
    pen.fillStyle = getComputedStyle(canvas.closest(".panel") ?? document.body).backgroundColor;
    pen.fillRect(-left, 0, left - 2, height);
    drawRowLabels(pen, drawing, cellHeight, style);
  }
  return { left, top, cellWidth, cellHeight };
}

function drawCells(pen, drawing, table, cellWidth, cellHeight) {
  const columns = drawing.columnLabels.length;
  for (let index = 0; index < drawing.values.length; index++) {
    const value = drawing.values[index];
    const x = (index % columns) * cellWidth;
    const y = Math.floor(index / columns) * cellHeight;
    pen.fillStyle = `#${table.colorOf(value, drawing)}`;
    pen.fillRect(x, y, cellWidth - 1, cellHeight - 1);
    if (Number.isNaN(value)) hatch(pen, x, y, cellWidth - 1, cellHeight - 1);
  }
}

/** Black or white: the one with the larger contrast (WCAG 2) to a colour, as `ink_on` of printed maps. */
function inkOn(color) {
  const [red, green, blue] = [color >> 16, (color >> 8) & 255, color & 255].map((channel) => {
    const share = channel / 255;
    return share < 0.04 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** The values in their cells, dark on light colours and light on dark ones; none in cells that are too small. */
function drawNumbers(pen, drawing, table, cellWidth, cellHeight) {
  const columns = drawing.columnLabels.length;
  pen.font = SMALL_FONT;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (cellHeight < 14 || cellWidth < pen.measureText(shortNumber(-0.44, true)).width + 4) return;
  for (let index = 0; index < drawing.values.length; index++) {
    const value = drawing.values[index];
    if (Number.isNaN(value) || Math.abs(value) < 0.005) continue;
    const color = parseInt(table.colorOf(value, drawing), 16);
    pen.fillStyle = inkOn(color);
    const x = ((index % columns) + 0.5) * cellWidth;
    const y = (Math.floor(index / columns) + 0.5) * cellHeight;
    pen.fillText(shortNumber(value, drawing.isSigned), x, y);
  }
}

/** The meaning of rows and columns; on one line where the labels of rows leave too little room. */
function drawAxes(pen, { rowsAre, columnsAre }, left, slanted, style) {
  const [rows, columns] = [`${rowsAre} ↓`, `${columnsAre} →`];
  const above = -slanted - 10;
  pen.font = FONT;
  pen.textBaseline = "middle";
  const fits = pen.measureText(rows).width <= left - GAP;
  pen.fillStyle = style.getPropertyValue("--soft");
  pen.textAlign = "left";
  pen.fillText(fits ? columns : `${rows}  ${columns}`, fits ? 0 : 2 - left, above);
  pen.textAlign = "right";
  if (fits) pen.fillText(rows, -GAP, -GAP);
}

function colorOfLabel({ changed = [], lit = [], pinned }, index, isRow, style) {
  const isAt = (band) => band.index === index && band.isRow === isRow;
  if ((pinned && pinned[isRow ? 0 : 1] === index) || lit.some(isAt)) return style.getPropertyValue("--mark");
  return style.getPropertyValue(changed.some(isAt) ? "--warm" : "--text");
}

function drawRowLabels(pen, { rowLabels, marks }, cellHeight, style) {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  rowLabels.forEach((label, row) => {
    pen.fillStyle = colorOfLabel(marks, row, true, style);
    pen.fillText(label, -GAP, (row + 0.5) * cellHeight);
  });
}

function drawLabels(pen, drawing, cellWidth, cellHeight, style) {
  drawRowLabels(pen, drawing, cellHeight, style);
  pen.textAlign = "left";
  drawing.columnLabels.forEach((label, column) => {
    pen.save();
    pen.translate((column + 0.5) * cellWidth, -GAP);
    pen.rotate(-SLANT);
    pen.fillStyle = colorOfLabel(drawing.marks, column, false, style);
    pen.fillText(label, 0, 0);
    pen.restore();
  });
  drawFactor(pen, drawing.marks, FACTOR_FONT, -GAP, drawing.rowLabels.length * cellHeight + GAP + 1, style);
}

/** A few letters on the factor of a head or network, as `scaling_text`: "off", "×0.5"; empty if it is unchanged. */
export function scalingText(factor) {
  return factor === 1 ? "" : factor === 0 ? "off" : `×${Number(factor.toPrecision(6))}`.replace("-", "−");
}

/** Writes the factor of a scaled head, its lower right corner at a place. */
function drawFactor(pen, { factor = 1 }, font, x, y, style) {
  if (factor === 0 || factor === 1) return;
  const text = scalingText(factor);
  pen.font = font;
  pen.textAlign = "right";
  pen.textBaseline = "bottom";
  pen.lineWidth = 6;
  pen.lineJoin = "round";
  pen.strokeStyle = style.getPropertyValue("--ground");
  pen.fillStyle = style.getPropertyValue("--warm");
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}

function hatch(pen, x, y, width, height) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  pen.strokeStyle = "#888";
  pen.lineWidth = 1;
  for (let from = 6; from < width + height; from += 6) {
    pen.moveTo(x + from, y);
    pen.lineTo(x + from - height, y + height);
  }
  pen.stroke();
  pen.restore();
}

/** Draws a map without labels, 100 pixels wide and high, and its marks. @param {Drawing} drawing */
export function drawSmallMap(canvas, drawing, table) {
  const rows = Math.max(1, drawing.rowLabels.length);
  const columns = Math.max(1, drawing.columnLabels.length);
  const image = new ImageData(columns, rows);
  const cells = document.createElement("canvas");
  for (let i = 0; i < drawing.values.length; i++) {
    const color = parseInt(table.colorOf(drawing.values[i], drawing), 16);
    image.data[4 * i] = color >> 16;
    image.data[4 * i + 1] = (color >> 8) & 255;
    image.data[4 * i + 2] = color & 255;
    image.data[4 * i + 3] = 255;
  }
  cells.width = columns;
  cells.height = rows;
  penOf(cells).putImageData(image, 0, 0);
  canvas.width = canvas.height = SMALL + 2 * AROUND;
  const pen = penOf(canvas);
  const style = getComputedStyle(document.documentElement);
  pen.translate(AROUND, AROUND);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(cells, 0, 0, SMALL, SMALL);
  if (drawing.marks.factor === 0) dim(pen, [0, 0, SMALL, SMALL], style, PALE);
  pen.strokeStyle = style.getPropertyValue("--line");
  pen.strokeRect(0, 0, SMALL, SMALL);
  drawFactor(pen, drawing.marks, SMALL_FACTOR_FONT, SMALL, SMALL + AROUND / 2, style);
  const { pointed } = drawing.marks;
  const isArrow = pointed?.[0] === "arrow";
  const marks = Object.assign({}, drawing.marks, isArrow && { pointed: null });
  drawShapes(pen, markShapes(marks, SMALL / columns, SMALL / rows, SMALL, SMALL, 1), style);
  if (isArrow) {
    const unit = canvas.width / (canvas.clientWidth || SMALL); // an arrow has its size on the screen
    pen.scale(unit, unit);
    const side = SMALL / unit;
    drawShapes(pen, pointerShapes(pointed, side / columns, side / rows, side, side), style);
  }
}

/** The least and the largest value of a scale of colours, as `scale_ends`. */
export function scaleEnds(top, isSigned) {
  return isSigned ? [`−${top.toPrecision(3)}`, `+${top.toPrecision(3)}`] : ["0", top.toPrecision(3)];
}

/** Draws the colours of a map from its least to its largest value, and returns both as words. */
export function drawScale(canvas, drawing, table) {
  const pen = canvas.getContext("2d");
  const { width, height } = canvas;
  for (let x = 0; x < width; x++) {
    const place = x / (width - 1);
    pen.fillStyle = `#${table.colorOf((drawing.isSigned ? 2 * place - 1 : place) * drawing.top, drawing)}`;
    pen.fillRect(x, 0, 1, height);
  }
  return scaleEnds(drawing.top, drawing.isSigned);
}

/**
 * Row and column of the cell at a place of the window, or null.
 *
 * @param {Layout} layout
 * @param {Drawing} drawing
 * @returns {[number, number] | null}
 */
export function cellAt(canvas, layout, drawing, clientX, clientY) {
  const area = canvas.getBoundingClientRect();
  const column = Math.floor((clientX - area.left - layout.left) / layout.cellWidth);
  const row = Math.floor((clientY - area.top - layout.top) / layout.cellHeight);
  const { rowLabels, columnLabels } = drawing;
  return row >= 0 && row < rowLabels.length && column >= 0 && column < columnLabels.length ? [row, column] : null;
}

/** The height for a map that leaves scale and reading in sight, or a third of the window if that is more. */
export function roomBelow(canvas, panel, top) {
  const topOf = (element) => element.getBoundingClientRect().top;
  return Math.max(window.innerHeight / 3, window.innerHeight - top - (topOf(canvas) - topOf(panel)) - BELOW_MAP);
}

/** Whether the reader points with a finger. */
export const isTouched = () => matchMedia("(pointer: coarse)").matches;

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
/**
 * The cell next to another one in the direction of an arrow key, the first one from none; null for other keys.
 *
 * @returns {[number, number] | null}
 */
export function cellByKey(drawing, cell, key) {
  const step = STEPS[key];
  if (!step) return null;
  const inside = (place, labels) => Math.max(0, Math.min(labels.length - 1, place));
  const [row, column] = cell || [-step[0], -step[1]];
  return [inside(row + step[0], drawing.rowLabels), inside(column + step[1], drawing.columnLabels)];
}
