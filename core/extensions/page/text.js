/**
 * Text to ids and back: the rules of `core/text` on the data that `core/extensions/page/packing.py` wrote.
 *
 * Places in a text are JavaScript's, so characters beyond U+FFFF count twice; lengths that a rule limits count
 * characters.
 */

/** White space as Python defines it: JavaScript's `\s` lacks six of these characters and has U+FEFF. */
const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const RUNS = new RegExp(`[${SPACE}]+|[^${SPACE}]+`, "gu");
const BETWEEN_SPACES = new RegExp(`[^${SPACE}]+`, "gu");
const IS_SPACE = new RegExp(`^[${SPACE}]+$`, "u");
const LINE_BREAKS = /[\n\r\t\v\f\x85\u2028\u2029\ufeff]/g;
const WORD_MARK = "▁";
const CONTINUATION = "·";

/**
 * @typedef {{text: string, start: number, hasSpace: boolean}} Piece A token, and whether a space follows it.
 *
 * @typedef {Object} EncodedWord A word and its ids.
 * @property {string} text as typed, case folded
 * @property {number[]} ids none if the model cannot read it
 * @property {string[]} labels of the ids, for display
 * @property {boolean[]} unknown for each id, whether its text is not in the vocabulary
 * @property {number} start its place in the line
 * @property {number} end
 * @property {string | null} readAs the restored spelling; null if it was read unchanged
 *
 * @typedef {{text: string, start: number, end: number}} Word A word, and the half-open range of its tokens.
 */

/** The parts of a text between white space. */
export function splitAtSpaces(text) {
  return text.match(BETWEEN_SPACES) ?? [];
}

function lengthOf(pattern, text) {
  const match = pattern.exec(text);
  return match ? match[0].length : 0;
}

/** spaCy's rules of one language; the same steps as `WordRules` of `core/text/tokenizers.py`. */
class WordRules {
  /** @param {{patterns: Object<string, string>, cases: Object<string, string[]>}} rules JavaScript's patterns */
  constructor({ patterns, cases }) {
    this.prefix = new RegExp(patterns.prefix, "u");
    this.suffix = new RegExp(patterns.suffix, "u");
    this.infix = new RegExp(patterns.infix, "gu");
    this.url = new RegExp(`^(?:${patterns.url})`, "u");
    this.cases = new Map(Object.entries(cases));
    this.sequences = this.caseSequences();
  }

  /**
   * @param {string} text
   * @returns {Piece[]} repeated spaces and other white space are tokens; single spaces are not
   */
  tokens(text) {
    return this.withCaseSequences(this.pieces(text, this.cases));
  }

  pieces(text, cases) {
    const pieces = [];
    for (const match of text.matchAll(RUNS)) {
      let run = match[0];
      let start = match.index;
      const previous = pieces.at(-1);
      if (run[0] === " " && previous) {
        previous.hasSpace = true;
        run = run.slice(1);
        start++;
        if (!run) continue;
      }
      for (const token of cases.get(run) ?? this.cut(run, cases)) {
        pieces.push({ text: token, start, hasSpace: false });
        start += token.length;
      }
    }
    return pieces;
  }

  /** Strips prefixes and suffixes until an exception or nothing to strip remains, then splits at infixes. */
  cut(run, cases) {
    const { rest, prefixes, suffixes } = this.withoutAffixes(run, cases);
    const middle = rest && (cases.get(rest) ?? (this.url.test(rest) ? [rest] : this.cutAtInfixes(rest)));
    return [...prefixes, ...middle, ...suffixes.reverse()];
  }

  withoutAffixes(rest, cases) {
    const prefixes = [];
    const suffixes = [];
    let length = 0;
    while (rest && rest.length !== length && !cases.has(rest)) {
      length = rest.length;
      const first = lengthOf(this.prefix, rest);
      if (first && cases.has(rest.slice(first))) {
        return { rest: rest.slice(first), prefixes: [...prefixes, rest.slice(0, first)], suffixes };
      }
      const last = lengthOf(this.suffix, rest.slice(first));
      if (last && cases.has(rest.slice(0, -last))) {
        return { rest: rest.slice(0, -last), prefixes, suffixes: [...suffixes, rest.slice(-last)] };
      }
      if (first) prefixes.push(rest.slice(0, first));
      if (last && first + last <= length) {
        suffixes.push(rest.slice(-last));
        rest = rest.slice(first, -last);
      } else rest = rest.slice(first);
    }
    return { rest, prefixes, suffixes };
  }

  cutAtInfixes(text) {
    const found = [];
    let start = 0;
    for (const match of text.matchAll(this.infix)) {
      if (match.index === 0) continue;
      if (match.index !== start) found.push(text.slice(start, match.index));
      if (match[0]) found.push(match[0]);
      start = match.index + match[0].length;
    }
    if (start < text.length) found.push(text.slice(start));
    return found;
  }

