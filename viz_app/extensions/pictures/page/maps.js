/** Recorded maps, as `data_text` of `export/html_page.py` writes them. */

/**
 * @typedef {import("./drawing.js").Drawing} Drawing
 *
 * @typedef {Object} KindMaps The maps of one kind, with rows named in one way.
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} rowsAre
 * @property {string} columnsAre
 * @property {string} meaning of a row, in a sentence
 * @property {string} colors the meaning of colours
 * @property {[number, number, number, number]} shape layers, heads, rows, columns
 * @property {number} top the value farthest from 0
 * @property {boolean} signed
 * @property {number} least the least value of the last colour
 * @property {number} block
 * @property {number[][]} hidden [layers][heads], share of the attention on hidden columns
 * @property {import("./drawing.js").Band[]} changed
 * @property {import("./drawing.js").Marks[][]} marks [layers][heads]
 */

const LARGEST = 65535;
const ZERO = 32767;
const MISSING = 65535;

/** The numbers of a block: 16 bits each, in base64. @returns {Uint16Array} */
export function unpack(text) {
  const bytes = atob(text);
  const numbers = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
  return numbers;
}

/**
 * The values of a head, or without one of all heads of a layer; NaN for a token without a partner in the original.
 *
 * @param {number} [head]
 */
function valuesOf(found, blocks, layer, head) {
  const [, heads, rows, columns] = found.shape;
  const size = rows * columns;
  const first = (layer * heads + (head ?? 0)) * size;
  const count = head === undefined ? heads * size : size;
  const zero = found.signed ? ZERO : 0;
  const unit = found.top / (found.signed ? ZERO : LARGEST);
  const valueOf = (number) => (found.signed && number === MISSING ? NaN : (number - zero) * unit);
  return Float32Array.from(blocks[found.block].subarray(first, first + count), valueOf);
}

/** The distance of the value farthest from 0, or `least`. */
function largest(values, least) {
  let top = least;
  for (const value of values) if (Math.abs(value) > top) top = Math.abs(value);
  return top || 1;
}

/**
 * One head as recorded.
 *
 * @param {KindMaps} found
 * @param {Uint16Array[]} blocks
 * @param {number} layer
 * @param {number} head
 * @param {"one" | "kind" | "layer" | "head"} scale which value gets the last colour
 * @returns {Drawing}
 */
export function recordedDrawing(found, blocks, layer, head, scale) {
  const values = valuesOf(found, blocks, layer, head);
  const top = {
    one: () => 1,
    kind: () => found.top,
    layer: () => largest(valuesOf(found, blocks, layer), found.least),
    head: () => largest(values, found.least),
  }[scale]();
  const { rowsAre, columnsAre, signed: isSigned } = found;
  const marks = Object.assign({ changed: found.changed }, found.marks[layer][head]);
  return { values, rowLabels: found.rows, columnLabels: found.columns, rowsAre, columnsAre, top, isSigned, marks };
}
