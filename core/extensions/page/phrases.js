/** Sentences with values, see `core/text/phrases.py`. */

/** A phrase with values in place of `{name}`. */
export function fill(phrase, values = {}) {
  return phrase.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
