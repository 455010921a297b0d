/** Corrections of typing errors: the steps and tables of `viz_app/extensions/words/corrections.py`. */

const LEAST_COUNT = 20;
const TIMES_AS_FREQUENT = 10;
const FEWEST_LETTERS = 4;
const LONGEST_ENDING = 3;
const ENDINGS = new Set(["", "e", "em", "en", "er", "es", "m", "n", "r", "s", "st", "t", "te", "ten"]);
const KEYBOARD = ["qwertzuiopü", "asdfghjklöä", "yxcvbnm"];
const ALIKE = ["dt", "bp", "gk", "vf", "vw", "iy", "mn", "cz", "ck"];
const SIMPLER = { a: "ä", o: "ö", u: "ü", s: "ß" };
const CONFUSED = confused();
const LETTERS = [...new Set([...CONFUSED.keys(), ...[...CONFUSED.values()].flatMap((each) => [...each])])];

/**
 * The sentence without its typing errors, and the words that are other ones in it.
 *
 * @param {import("./source.js").Source} source as typed
 * @param {{count: number, start: number}[]} rareWords of its coverage
 * @param {{least: number, words: Map<string, number>}} counts of the training data
 * @returns {{text: string, words: string[]} | null} null if there are none
 */
export function corrected({ text, words, encoded }, rareWords, counts) {
  const unseen = new Set(rareWords.filter(({ count }) => !count).map(({ start }) => start));
  let result = "";
  let end = 0;
  const written = new Set();
  words.forEach((word, index) => {
    const place = encoded[index];
    const better = unseen.has(word.start) ? correction(place.readAs ?? word.text, counts) : "";
    if (!better || place.start < end) return;
    const inCase = withCaseOf(text.slice(place.start, place.end), better);
    result += text.slice(end, place.start) + inCase;
    end = place.end;
    written.add(inCase);
  });
  return written.size ? { text: result + text.slice(end), words: [...written] } : null;
}

/** The one known word from which a typing error has probably made this one; empty if there is none, or several. */
export function correction(word, { least, words }) {
  if (least > 1 || words.has(word)) return "";
  if ([...word].length < FEWEST_LETTERS || !/^\p{L}+$/u.test(word)) return "";
  const countOf = (near) => words.get(near) ?? least - 1;
  const known = [...new Set(beforeOneError(word))].filter((near) => countOf(near) >= LEAST_COUNT);
  const [first = "", second = ""] = known.sort((one, other) => countOf(other) - countOf(one));
  return first && countOf(first) >= TIMES_AS_FREQUENT * countOf(second) ? first : "";
}

/** The word with capitals where the typed one has them: at its beginning, or everywhere. */
export function withCaseOf(typed, word) {
  const isUpper = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
  if (typed.length > 1 && isUpper(typed)) return word.toUpperCase();
  return isUpper(typed.slice(0, 1)) ? word.slice(0, 1).toUpperCase() + word.slice(1) : word;
}

/** Words that one error turns into this one: two letters swapped, one missing, too many or wrong. */
function* beforeOneError(word) {
  for (let index = 1; index < word.length; index++) {
    yield word.slice(0, index - 1) + word[index] + word[index - 1] + word.slice(index + 1);
  }
  for (let index = 1; index < word.length; index++) {
    const [before, letter, after] = [word.slice(0, index), word[index], word.slice(index + 1)];
    const others = [...(CONFUSED.get(letter) ?? [])].map((other) => before + other + after);
    const missing = LETTERS.map((other) => before + other + letter + after);
    for (const near of [before + after, ...others, ...missing]) {
      if (!differInEndings(word, near)) yield near;
    }
  }
}

/** Whether two words differ only in an ending. */
function differInEndings(one, other) {
  for (let length = 0; length <= LONGEST_ENDING; length++) {
    const stem = one.slice(0, one.length - length);
    const endings = [one, other].map((each) => each.slice(stem.length));
    if (other.startsWith(stem) && endings.every((each) => ENDINGS.has(each))) return true;
  }
  return false;
}

/** For each letter those that are typed in its place: next to it, above, below, or alike. */
function confused() {
  const found = new Map(Object.entries(SIMPLER).map(([letter, meant]) => [letter, new Set([meant])]));
  const add = (one, other) => {
    for (const [letter, meant] of [
      [one, other],
      [other, one],
    ]) {
      if (!found.has(letter)) found.set(letter, new Set());
      found.get(letter)?.add(meant);
    }
  };
  KEYBOARD.forEach((row, place) => {
    for (let index = 1; index < row.length; index++) add(row[index - 1], row[index]);
    const upper = KEYBOARD[place - 1] ?? "";
    for (let index = 0; upper && index < row.length; index++) {
      add(row[index], upper[index]);
      if (index + 1 < upper.length) add(row[index], upper[index + 1]);
    }
  });
  for (const pair of ALIKE) add(pair[0], pair[1]);
  return found;
}
