/** The maps of a kind as they are shown: labelled, in words, and compared with the original's; as in `state/map_source.py`. */

/**
 * @typedef {import("../../../../core/extensions/page/translator.js").Translation} Translation
 * @typedef {import("./drawing.js").Band} Band
 *
 * @typedef {Object} Axis The rows or columns of a map.
 * @property {string[]} labels
 * @property {number[][]} positions of each entry in the model's map; several for a word of several tokens
 * @property {string} are the meaning of an entry
 *
 * @typedef {Object} LabelledMaps All maps of a kind.
 * @property {number} heads of each layer
 * @property {Float32Array} values map after map, row after row; NaN: no value
 * @property {Axis} rows queries
 * @property {Axis} columns keys
 *
 * @typedef {LabelledMaps & {isSigned: boolean, top: number, changed: Band[]}} ShownMaps `top` is the value of the last
 *     colour; `changed` are rows and columns that the original lacks.
 *
 * @typedef {{mode: string, merges: boolean, shown: string}} Choices the names of rows, whether words are merged, and
 *     which maps are shown: "original", "changed" or "difference"
 */

/**
 * @param {{changed: Translation, original: Translation}} result
 * @param {"encoder" | "decoder" | "cross"} kind
 * @param {Choices} choices
 * @param {{ends: string[], least: number}} data of the page: tokens at the start and the end, and the least value of the
 *     last colour of a difference
 * @returns {ShownMaps}
 */
export function shownMaps({ changed, original }, kind, choices, { ends, least }) {
  const found = labelledMaps(choices.shown === "original" ? original : changed, kind, choices);
  const plain = { ...found, isSigned: false, top: 1, changed: [] };
  if (changed === original || choices.shown === "original") return plain;
  const before = labelledMaps(original, kind, choices);
  const [rows, columns] = [partners(before.rows, found.rows, ends), partners(before.columns, found.columns, ends)];
  if (!rows || !columns) return plain; // nothing in common
  const marked = { ...plain, changed: [...lacking(found.rows, rows, true), ...lacking(found.columns, columns, false)] };
  if (choices.shown === "changed") return marked;
  const values = differences(before, found, rows, columns);
  const top = values.reduce((largest, value) => (Math.abs(value) > largest ? Math.abs(value) : largest), least);
  return { ...marked, values, isSigned: true, top };
}

/** @param {Translation} translation @returns {LabelledMaps} */
function labelledMaps(translation, kind, { mode, merges }) {
  const { shape, values } = translation.attention[kind];
  const [layers, heads, numRows, numColumns] = shape;
  const [rows, columns] = axesOf(translation, kind, mode, merges);
  if (rows.labels.length === numRows && columns.labels.length === numColumns) return { heads, values, rows, columns };
  const size = rows.labels.length * columns.labels.length;
  const merged = new Float32Array(layers * heads * size);
  for (let map = 0; map < layers * heads; map++) {
    rows.positions.forEach((queries, row) => {
      columns.positions.forEach((keys, column) => {
        let sum = 0;
        for (const query of queries) for (const key of keys) sum += values[(map * numRows + query) * numColumns + key];
        merged[map * size + row * columns.labels.length + column] = sum / queries.length;
      });
    });
  }
  return { heads, values: merged, rows, columns };
}

/** The queries and the keys of a kind of map. @param {Translation} translation @returns {[Axis, Axis]} */
function axesOf({ sourceTokens, sourceWords, readTokens, predictedTokens, targetWords }, kind, mode, merges) {
  const axis = (tokens, are, words) => axisOf(tokens, are, merges ? words : []);
  const source = axis(sourceTokens, "source token", sourceWords);
  if (kind === "encoder") return [source, source];
  const shifted = targetWords.map(({ text, start, end }) => ({ text, start: start + 1, end: end + 1 }));
  const read = axis(readTokens, "token read", shifted);
  const rows = mode === "read" ? read : axis(predictedTokens, "token predicted", targetWords);
  return [rows, kind === "cross" ? source : read];
}

/** @param {string[]} tokens @param {string} are @param {{text: string, start: number, end: number}[]} words @returns {Axis} */
function axisOf(tokens, are, words) {
  const labels = [];
  const positions = [];
  for (let place = 0; place < tokens.length;) {
    const word = words.find(({ start, end }) => start <= place && place < end);
    const end = Math.min(word ? word.end : place + 1, tokens.length); // the last token is never read
    labels.push(word ? word.text : tokens[place]);
    positions.push(Array.from({ length: end - place }, (_, index) => place + index));
    place = end;
  }
  return { labels, positions, are };
}

/** For each entry of an axis its partner in the axis before, or undefined; null if no word has one. */
function partners(/** @type {Axis} */ before, /** @type {Axis} */ after, /** @type {string[]} */ ends) {
  const [first, second] = [before, after].map(({ labels }) => labels.map((label) => label.toLowerCase()));
  const pairs = commonPlaces(first, second);
  return pairs.some(([place]) => !ends.includes(before.labels[place]))
    ? new Map(pairs.map(([from, to]) => [to, from]))
    : null;
}

/**
 * The longest common subsequence, as pairs of places; of several, one that begins earliest in `first`.
 *
 * @returns {[number, number][]}
 */
export function commonPlaces(first, second) {
  const width = second.length + 1;
  const lengths = new Uint32Array((first.length + 1) * width); // of what is left from here on
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] =
        first[i] === second[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < first.length && j < second.length;) {
    const at = i * width + j;
    if (first[i] === second[j]) pairs.push([i++, j++]);
    else if (lengths[at + 1] >= lengths[at + width]) j++;
    else i++;
  }
  return pairs;
}

/** @param {Axis} axis @param {Map<number, number>} found @param {boolean} isRow @returns {Band[]} */
function lacking({ labels }, found, isRow) {
  return Array.from(labels.keys(), (index) => ({ index, isRow })).filter(({ index }) => !found.has(index));
}

/** The maps after minus those before, on the rows and columns after; NaN where one has no partner. */
function differences(before, after, rowPartners, columnPartners) {
  const [rows, columns] = [after.rows.labels.length, after.columns.labels.length];
  const [rowsBefore, columnsBefore] = [before.rows.labels.length, before.columns.labels.length];
  return after.values.map((value, index) => {
    const row = rowPartners.get(Math.floor(index / columns) % rows);
    const column = columnPartners.get(index % columns);
    const map = Math.floor(index / (rows * columns));
    return value - (before.values[(map * rowsBefore + row) * columnsBefore + column] ?? NaN);
  });
}