  /** The tokens of each case that the patterns would cut, by first token: they are sought among all tokens. */
  caseSequences() {
    const found = new Map();
    for (const text of this.cases.keys()) {
      const isCut = text.includes(" ") || [this.prefix, this.suffix].some((each) => lengthOf(each, text));
      if (!isCut && text.search(this.infix) < 0) continue;
      const tokens = this.pieces(text, new Map()).map((piece) => piece.text);
      found.set(tokens[0], [...(found.get(tokens[0]) ?? []), tokens]);
    }
    return found;
  }

  /** Tokens that together are a case become those of the case; of two that overlap the longer, then the first. */
  withCaseSequences(pieces) {
    const texts = pieces.map((piece) => piece.text);
    const spans = [];
    texts.forEach((text, place) => {
      for (const tokens of this.sequences.get(text) ?? []) {
        if (tokens.every((token, offset) => texts[place + offset] === token)) {
          spans.push([place, place + tokens.length]);
        }
      }
    });
    spans.sort((a, b) => a[0] - a[1] - (b[0] - b[1]) || a[0] - b[0]);
    const taken = new Set();
    const chosen = new Map();
    for (const [start, end] of spans) {
      if (!taken.has(start) && !taken.has(end - 1)) chosen.set(start, end);
      for (let place = start; place < end; place++) taken.add(place);
    }
    const found = [];
    for (let place = 0; place < pieces.length;) {
      const end = chosen.get(place) ?? place + 1;
      const part = pieces.slice(place, end);
      found.push(...(chosen.has(place) ? this.ofCase(part) : part));
      place = end;
    }
    return found;
  }

  /** The tokens of the case that `pieces` form; `pieces` themselves if a space between them prevents that. */
  ofCase(pieces) {
    const { hasSpace } = pieces.at(-1);
    const text = pieces.map((piece) => piece.text + (piece.hasSpace ? " " : "")).join("");
    const tokens = this.cases.get(hasSpace ? text.slice(0, -1) : text);
    if (!tokens) return pieces;
    let { start } = pieces[0];
    return tokens.map((token, index) => {
      start += token.length;
      return { text: token, start: start - token.length, hasSpace: hasSpace && index === tokens.length - 1 };
    });
  }
}

/** Symbols between spaces, for the copy task. */
class SymbolRules {
  tokens(text) {
    return [...text.matchAll(BETWEEN_SPACES)].map((match) => ({ text: match[0], start: match.index, hasSpace: false }));
  }
}

/** One side of a pair: case, tokenizer, subwords and vocabulary; the same steps as `TextCodec`. */
export class TextCodec {
  /**
   * @param {Object} side `language`, `case`, `rules` (null for symbols), `vocabulary`, `special_ids`, `scores` of
   *     pieces by id (null for a vocabulary of words), and `spelling`, the rules of `SpellingRestorer` (or null)
   * @param {Map<string, number>} counts of the words in the training data; used with `spelling` only
   * @param {Object} joining the sets that `detokenize` uses
   */
  constructor(side, counts, joining) {
    this.case = side.case;
    this.rules = side.rules ? new WordRules(side.rules) : new SymbolRules();
    this.vocabulary = side.vocabulary;
    this.tokens = side.vocabulary.tokens;
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    this.specialIds = new Set(side.special_ids);
    this.scores = side.scores && new Map(this.tokens.map((token, id) => [token, side.scores[id]]));
    this.spelling = side.spelling;
    this.counts = counts;
    this.joining = { ...joining, clitic_heads: new Map(Object.entries(joining.clitic_heads)) };
  }

  /** The text without line breaks, tabs, byte-order marks and broken characters; none is shorter. */
  oneLine(text) {
    return text.toWellFormed().replace(LINE_BREAKS, " ");
  }

  /**
   * @param {string} line see `oneLine`
   * @param {boolean} beginsSentence whether the capital of its first word carries no information
   * @returns {EncodedWord[]}
   */
  encode(line, beginsSentence = true) {
    const tokens = this.rules.tokens(line).filter((token) => !IS_SPACE.test(token.text));
    return tokens.map((token, index) => {
      let word = token.text.normalize("NFC");
      if (this.case === "lower") word = word.toLowerCase();
      else if (this.case === "sentence" && index === 0 && beginsSentence) {
        const [first] = word;
        word = first.toLowerCase() + word.slice(first.length);
      }
      return this.encodeWord(word, token);
    });
  }

  encodeWord(text, token) {
    const spelled = this.spelled(text);
    const pieces = this.scores ? this.piecesOf(spelled) : [spelled];
    const unknown = this.vocabulary.unknown_id;
    const word = { text, start: token.start, end: token.start + token.text.length };
    const ids = pieces.map((piece) => this.ids.get(piece) ?? unknown);
    if (ids.some((id) => id === null || (id !== unknown && this.specialIds.has(id)))) {
      // no symbol, or a special token
      return { ...word, ids: [], labels: [], unknown: [], readAs: null };
    }
    const labels = pieces.map((piece) => this.pieceLabel(piece));
    return {
      ...word,
      ids,
      labels,
      unknown: ids.map((id) => id === unknown),
      readAs: spelled === text ? null : spelled,
    };
  }

