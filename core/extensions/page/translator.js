/** From an experiment, in the form of `experiment_to_json`, to its translation: what `core/translation` does. */

import { Decoder, Transformer, greedy, partName } from "./engine.js";
import { fill } from "./phrases.js";
import { SourceReader, TextError, grouped, quoted } from "./source.js";
import { TextCodec } from "./text.js";

/**
 * @typedef {Object} Experiment `source_text`, `output` (greedy) and `interventions`, as in files of experiments
 *
 * @typedef {Object} Translation The result of an experiment; see `Translation` of `core/translation/result.py`.
 * @property {string} text
 * @property {string[]} sourceTokens S of them, wrapping tokens included
 * @property {string[]} readTokens the T tokens that the decoder reads, the start token first
 * @property {string[]} predictedTokens the T tokens that it predicts
 * @property {number[]} sourceIds
 * @property {number[]} predictedIds
 * @property {number[]} logProbabilities natural logs, T values
 * @property {{token: string, entry: string, logProbability: number}[][]} alternatives of each step, best first; `entry`
 *     is the token as a forced token names it
 * @property {import("./text.js").Word[]} sourceWords
 * @property {import("./text.js").Word[]} targetWords ranges of decoding steps
 * @property {number[]} sourcePlaces of the source words among those typed
 * @property {number[]} unknownSourcePositions
 * @property {string} ignoredText
 * @property {string[]} notes
 * @property {string} missingWords a note on words that the translation lacks; empty if it has none
 * @property {{encoder: Maps, decoder: Maps, cross: Maps}} attention of all heads
 * @property {Object[]} unreached interventions beyond the end, which changed nothing
 * @property {Object | null} coverage see `SourceReader.cover`
 *
 * @typedef {{shape: number[], values: Float32Array}} Maps [L, H, Q, M]; rows are queries
 */

/** A model with its texts, ready to translate. */
export class Translator {
  /**
   * @param {Object} description the JSON that `core/extensions/page/packing.py` wrote
   * @param {Uint8Array} weights the bytes of its tensors
   */
  constructor(description, weights) {
    const { source, target, counts } = description;
    const words = new Map(counts ? Object.entries(counts.words) : []);
    this.description = description;
    this.phrases = description.phrases;
    this.rules = description.rules;
    /** @type {{key: string, encoding: import("./engine.js").Encoding | null}} */
    this.last = { key: "", encoding: null };
    this.model = new Transformer(description.model, tensorsOf(description.tensors, weights));
    this.targetCodec = new TextCodec({ ...source, ...target }, words, description.joining);
    const codec = new TextCodec(source, words, description.joining);
    this.reader = new SourceReader(codec, description.settings, this.phrases, counts && { ...counts, words });
  }

  /**
   * @param {{description: string, weights: string}} packed base64 of gzip, as `PackedModel.texts` gives them
   * @returns {Promise<Translator>}
   */
  static async open(packed) {
    const [description, weights] = await Promise.all([unpacked(packed.description), unpacked(packed.weights)]);
    return new Translator(JSON.parse(new TextDecoder().decode(description)), weights);
  }

  /**
   * @param {Experiment} experiment
   * @param {number[] | null} given ids of a translation to be read instead of choosing one
   * @returns {Translation}
   */
  run(experiment, given = null) {
    const { targetCodec: codec, rules } = this;
    const { interventions } = experiment;
    if (experiment.output.type !== "greedy") throw new TextError(this.phrases.only_greedy);
    const typed = this.reader.encode(experiment.source_text);
    const source = this.reader.edit(
      typed,
      interventions.filter((each) => each.type.startsWith("source_word_")),
    );
    const changes = this.changesOf(interventions, source.ids.length);
    const limit = given ? given.length : this.maxSteps(source);
    const decoder = new Decoder(this.model, this.encoded(source.ids, interventions, changes), changes, limit);
    const forced = given ? new Map(given.entries()) : this.forcedIds(interventions);
    const steps = greedy(decoder, rules, forced, limit);
    if (!steps) throw new TextError(this.phrases.not_finite);
    const predictedIds = steps.map((step) => step.id);
    const predictedTokens = predictedIds.map((id) => codec.label(id));
    const targetWords = codec.decode(predictedIds);
    return {
      text: codec.textOf(predictedIds),
      sourceTokens: source.labels,
      readTokens: [codec.label(rules.start_id), ...predictedTokens.slice(0, -1)],
      predictedTokens,
      sourceIds: source.ids,
      predictedIds,
      logProbabilities: steps.map((step) => step.logProbability),
      alternatives: steps.map((step) => step.alternatives.map((each) => this.alternative(each))),
      sourceWords: source.words,
      targetWords,
      sourcePlaces: source.places,
      unknownSourcePositions: source.unknownPositions,
      ignoredText: source.ignoredText,
      notes: [...source.notes, ...this.notesOnEnd(predictedIds, targetWords, limit)],
      missingWords: given ? "" : this.reader.missingWords(source, targetWords),
      attention: this.attentionOf(decoder),
      unreached: interventions.filter((each) => isBeyond(each, source.ids.length, steps.length)),
      coverage: this.reader.cover(source),
    };
  }

