/** A translation as words: places in its text, differences from the original, numbers for people. */

/**
 * @typedef {{text: string, start: number, end: number}} Word
 * @typedef {import("../../../../core/extensions/page/translator.js").Translation} Translation
 */

/**
 * The text cut into words and what stands between them. Words that are not found in it are left out.
 *
 * @param {string} text
 * @param {Word[]} words
 * @param {number} first where they begin
 * @returns {{text: string, word: Word | null}[]}
 */
export function piecesOf(text, words, first = 0) {
  const lowered = Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join("");
  const pieces = [];
  let position = 0;
  for (const word of words) {
    const start = lowered.indexOf(word.text.toLowerCase(), Math.max(position, first));
    const end = start + word.text.length;
    if (start < 0) continue;
    if (start > position) pieces.push({ text: text.slice(position, start), word: null });
    pieces.push({ text: text.slice(start, end), word });
    position = end;
  }
  return position < text.length ? [...pieces, { text: text.slice(position), word: null }] : pieces;
}

/** The pieces of a translation. A first symbol that is given, as in the copy task, belongs to no word. */
export function piecesOfTranslation({ text, targetWords, readTokens }, isStartGiven) {
  return piecesOf(text, targetWords, isStartGiven ? readTokens[0].length : 0);
}

/**
 * The places in `after` of tokens that `before` does not have, order regarded: those outside the blocks that both share,
 * found as by Python's `difflib`.
 *
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Set<number>}
 */
export function newPlaces(before, after) {
  const found = new Set(after.keys());
  const match = (from, to, first, last) => {
    let [size, a, b] = [0, 0, 0];
    for (let i = from; i < to; i++) {
      for (let j = first; j < last; j++) {
        let length = 0;
        while (i + length < to && j + length < last && before[i + length] === after[j + length]) length++;
        if (length > size) [size, a, b] = [length, i, j];
      }
    }
    if (!size) return;
    for (let place = b; place < b + size; place++) found.delete(place);
    match(from, a, first, b);
    match(a + size, to, b + size, last);
  };
  match(0, before.length, 0, after.length);
  return found;
}

/** The words of `after` that `before` does not have. @param {Translation} before @param {Translation} after */
export function newWords(before, after) {
  const texts = (translation) => translation.targetWords.map((word) => word.text);
  const places = newPlaces(texts(before), texts(after));
  return new Set(after.targetWords.filter((_, place) => places.has(place)));
}

/** The natural log of the probability of a word. @param {Translation} translation @param {Word} word */
export function logProbabilityOf(translation, word) {
  return sum(translation.logProbabilities.slice(word.start, word.end));
}

export function sum(numbers) {
  return Array.from(numbers).reduce((total, number) => total + number, 0);
}

/** A text of at most `length` characters, at least 3, with an ellipsis between its ends; as `elided`. */
export function elided(text, length) {
  const letters = [...text];
  const end = Math.floor((length - 1) / 2);
  return letters.length <= length
    ? text
    : [...letters.slice(0, length - 1 - end), "…", ...letters.slice(-end)].join("");
}

/** A share in percent: only all is 100%, and only nothing 0%. */
export function percent(share) {
  const rounded = Math.round(100 * share);
  if (rounded <= 0 && share > 0) return "< 1%";
  return share < 1 && rounded >= 100 ? "> 99%" : `${rounded}%`;
}

/** A number of two decimals with a typographic minus sign; zero never has one. */
export function decimal(value) {
  return (Math.round(100 * value) / 100 + 0)
    .toFixed(2)
    .replace(/^-(?!0\.00$)/, "−")
    .replace(/^-/, "");
}
