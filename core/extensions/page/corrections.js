/** Corrections of typing errors: the steps of `core/extensions/corrections.py`, which gives the rules. */

/**
 * @typedef {Object} Rules
 * @property {number} least_count
 * @property {number} times_as_frequent
 * @property {number} fewest_letters
 * @property {string[]} words_like_errors words that are right
 * @property {string[]} endings
 * @property {Object<string, string>} confused for each letter those that are typed in its place
 */

/**
 * The sentence without its typing errors, and the words that are other ones in it.
 *
 * @param {import("./source.js").Source} source as typed
 * @param {{count: number, start: number}[]} rareWords of its coverage
 * @param {{least: number, words: Map<string, number>}} counts of the training data
 * @param {Rules} rules
 * @returns {{text: string, words: string[]} | null} null if there are none
 */
export function corrected({ text, words, encoded }, rareWords, counts, rules) {
  const unseen = new Set(rareWords.filter(({ count }) => !count).map(({ start }) => start));
  let result = "";
  let end = 0;
  const written = new Set();
  words.forEach((word, index) => {
    const asRead = encoded[index];
    const better = unseen.has(word.start) ? correction(asRead.readAs ?? word.text, counts, rules) : "";
    if (!better || asRead.start < end) return;
    const inCase = withCaseOf(text.slice(asRead.start, asRead.end), better);
    result += text.slice(end, asRead.start) + inCase;
    end = asRead.end;
    written.add(inCase);
  });
  return written.size ? { text: result + text.slice(end), words: [...written] } : null;
}

/** The one known word from which a typing error has probably made this one; empty if there is none, or several. */
export function correction(word, { least, words }, rules) {
  if (least > 1 || words.has(word) || rules.words_like_errors.includes(word)) return "";
  if ([...word].length < rules.fewest_letters || !/^\p{L}+$/u.test(word)) return "";
  const countOf = (near) => words.get(near) ?? least - 1;
  const known = [...new Set(beforeOneError(word, rules))].filter((near) => countOf(near) >= rules.least_count);
  const [first = "", second = ""] = known.sort((one, other) => countOf(other) - countOf(one));
  return first && countOf(first) >= rules.times_as_frequent * countOf(second) ? first : "";
}

/** The word with capitals where the typed one has them: at its beginning, or everywhere. */
export function withCaseOf(typed, word) {
  const isUpper = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
  if (typed.length > 1 && isUpper(typed)) return word.toUpperCase();
  return isUpper(typed.slice(0, 1)) ? word.slice(0, 1).toUpperCase() + word.slice(1) : word;
}

/** Words that one error turns into this one: two letters swapped, one missing, too many or wrong. */
function* beforeOneError(word, { confused, endings }) {
  for (let index = 1; index < word.length; index++) {
    yield word.slice(0, index - 1) + word[index] + word[index - 1] + word.slice(index + 1);
  }
  const letters = new Set([...Object.keys(confused), ...Object.values(confused).join("")]);
  for (let index = 1; index < word.length; index++) {
    const [before, letter, after] = [word.slice(0, index), word[index], word.slice(index + 1)];
    const others = [...(confused[letter] ?? "")].map((other) => before + other + after);
    const missing = [...letters].map((other) => before + other + letter + after);
    for (const near of [before + after, ...others, ...missing]) {
      if (!differInEndings(word, near, endings)) yield near;
    }
  }
}

/** Whether two words differ only in an ending. */
function differInEndings(one, other, endings) {
  return endings.some((ending) => {
    const stem = one.slice(0, one.length - ending.length);
    return one.endsWith(ending) && other.startsWith(stem) && endings.includes(other.slice(stem.length));
  });
}