  /**
   * An experiment next to the same sentence with nothing changed.
   *
   * @param {Experiment} experiment
   * @param {Translation | null} known the original, if it is known
   * @returns {{changed: Translation, original: Translation, originalLogProbabilities: number[]}} the last are those of
   *     the tokens of `original` under the interventions
   */
  compare(experiment, known = null) {
    const original = known ?? this.run({ ...experiment, interventions: [] });
    if (!experiment.interventions.length) {
      return { changed: original, original, originalLogProbabilities: original.logProbabilities };
    }
    const changed = this.run(experiment);
    const isSame = String(changed.predictedIds) === String(original.predictedIds);
    const scored = isSame ? changed : this.run(experiment, original.predictedIds);
    return { changed, original, originalLogProbabilities: scored.logProbabilities };
  }

  /**
   * The interventions that write a word from a step on: one, or several for a word of several pieces.
   *
   * @param {number} step
   * @param {string} typed a token (`▁dog`, `·ing`, `<eos>`), or a word as people write it
   */
  forcedWord(step, typed) {
    const { targetCodec: codec } = this;
    const { vocabulary } = codec;
    const text = typed.toWellFormed();
    const forced = (ids) =>
      ids.map((id, offset) => ({ type: "forced_token", step: step + offset, token: codec.tokens[id] }));
    const end = vocabulary.end_id;
    const id = text === "<eos>" && end !== null ? end : codec.ids.get(text);
    if (id !== undefined && (!codec.scores || text.startsWith("▁") || codec.specialIds.has(id))) return forced([id]);
    const piece = codec.scores && text.startsWith("·") ? codec.ids.get(text.slice(1)) : undefined;
    if (piece !== undefined && !text.startsWith("·▁")) return forced([piece]);
    const words = codec.encode(text, step === 0);
    const ids = words.flatMap((word) => word.ids);
    if (!ids.length || words.some((word) => !word.ids.length || word.unknown.includes(true))) {
      const values = { text: quoted(text.trim()), count: grouped(codec.tokens.length) };
      throw new TextError(fill(this.phrases.no_forced_word, values));
    }
    return forced(ids);
  }

  /** The largest number of tokens to choose; see `max_steps` of `core/translation/compilation.py`. */
  maxSteps({ ids: { length } }) {
    const { rules } = this;
    const longest = this.description.model.max_positions;
    if (rules.end_id === null) return Math.max(1, length - 1);
    const ratio = rules.steps_per_source_token;
    const byLength = ratio === null ? 2 * length + 20 : Math.max(1, Math.floor(Math.min(ratio * length, longest)));
    return Math.min(longest, rules.max_steps ?? byLength);
  }

  /** The encoding of a source; the last one again, unless its ids or the changes in the encoder are others. */
  encoded(ids, interventions, changes) {
    const inEncoder = interventions.filter((each) => (each.head?.kind ?? each.network?.side) === "encoder");
    const key = JSON.stringify([ids, inEncoder]);
    if (this.last.key !== key) this.last = { key, encoding: this.model.encode(ids, changes) };
    return /** @type {import("./engine.js").Encoding} */ (this.last.encoding);
  }

  /** @returns {import("./engine.js").Changes} */
  changesOf(interventions, sourceLength) {
    const changes = { factors: new Map(), temperatures: new Map(), rows: new Map() };
    for (const each of interventions) {
      const name = each.head && partName(each.head.kind, each.head.layer, each.head.head);
      if (each.type === "head_scaled") changes.factors.set(name, each.factor);
      else if (each.type === "feed_forward_scaled") {
        changes.factors.set(partName(each.network.side, each.network.layer), each.factor);
      } else if (each.type === "softmax_temperature") changes.temperatures.set(name, each.temperature);
      else if (each.type === "attention_row") {
        const { kind, layer, head } = each.head;
        const count = each.weights.length;
        if (kind !== "decoder" && count !== sourceLength) {
          const values = { row: each.row + 1, head: `${kind} layer ${layer + 1} head ${head + 1}`, count };
          throw new TextError(fill(this.phrases.row_misfit, { ...values, needed: sourceLength }));
        }
        const total = each.weights.reduce((sum, weight) => sum + weight, 0);
        if (!changes.rows.has(name)) changes.rows.set(name, new Map());
        changes.rows.get(name).set(
          each.row,
          each.weights.map((weight) => weight / total),
        );
      } else if (each.type === "causal_mask_lifted") throw new TextError(this.phrases.only_greedy);
    }
    return changes;
  }

