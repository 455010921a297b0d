/** Translations that lack many words of their text: the steps of `core/extensions/missing_words.py`, which gives the rules. */

import { fill } from "./phrases.js";

/**
 * @typedef {Object} MissingWordsRules
 * @property {number} least_ratio
 * @property {number} fewest_missing
 * @property {Object<string, string>} notes
 */

/**
 * @param {import("./text.js").Word[]} sourceWords
 * @param {import("./text.js").Word[]} targetWords
 * @param {MissingWordsRules | null} rules null where the rule was not checked
 * @returns {string} a sentence for the reader; empty if no more words are missing than usual
 */
export function missingWordsNote(sourceWords, targetWords, rules) {
  if (!rules) return "";
  const [source, target] = [sourceWords, targetWords].map((words) =>
    words.map(({ text }) => text).filter((text) => /[\p{L}\p{N}]/u.test(text)),
  );
  const counts = { shorter: (words) => words.length, repeats: numPairs };
  for (const [name, count] of Object.entries(counts)) {
    const missing = count(source) - count(target);
    const isShort = count(target) < rules.least_ratio * count(source);
    if (isShort && missing >= rules.fewest_missing) return fill(rules.notes[name], { count: missing });
  }
  return "";
}

/** The number of different pairs of neighbours: what is said again adds nothing. @param {string[]} words */
function numPairs(words) {
  return new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`)).size;
}