  /** The most frequent known spelling of a word; the word itself unless that is far more frequent. */
  spelled(word) {
    const typed = this.counts.get(word) ?? 0;
    if (!this.spelling || typed >= this.spelling.slips_below) return word;
    const { replacements, max_places: most, times_as_frequent: times } = this.spelling;
    const parts = word.split(new RegExp(`(${Object.keys(replacements).join("|")})`));
    const places = parts.length >> 1;
    if (places < 1 || places > most) return word;
    let spellings = [""];
    parts.forEach((part, index) => {
      const choices = index % 2 ? [part, replacements[part]] : [part];
      spellings = spellings.flatMap((before) => choices.map((choice) => before + choice));
    });
    let best = word;
    let highest = 0;
    for (const each of spellings) {
      const count = this.counts.get(each) ?? 0;
      if (count > highest) [best, highest] = [each, count];
    }
    return highest >= times * typed ? best : word;
  }

  /** The pieces of a word: the pair with the best score is merged first, the leftmost of equals. */
  piecesOf(word) {
    const symbols = [WORD_MARK, ...word.replaceAll(WORD_MARK, "_")];
    for (;;) {
      let place = -1;
      let best = -Infinity;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const score = this.scores.get(symbols[i] + symbols[i + 1]) ?? -Infinity;
        if (score > best) [place, best] = [i, score];
      }
      if (place < 0) break;
      symbols.splice(place, 2, symbols[place] + symbols[place + 1]);
    }
    const pieces = [];
    let isUnknown = false;
    for (const symbol of symbols) {
      // sentencepiece joins neighbours that it does not know
      const wasUnknown = isUnknown;
      isUnknown = !this.ids.has(symbol);
      if (isUnknown && wasUnknown) pieces.push(pieces.pop() + symbol);
      else pieces.push(symbol);
    }
    return pieces;
  }

  pieceLabel(piece) {
    if (!this.scores) return piece;
    return piece.startsWith(WORD_MARK) ? piece.slice(1) || WORD_MARK : CONTINUATION + piece;
  }

  /** A token for display. */
  label(id) {
    return this.specialIds.has(id) ? this.tokens[id] : this.pieceLabel(this.tokens[id]);
  }

  /** @returns {Word[]} the words that `ids` spell, without special tokens except the unknown one */
  decode(ids) {
    const words = [];
    ids.forEach((id, index) => {
      if (this.specialIds.has(id) && id !== this.vocabulary.unknown_id) return;
      const piece = this.tokens[id];
      if (this.scores && words.length && !piece.startsWith(WORD_MARK)) {
        const last = words.at(-1);
        last.text += piece;
        last.end = index + 1;
      } else words.push({ text: piece.startsWith(WORD_MARK) ? piece.slice(1) : piece, start: index, end: index + 1 });
    });
    return words.filter((word) => word.text);
  }

  /** The readable sentence that `ids` spell. */
  textOf(ids) {
    const words = this.decode(ids).map((word) => word.text);
    const { end_id: end, start_id: start } = this.vocabulary;
    if (end === null) words.unshift(this.tokens[start]); // a symbol of the copy task, and part of its answer
    if (end === null && !this.scores) return words.join(" ");
    const text = this.detokenize(words.filter((word) => !IS_SPACE.test(word)));
    return this.case === "keep" ? text : text.replace(/[\p{L}\p{N}]/u, (letter) => letter.toUpperCase());
  }

  /** A sentence of tokens: no space before a full stop, none inside quotation marks, "t-shirt" in one. */
  detokenize(tokens) {
    const { no_space_before, no_space_after, joins_both, straight_quotes, clitic_heads } = this.joining;
    const open = new Set();
    let text = "";
    let gluesNext = true;
    tokens.forEach((token, index) => {
      const previous = index ? tokens[index - 1] : "";
      const next = tokens[index + 1] ?? "";
      const isQuote = straight_quotes.includes(token);
      const isPossessive = token === "'" && previous.endsWith("s") && !tokens.slice(0, index).includes("'");
      const closes = isQuote && (open.has(token) || isPossessive);
      const opens = isQuote && !closes;
      const joins = joins_both.includes(token) && /[\p{L}\p{N}]$/u.test(previous) && /^[\p{L}\p{N}]/u.test(next);
      const attaches = ["st", "nd", "rd", "th"].includes(token)
        ? /^\p{Nd}+$/u.test(previous)
        : no_space_before.includes(token) || (clitic_heads.get(previous.toLowerCase()) ?? []).includes(token);
      text += gluesNext || closes || joins || attaches ? token : ` ${token}`;
      gluesNext = opens || joins || no_space_after.includes(token);
      if (opens) open.add(token);
      else if (closes) open.delete(token);
    });
    return text;
  }
}
