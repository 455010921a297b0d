/** Typed text as the source of a model, with notes on problems: the steps of `core/translation/typed_text.py`. */

import { corrected } from "./corrections.js";
import { missingWordsNote } from "./missing_words.js";
import { fill } from "./phrases.js";
import { splitAtSpaces } from "./text.js";

const UNKNOWN = "<unk>";
const LONGEST_QUOTE = 60;
const NUM_LISTED = 8;

/** An input that cannot be translated. The message is for the reader. */
export class TextError extends Error {}

/**
 * @typedef {Object} Source A text ready for the encoder.
 * @property {string} text as typed
 * @property {number[]} ids wrapping tokens included
 * @property {string[]} labels the same for display
 * @property {import("./text.js").Word[]} words
 * @property {import("./text.js").EncodedWord[]} encoded the same words as the model reads them
 * @property {number[]} places for each word its place among those typed
 * @property {number[]} unknownPositions indices into `ids`
 * @property {string} ignoredText the end of the text that did not fit
 * @property {string[]} notes
 */

/** Encodes sources of one model. */
export class SourceReader {
  /**
   * @param {import("./text.js").TextCodec} codec
   * @param {Object} settings `wrap_source`, `end_source`, `max_positions`, `fewest_words`, `expectation`, `limits`,
   *   `corrections`, `missing_words`
   * @param {Object<string, string>} phrases of `core/text/phrases.py`
   * @param {Object | null} counts `kind`, `least`, `unusual_below` and `words`, a Map, of the training data
   */
  constructor(codec, settings, phrases, counts) {
    this.codec = codec;
    this.settings = settings;
    this.phrases = phrases;
    this.counts = counts;
  }

  say(name, values) {
    return fill(this.phrases[name], { expectation: this.settings.expectation, ...values });
  }