  forcedIds(interventions) {
    const { targetCodec: codec, rules } = this;
    const ids = new Map();
    for (const { type, step, token } of interventions) {
      if (type !== "forced_token") continue;
      const id = codec.ids.get(token);
      if (id === undefined || rules.forbidden_ids.includes(id)) {
        const values = { token: quoted(token), step: step + 1, count: grouped(codec.tokens.length) };
        throw new TextError(fill(this.phrases[id === undefined ? "no_forced_token" : "forbidden_token"], values));
      }
      ids.set(step, id);
    }
    return ids;
  }

  alternative({ id, logProbability }) {
    return { token: this.targetCodec.label(id), entry: this.targetCodec.tokens[id], logProbability };
  }

  notesOnEnd(ids, words, count) {
    const { rules, phrases } = this;
    if (rules.end_id !== null && ids.at(-1) !== rules.end_id) return [fill(phrases.cut_off, { count })];
    if (rules.forces_end && ids.length === count) return [fill(phrases.ended, { count })];
    return words.length ? [] : [phrases.empty];
  }

  attentionOf(decoder) {
    const { num_encoder_layers: L, num_heads: H } = this.description.model;
    const { length: S, maps } = decoder.encoding;
    const layers = decoder.layers.length;
    const heads = this.model.decoderHeads;
    const T = decoder.step;
    return {
      encoder: { shape: [L, H, S, S], values: maps.slice() }, // a worker gives its results away
      decoder: { shape: [layers, heads, T, T], values: decoder.maps("decoder") },
      cross: { shape: [layers, heads, T, S], values: decoder.maps("cross") },
    };
  }
}

function isBeyond(intervention, sourceLength, numSteps) {
  if (intervention.type === "forced_token") return intervention.step >= numSteps;
  if (intervention.type !== "attention_row") return false;
  return intervention.row >= (intervention.head.kind === "encoder" ? sourceLength : numSteps);
}

/** The bytes in base64 of gzip. `fromBase64` is much faster, and missing in older browsers. */
async function unpacked(text) {
  let bytes;
  const { fromBase64 } = /** @type {any} */ (Uint8Array);
  if (fromBase64) bytes = fromBase64.call(Uint8Array, text);
  else {
    const characters = atob(text);
    bytes = new Uint8Array(characters.length); // filled in a loop: `from` takes ten times as long
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Tensors by name. Numbers of one size lie together as planes: all first bytes, then all second ones, and so on.
 *
 * @param {{name: string, shape: number[], bytes: number}[]} tensors those of 2 bytes first, then those of 4
 * @param {Uint8Array} data
 * @returns {Object<string, Float32Array>}
 */
function tensorsOf(tensors, data) {
  /** @type {Object<string, Float32Array>} */
  const found = {};
  let first = 0;
  for (const size of [2, 4]) {
    const group = tensors.filter((each) => each.bytes === size);
    const counts = group.map((each) => each.shape.reduce((product, length) => product * length, 1));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const joined = new Uint8Array(total * size);
    for (let plane = 0; plane < size; plane++) {
      const from = first + plane * total;
      for (let i = 0; i < total; i++) joined[i * size + plane] = data[from + i];
    }
    const numbers = size === 2 ? halfToSingle(new Uint16Array(joined.buffer)) : new Float32Array(joined.buffer);
    let at = 0;
    group.forEach(({ name }, index) => {
      found[name] = numbers.subarray(at, (at += counts[index]));
    });
    first += total * size;
  }
  return found;
}

const POWERS = Float64Array.from({ length: 31 }, (_, exponent) => 2 ** (exponent - 25));

/** Numbers of half precision (IEEE 754) in single precision; all are finite. */
function halfToSingle(halves) {
  const numbers = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) {
    const bits = halves[i];
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size = exponent ? (1024 + fraction) * POWERS[exponent] : fraction * 2 ** -24;
    numbers[i] = bits & 0x8000 ? -size : size;
  }
  return numbers;
}