  /**
   * @param {string} text as typed
   * @returns {Source} without the end of the text if it does not fit
   */
  encode(text) {
    const { codec, settings } = this;
    this.checkAmount(text);
    const found = codec.encode(codec.oneLine(text));
    const readable = found.filter((word) => word.ids.length);
    if (readable.length < settings.fewest_words) {
      throw new TextError(this.say(readable.length ? "too_little" : "nothing", { text: quoted(shorten(text)) }));
    }
    const { room } = this;
    const kept = fitting(readable, room, text);
    const isCut = kept[0] !== readable[0];
    const notes = [];
    if (text.trim().split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/).length > 1) notes.push(this.say("line_breaks"));
    const unread = found.filter((word) => !word.ids.length);
    if (unread.length) notes.push(this.say("unreadable", { words: this.listed(unread) }));
    notes.push(...this.notesOnUnknown(kept));
    const hint = this.hintOn(found, readable[0]);
    if (hint) notes.push(hint);
    let ignoredText = "";
    if (isCut || kept.length < readable.length) {
      ignoredText = text.slice(isCut ? kept[0].end : readable[kept.length].start);
      const values = { kept: kept.length, count: readable.length, room, text: shorten(ignoredText) };
      notes.push(this.say(isCut ? "cut_word" : "cut_words", values));
    }
    return this.assemble(
      text,
      kept.map((word, place) => [place, word]),
      ignoredText,
      notes,
    );
  }

  /** The number of tokens that a source may have without the wrapping ones. */
  get room() {
    const { wrap_source: wraps, end_source: ends, max_positions } = this.settings;
    return max_positions - (wraps ? 2 : ends ? 1 : 0);
  }

  /** Why a text will not be read to its end; empty if it will. @param {string} text as typed so far */
  noteOnLength(text) {
    const { room } = this;
    if (2 * text.length <= room) return ""; // a character has two tokens at most, one of them the mark of a word
    try {
      return this.encode(text).ignoredText && this.say("reads_up_to", { room });
    } catch (error) {
      if (error instanceof TextError) return error.message;
      throw error;
    }
  }

  /** Advice to type something else: the first symbol of the copy task, or the source language; empty if none. */
  hintOn(found, first) {
    const { copies_symbols, languages, language } = this.settings;
    const { start_id, tokens } = this.codec.vocabulary;
    if (copies_symbols && String(first.ids) !== String(start_id)) {
      return this.say("copy_start", { start: tokens[start_id] });
    }
    const typed = new Set(found.map((word) => word.text.toLowerCase()));
    const counts = languages.map(({ words }) => words.filter((word) => typed.has(word)).length);
    const best = counts.indexOf(Math.max(...counts));
    const own = languages.findIndex(({ code }) => code === language);
    const isOther = counts[best] > (own < 0 ? typed.size : counts[own]);
    if (isOther) return this.say("other_language", { typed: languages[best].name });
    return found.some(isReadAsWord) ? "" : this.say("no_readable_word");
  }

  checkAmount(text) {
    const { max_words } = this.settings.limits;
    const words = splitAtSpaces(text);
    if (!words.length) throw new TextError(this.say("no_text"));
    if (words.length > max_words) {
      throw new TextError(this.say("many_words", { limit: grouped(max_words) }));
    }
    this.checkLength(text);
  }

  checkLength(text) {
    const { max_characters: limit, max_word_characters: wordLimit } = this.settings.limits;
    const { length } = [...text];
    const word = splitAtSpaces(text)
      .map((each) => [...each])
      .find((each) => each.length > wordLimit);
    if (length > limit) throw new TextError(this.say("long_text", { limit: grouped(limit) }));
    if (word) {
      const quote = quoted(word.slice(0, 40).join(""));
      throw new TextError(this.say("long_word", { word: quote, limit: grouped(wordLimit) }));
    }
  }

  /**
   * The source with words removed or replaced. All other words keep their ids.
   *
   * @param {Source} source as typed
   * @param {{type: string, place: number, text?: string}[]} edits at most one for each place
   */
  edit(source, edits) {
    if (!edits.length) return source;
    const byPlace = new Map(edits.map((edit) => [edit.place, edit]));
    const placed = [];
    for (const edit of edits) {
      if (source.places.includes(edit.place)) continue;
      const place = edit.place + 1;
      const values = { place, first: 1, count: source.words.length, text: quoted(shorten(source.text)) };
      values.edit = edit.type === "source_word_removed" ? `word ${place} removed` : `word ${place} → ${edit.text}`;
      throw new TextError(this.say("no_word", values));
    }
    source.encoded.forEach((word, index) => {
      const place = source.places[index];
      const edit = byPlace.get(place);
      if (!edit) placed.push([place, word]);
      else if (edit.type === "source_word_replaced") {
        placed.push(...this.replacements(edit).map((each) => [place, each]));
      }
    });
    if (placed.length < this.settings.fewest_words) {
      throw new TextError(this.say("nothing_left", { text: quoted(shorten(source.text)) }));
    }
    const before = this.notesOnUnknown(source.encoded);
    const after = this.notesOnUnknown(placed.map(([, word]) => word).filter((word) => word.text !== UNKNOWN));
    const notes = [...after, ...source.notes.filter((note) => !before.includes(note))];
    const edited = this.assemble(source.text, placed, source.ignoredText, notes);
    const room = this.settings.max_positions;
    if (edited.ids.length > room) throw new TextError(this.say("no_room", { count: edited.ids.length, room }));
    return edited;
  }

  /**
   * @param {{place: number, text?: string}} edit
   * @returns {import("./text.js").EncodedWord[]} the words of its text
   */
  replacements({ text = "", place }) {
    const { codec } = this;
    const unknown = codec.vocabulary.unknown_id;
    this.checkLength(text);
    if (text === UNKNOWN && unknown !== null) {
      return [{ text, ids: [unknown], labels: [text], unknown: [true], start: 0, end: 0, readAs: null }];
    }
    const readable = codec.encode(codec.oneLine(text), place === 0).filter((word) => word.ids.length);
    if (!readable.length) {
      throw new TextError(this.say("no_replacement", { text: quoted(shorten(text)), place: place + 1 }));
    }
    return readable;
  }

  /** @returns {Source} */
  assemble(text, placed, ignoredText, notes) {
    const { vocabulary } = this.codec;
    const { wrap_source: wraps, end_source: ends } = this.settings;
    const start = vocabulary.start_id;
    const end = vocabulary.end_id;
    const ids = wraps ? [start] : [];
    const labels = wraps ? [vocabulary.tokens[start]] : [];
    const words = [];
    const unknownPositions = [];
    for (const [, word] of placed) {
      words.push({ text: word.text, start: ids.length, end: ids.length + word.ids.length });
      word.unknown.forEach((isUnknown, offset) => isUnknown && unknownPositions.push(ids.length + offset));
      ids.push(...word.ids);
      labels.push(...word.labels);
    }
    if ((wraps || ends) && end !== null) {
      ids.push(end);
      labels.push(vocabulary.tokens[end]);
    }
    const encoded = placed.map(([, word]) => word);
    const places = placed.map(([place]) => place);
    return { text, ids, labels, words, encoded, places, unknownPositions, ignoredText, notes };
  }

  notesOnUnknown(words) {
    const unknown = words.filter((word) => word.unknown.includes(true));
    const wholly = unknown.filter((word) => !word.unknown.includes(false));
    const partly = unknown.filter((word) => !wholly.includes(word));
    const notes = wholly.length ? [this.say("unknown", { words: this.listed(wholly) })] : [];
    return partly.length ? [...notes, this.say("partly_unknown", { words: this.listed(partly) })] : notes;
  }

  listed(words) {
    const different = [...new Set(words.map((word) => word.text))];
    const shown = different
      .slice(0, NUM_LISTED)
      .map((word) => shorten(word))
      .join(", ");
    const count = different.length - NUM_LISTED;
    return count > 0 ? this.say("more", { words: shown, count }) : shown;
  }

  /**
   * The coverage of a source by the training data: rare and respelled words, each with an explanation.
   *
   * @param {Source} source
   * @returns {{rareWords: Object[], respelledWords: Object[], isUnlikeTraining: boolean, isForeign: boolean,
   *   hint: string, known: string, correction: {text: string, words: string[]} | null} | null} null without counts;
   *   `hint` advises to type something else, `known` says that the text has no words, or none of the training data,
   *   `correction` is the sentence without its typing errors
   */
  cover(source) {
    const { counts, settings } = this;
    if (!counts) return null;
    const rareWords = [];
    const respelledWords = [];
    source.words.forEach(({ text, start, end }, index) => {
      const encoded = source.encoded[index];
      const spelling = encoded.readAs ?? text;
      if (spelling !== text) {
        const typed = this.counts.words.get(text) ?? 0;
        const seen = this.say(typed ? "only" : "never", { times: this.times(typed) });
        const explanation = this.say("respelled", { text, read_as: spelling, seen });
        respelledWords.push({ text, readAs: spelling, start, end, explanation });
      }
      const count = this.count(spelling);
      if (count >= settings.limits.rare_below || spelling === UNKNOWN) return;
      rareWords.push({ text: spelling, count, start, end, explanation: this.explain(spelling, count, encoded) });
    });
    // repeated words count once; numbers and marks do not count
    const spellings = source.encoded.map((word) => word.readAs ?? word.text).filter((word) => /\p{L}/u.test(word));
    const different = [...new Set(spellings)];
    const rare = new Set(rareWords.map((word) => word.text));
    const numRare = different.filter((word) => rare.has(word)).length;
    const hint = this.hintIn(source.notes);
    const lacksWords = !different.length && this.isOfWords();
    const hasNoWord = lacksWords || hint === this.say("no_readable_word");
    const isUnlikeTraining = hasNoWord || this.isUnlikeTraining(different, numRare);
    // of a list of names, one word may be known: “Anna, Peter und Marie”
    const numKnown = source.encoded.filter((word) => (word.readAs ?? word.text) === ",").length > 1 ? 1 : 0;
    const isRare = numRare >= Math.max(settings.limits.fewest_foreign_words, different.length - numKnown);
    const isForeign = isUnlikeTraining && (hasNoWord || Boolean(hint) || isRare);
    const lacksKnownWords = different.length > 0 && !different.some((word) => this.count(word));
    const known = lacksWords ? this.say("no_words") : lacksKnownWords ? this.say("no_known_words") : "";
    const correction = corrected(source, rareWords, counts, settings.corrections);
    return { rareWords, respelledWords, isUnlikeTraining, isForeign, hint, known, correction };
  }

  /** The one of these notes that advises to type words, or another language; empty if none does. */
  hintIn(notes) {
    const hints = this.settings.languages.map(({ name }) => this.say("other_language", { typed: name }));
    return [this.say("no_readable_word"), ...hints].find((each) => notes.includes(each)) ?? "";
  }

  /**
   * A note on the words of a source that its translation lacks; empty if it lacks few.
   *
   * @param {Source} source
   * @param {import("./text.js").Word[]} targetWords
   */
  missingWords({ words, notes }, targetWords) {
    return this.hintIn(notes) ? "" : missingWordsNote(words, targetWords, this.settings.missing_words);
  }

  /** The count of a word in the training data; for an unlisted word, the upper limit. */
  count(word) {
    return this.counts.words.get(word) ?? this.counts.least - 1;
  }

  /** Whether most of what was counted are words, not numbers. */
  isOfWords() {
    const all = [...this.counts.words.keys()];
    return 2 * all.filter((word) => /\p{L}/u.test(word)).length > all.length;
  }

  times(count) {
    return count === 1 ? this.say("once") : this.say("times", { count });
  }

  explain(spelling, count, encoded) {
    const isExact = this.counts.least === 1 || this.counts.words.has(spelling);
    const seen = this.say(isExact ? (count ? "only" : "never") : "at_most", { times: this.times(count) });
    const pieces = encoded.labels.map((label) => label.replace(/^·(?=.)/u, "")).filter((piece) => piece !== "▁");
    if (encoded.unknown.includes(true)) return this.say("rare_unknown", { seen });
    if (pieces.length > 1) return this.say("rare_pieces", { seen, pieces: pieces.join("·") });
    return count ? seen : this.say("rare_guess", { seen });
  }

  /** Whether these words, of which some are rare, are unlike the training data. */
  isUnlikeTraining(different, numRare) {
    const fewest = this.settings.limits.fewest_rare_words;
    const { length } = different;
    if (!numRare) return false;
    const familiarity = different.reduce((sum, word) => sum + Math.log1p(this.counts.words.get(word) ?? 0), 0);
    const isUnusual = familiarity / length < this.counts.unusual_below;
    if (numRare < Math.min(fewest, length)) return length <= fewest && isUnusual;
    return 2 * numRare >= length || isUnusual;
  }
}

function shorten(text) {
  const flat = [...splitAtSpaces(text).join(" ")];
  return flat.length <= LONGEST_QUOTE ? flat.join("") : `${flat.slice(0, LONGEST_QUOTE - 1).join("")}…`;
}

/** A text in the quotation marks of Python's `repr`. */
export function quoted(text) {
  return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
}

/** A number with commas between thousands. */
export function grouped(number) {
  return number.toLocaleString("en-US");
}

/** Whether the model reads a letter or digit of a word. */
function isReadAsWord({ labels, unknown }) {
  return labels.some((label, index) => !unknown[index] && /[\p{L}\p{N}]/u.test(label));
}

/** As many whole words as fit into `room` ids; of a first word that is too long, as many pieces. */
function fitting(words, room, text) {
  const kept = [];
  let left = room;
  for (const word of words) {
    left -= word.ids.length;
    if (left < 0) return kept.length ? kept : [beginning(word, word.ids.length + left, text)];
    kept.push(word);
  }
  return kept;
}

/** The first pieces of a word, and where they end in the text. */
function beginning(word, numPieces, text) {
  const labels = word.labels.slice(0, numPieces);
  const count = (each) => [...each].length;
  let length = count((labels[0] ?? "").replaceAll("▁", ""));
  for (const label of labels.slice(1)) length += count(label.replace(/^·(?=.)/u, ""));
  let { start: end } = word;
  for (const character of text.slice(word.start, word.end)) {
    if (count(text.slice(word.start, end + character.length).normalize("NFC")) > length) break;
    end += character.length;
  }
  const cut = (each) => each && [...each].slice(0, length).join("");
  const [ids, unknown] = [word.ids.slice(0, numPieces), word.unknown.slice(0, numPieces)];
  return { text: cut(word.text), ids, labels, unknown, start: word.start, end, readAs: cut(word.readAs) };
}
