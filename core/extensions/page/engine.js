/**
 * The forward pass of a checkpoint and greedy decoding, equal to `core/model` and `core/translation/decoding.py`.
 *
 * Matrices are flat arrays, row after row. Shape legend: S source length, T decoding steps, D width, H heads,
 * V tokens of the vocabulary; Q queries and M keys of an attention.
 */

/**
 * @typedef {Object} Changes The interventions in one sentence. Parts are named as by `partName`.
 * @property {Map<string, number>} factors of the outputs of heads and feed-forward networks
 * @property {Map<string, number>} temperatures of heads
 * @property {Map<string, Map<number, number[]>>} rows weights instead of the softmax's, by head and query
 *
 * @typedef {Object} Encoding
 * @property {number} length S
 * @property {Float32Array[]} memory keys and values of each layer's cross-attention, [S, 2 · D]
 * @property {Float32Array} maps [L, H, S, S]
 *
 * @typedef {Object} Step One decoding step.
 * @property {number} id the chosen token
 * @property {number} logProbability its natural log
 * @property {{id: number, logProbability: number}[]} alternatives the best tokens that may be chosen, best first
 */

const NUM_ALTERNATIVES = 10;

/**
 * The name of a head (`cross 1 4`) or, without one, of a feed-forward network (`decoder 1`); counted from 0.
 *
 * @param {string} kindOrSide
 * @param {number} layer
 * @param {number | null} head
 */
export function partName(kindOrSide, layer, head = null) {
  return head === null ? `${kindOrSide} ${layer}` : `${kindOrSide} ${layer} ${head}`;
}

/**
 * x · Wᵀ + b with the rows [first, first + M) of W. Tiles of 4 rows of W and 2 rows of x: each number that is read enters
 * several sums, and no addition waits for the previous one. At the edge, a row of W is computed more than once.
 *
 * @param {Float32Array} x [n, N]
 * @param {number} n
 * @param {Float32Array} W [≥ first + M, N]
 * @param {Float32Array | undefined} b [≥ first + M]
 * @param {number} N
 * @param {number} M
 * @param {number} first
 * @returns {Float32Array} [n, M]
 */
function linear(x, n, W, b, N, M, first = 0) {
  const y = new Float32Array(n * M);
  const wide = new Float64Array(x); // converted once, not in each product
  for (let m0 = 0; m0 < M; m0 += 4) {
    const m1 = Math.min(m0 + 1, M - 1);
    const m2 = Math.min(m0 + 2, M - 1);
    const m3 = Math.min(m0 + 3, M - 1);
    const w0 = (first + m0) * N;
    const w1 = (first + m1) * N;
    const w2 = (first + m2) * N;
    const w3 = (first + m3) * N;
    const b0 = b ? b[first + m0] : 0;
    const b1 = b ? b[first + m1] : 0;
    const b2 = b ? b[first + m2] : 0;
    const b3 = b ? b[first + m3] : 0;
    let r = 0;
    for (; r + 2 <= n; r += 2) {
      const x0 = r * N;
      const x1 = x0 + N;
      let s0 = b0;
      let s1 = b1;
      let s2 = b2;
      let s3 = b3;
      let t0 = b0;
      let t1 = b1;
      let t2 = b2;
      let t3 = b3;
      for (let k = 0; k < N; k++) {
        const u = wide[x0 + k];
        const v = wide[x1 + k];
        const c0 = W[w0 + k];
        const c1 = W[w1 + k];
        const c2 = W[w2 + k];
        const c3 = W[w3 + k];
        s0 += u * c0;
        s1 += u * c1;
        s2 += u * c2;
        s3 += u * c3;
        t0 += v * c0;
        t1 += v * c1;
        t2 += v * c2;
        t3 += v * c3;
      }
      const y0 = r * M;
      const y1 = (r + 1) * M;
      y[y0 + m0] = s0;
      y[y0 + m1] = s1;
      y[y0 + m2] = s2;
      y[y0 + m3] = s3;
      y[y1 + m0] = t0;
      y[y1 + m1] = t1;
      y[y1 + m2] = t2;
      y[y1 + m3] = t3;
    }
    if (r === n) continue;
    const x0 = r * N;
    let s0 = b0;
    let s1 = b1;
    let s2 = b2;
    let s3 = b3;
    for (let k = 0; k < N; k++) {
      const u = wide[x0 + k];
      s0 += u * W[w0 + k];
      s1 += u * W[w1 + k];
      s2 += u * W[w2 + k];
      s3 += u * W[w3 + k];
    }
    y[r * M + m0] = s0;
    y[r * M + m1] = s1;
    y[r * M + m2] = s2;
    y[r * M + m3] = s3;
  }
  return y;
}

/** The error function, to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26). */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

const ACTIVATIONS = {
  relu: (x) => (x > 0 ? x : 0),
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  "gelu-tanh": (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  swish: (x) => x / (1 + Math.exp(-x)),
};

/** The vector [D] of a position in waves, rounded to single precision where PyTorch rounds. */
function wave(position, width, isHalves) {
  const values = new Float32Array(width);
  const step = Math.fround(-Math.log(10000) / width);
  for (let i = 0; i < width; i += 2) {
    const angle = isHalves
      ? position / 10000 ** (i / width)
      : Math.fround(position * Math.fround(Math.exp(Math.fround(i * step))));
    const [sine, cosine] = isHalves ? [i / 2, Math.ceil(width / 2) + i / 2] : [i, i + 1];
    values[sine] = Math.sin(angle);
    if (cosine < width) values[cosine] = Math.cos(angle);
  }
  return values;
}

/** An encoder–decoder Transformer. It is not changed after it was made. */
export class Transformer {
  /**
   * @param {Object} config the settings of `ModelConfig` by name
   * @param {Object<string, Float32Array>} parameters by name, shared ones once
   */
  constructor(config, parameters) {
    this.config = config;
    this.parameters = parameters;
    this.width = config.width;
    this.decoderHeads = config.num_decoder_heads ?? config.num_heads;
    this.targetTokens = parameters["target_embedding.tokens.weight"] ?? parameters["source_embedding.tokens.weight"];
    this.output = parameters["output.weight"] ?? this.targetTokens;
    this.numTokens = this.output.length / this.width;
    this.activate = ACTIVATIONS[config.activation];
  }

  /** The vectors [N, D] of ids, whose positions start at `first`. */
  embed(side, ids, first) {
    const D = this.width;
    const states = new Float32Array(ids.length * D);
    const tokens = this.parameters[`${side}_embedding.tokens.weight`] ?? this.targetTokens;
    const learned = this.parameters[`${side}_embedding.positions`];
    const scale = this.config.scale_embeddings ? Math.sqrt(D) : 1;
    const isHalves = this.config.positions === "sinusoidal-halves";
    ids.forEach((id, row) => {
      const at = first + row;
      const place = learned ? learned.subarray(at * D, (at + 1) * D) : wave(at, D, isHalves);
      for (let k = 0; k < D; k++) states[row * D + k] = Math.fround(tokens[id * D + k] * scale) + place[k];
    });
    return states;
  }

  /** The norm of n rows: `nn.LayerNorm`, JoeyNMT's, or that of The Annotated Transformer. */
  norm(x, n, name) {
    const D = this.width;
    const y = new Float32Array(n * D);
    const kind = this.config.norm_kind;
    const gain = this.parameters[`${name}.weight`];
    const bias = this.parameters[`${name}.bias`];
    for (let r = 0; r < n; r++) {
      let mean = 0;
      let squares = 0;
      for (let k = 0; k < D; k++) mean += x[r * D + k];
      mean /= D;
      for (let k = 0; k < D; k++) squares += (x[r * D + k] - mean) ** 2;
      const deviation =
        kind === "annotated"
          ? Math.sqrt(squares / (D - 1)) + 1e-6
          : Math.sqrt(squares / D + (kind === "torch-1e-6" ? 1e-6 : 1e-5));
      for (let k = 0; k < D; k++) y[r * D + k] = ((x[r * D + k] - mean) / deviation) * gain[k] + bias[k];
    }
    return y;
  }

  /** The norm after a stack, if the model has one. */
  finalNorm(x, n, side) {
    return this.config.final_norm ? this.norm(x, n, `${side}_norm`) : x;
  }

  /** A sublayer of n rows with its residual connection and norm; `states` are changed. */
  residual(states, n, name, sublayer) {
    const isPre = this.config.norm_position === "pre";
    const output = sublayer(isPre ? this.norm(states, n, `${name}.norm`) : states);
    for (let i = 0; i < states.length; i++) states[i] += output[i];
    return isPre ? states : this.norm(states, n, `${name}.norm`);
  }

  /** The rows [first, last) of a projection for queries, keys and values. */
  project(x, n, name, first, last) {
    const weight = this.parameters[`${name}.in_proj_weight`];
    const bias = this.parameters[`${name}.in_proj_bias`];
    return linear(x, n, weight, bias, this.width, last - first, first);
  }

  dense(x, n, name, width) {
    const bias = this.parameters[`${name}.bias`];
    return linear(x, n, this.parameters[`${name}.weight`], bias, width, bias.length);
  }

  /** The residual step of a feed-forward network. */
  feedForward(states, n, side, layer, changes) {
    const name = `${side}_layers.${layer}.feed_forward`;
    const factor = changes.factors.get(partName(side, layer)) ?? 1;
    return this.residual(states, n, `${name}_residual`, (x) => {
      const inner = this.dense(x, n, `${name}.expand`, this.width);
      for (let i = 0; i < inner.length; i++) inner[i] = this.activate(inner[i]);
      const output = this.dense(inner, n, `${name}.contract`, inner.length / n);
      if (factor !== 1) for (let i = 0; i < output.length; i++) output[i] *= factor;
      return output;
    });
  }

  /**
   * The heads of one attention: mixed values [n, D], and the weights [H, n, m].
   *
   * @param {{kind: string, layer: number, numHeads: number, changes: Changes, first: number}} of `first`: the position
   *     of the first query
   * @param {{data: Float32Array, stride: number, count: number}} queries
   * @param {{data: Float32Array, stride: number, count: number}} memory keys, and after D numbers values
   */
  attend({ kind, layer, numHeads, changes, first }, queries, memory) {
    const D = this.width;
    const K = D / numHeads;
    const n = queries.count;
    const m = memory.count;
    const mixed = new Float32Array(n * D);
    const weights = new Float32Array(numHeads * n * m);
    const q = queries.data;
    const kv = memory.data;
    for (let h = 0; h < numHeads; h++) {
      const name = partName(kind, layer, h);
      const factor = changes.factors.get(name) ?? 1;
      const divisor = Math.sqrt(K) * (changes.temperatures.get(name) ?? 1);
      const set = changes.rows.get(name);
      for (let r = 0; r < n; r++) {
        const row = weights.subarray((h * n + r) * m, (h * n + r + 1) * m);
        const a = r * queries.stride + h * K;
        const given = set?.get(first + r);
        if (given) row.set(given);
        else {
          let best = -Infinity;
          let sum = 0;
          for (let c = 0; c < m; c++) {
            const b = c * memory.stride + h * K;
            let score = 0;
            for (let k = 0; k < K; k++) score += q[a + k] * kv[b + k];
            row[c] = score / divisor;
            if (row[c] > best) best = row[c];
          }
          for (let c = 0; c < m; c++) sum += row[c] = Math.exp(row[c] - best);
          for (let c = 0; c < m; c++) row[c] /= sum;
        }
        if (factor === 0) continue;
        for (let c = 0; c < m; c++) {
          const b = c * memory.stride + D + h * K;
          const w = row[c] * factor;
          for (let k = 0; k < K; k++) mixed[r * D + h * K + k] += w * kv[b + k];
        }
      }
    }
    return { mixed, weights };
  }

  /**
   * @param {number[]} ids S of them
   * @param {Changes} changes
   * @returns {Encoding}
   */
  encode(ids, changes) {
    const D = this.width;
    const S = ids.length;
    const { num_encoder_layers: numLayers, num_heads: numHeads } = this.config;
    const maps = new Float32Array(numLayers * numHeads * S * S);
    let states = this.embed("source", ids, 0);
    for (let layer = 0; layer < numLayers; layer++) {
      const name = `encoder_layers.${layer}`;
      states = this.residual(states, S, `${name}.attention_residual`, (x) => {
        const data = this.project(x, S, `${name}.self_attention`, 0, 3 * D);
        const memory = { data: data.subarray(D), stride: 3 * D, count: S };
        const of = { kind: "encoder", layer, numHeads, changes, first: 0 };
        const { mixed, weights } = this.attend(of, { ...memory, data }, memory);
        maps.set(weights, layer * weights.length);
        return this.dense(mixed, S, `${name}.self_attention.out_proj`, D);
      });
      states = this.feedForward(states, S, "encoder", layer, changes);
    }
    const output = this.finalNorm(states, S, "encoder");
    const memory = Array.from({ length: this.config.num_decoder_layers }, (_, layer) =>
      this.project(output, S, `decoder_layers.${layer}.cross_attention`, D, 3 * D),
    );
    return { length: S, memory, maps };
  }
}

/** Reads the target token by token, and keeps keys and values of those already read. */
export class Decoder {
  /**
   * @param {Transformer} model
   * @param {Encoding} encoding
   * @param {Changes} changes
   * @param {number} maxSteps the largest number of tokens to read
   */
  constructor(model, encoding, changes, maxSteps) {
    const D = model.width;
    this.model = model;
    this.encoding = encoding;
    this.changes = changes;
    this.step = 0;
    /** @type {{past: Float32Array, source: Float32Array, decoder: Float32Array[], cross: Float32Array[]}[]} */
    this.layers = encoding.memory.map((source) => ({
      past: new Float32Array(maxSteps * 3 * D),
      source,
      decoder: [], // weights of each step, [H, step + 1]
      cross: [], // [H, S]
    }));
  }

  /** The logits [V] after one more token. */
  read(id) {
    const { model, step } = this;
    const D = model.width;
    let states = model.embed("target", [id], step);
    this.layers.forEach((cache, layer) => {
      const name = `decoder_layers.${layer}`;
      states = model.residual(states, 1, `${name}.self_residual`, (x) => {
        cache.past.set(model.project(x, 1, `${name}.self_attention`, 0, 3 * D), step * 3 * D);
        const memory = { data: cache.past.subarray(D), stride: 3 * D, count: step + 1 };
        return this.attend("decoder", layer, cache.past.subarray(step * 3 * D), memory);
      });
      states = model.residual(states, 1, `${name}.cross_residual`, (x) => {
        const queries = model.project(x, 1, `${name}.cross_attention`, 0, D);
        return this.attend("cross", layer, queries, { data: cache.source, stride: 2 * D, count: this.encoding.length });
      });
      states = model.feedForward(states, 1, "decoder", layer, this.changes);
    });
    this.step++;
    const hidden = model.finalNorm(states, 1, "decoder");
    return linear(hidden, 1, model.output, model.parameters["output.bias"], D, model.numTokens);
  }

  attend(kind, layer, data, memory) {
    const { model, changes, step: first } = this;
    const part = kind === "cross" ? "cross_attention" : "self_attention";
    const of = { kind, layer, numHeads: model.decoderHeads, changes, first };
    const { mixed, weights } = model.attend(of, { data, stride: 0, count: 1 }, memory);
    this.layers[layer][kind].push(weights);
    return model.dense(mixed, 1, `decoder_layers.${layer}.${part}.out_proj`, model.width);
  }

  /** The maps of one kind after T tokens: [L, H, T, T] or [L, H, T, S]; zero above the diagonal. */
  maps(kind) {
    const T = this.step;
    const H = this.model.decoderHeads;
    const width = kind === "cross" ? this.encoding.length : T;
    const maps = new Float32Array(this.layers.length * H * T * width);
    this.layers.forEach((cache, layer) =>
      cache[kind].forEach((weights, step) => {
        const m = weights.length / H;
        for (let h = 0; h < H; h++) {
          maps.set(weights.subarray(h * m, (h + 1) * m), ((layer * H + h) * T + step) * width);
        }
      }),
    );
    return maps;
  }
}

/**
 * The most probable token at each step, the lowest id of equals.
 *
 * @param {Decoder} decoder at its start
 * @param {Object} rules the fields of `DecodingRules`
 * @param {Map<number, number>} forced ids by step
 * @param {number} limit the largest number of tokens
 * @returns {Step[] | null} null if a logit is not finite
 */
export function greedy(decoder, rules, forced, limit) {
  const later = new Set(rules.forbidden_ids);
  const early = new Set(later).add(rules.end_id);
  const steps = [];
  for (let step = 0, read = rules.start_id; step < limit; step++) {
    const logits = decoder.read(read);
    const found = describe(logits, step < rules.min_steps ? early : later);
    if (found === null) return null;
    const lastOne = rules.forces_end && step === limit - 1 ? rules.end_id : null;
    const id = forced.get(step) ?? lastOne ?? found.alternatives[0].id;
    steps.push({ id, logProbability: logits[id] - found.logSum, alternatives: found.alternatives });
    if (id === rules.end_id) break;
    read = id;
  }
  return steps;
}

/** The best tokens that are not forbidden, and log Σ exp of the logits [V]; null if one is not finite. */
function describe(logits, forbidden) {
  let largest = -Infinity;
  let sum = 0;
  for (const value of logits) {
    if (!Number.isFinite(value)) return null;
    if (value > largest) largest = value;
  }
  const best = [];
  for (let id = 0; id < logits.length; id++) {
    const value = logits[id];
    sum += Math.exp(value - largest);
    if ((best.length === NUM_ALTERNATIVES && value <= best.at(-1).value) || forbidden.has(id)) continue;
    const place = best.findIndex((each) => each.value < value);
    best.splice(place < 0 ? best.length : place, 0, { id, value });
    if (best.length > NUM_ALTERNATIVES) best.pop();
  }
  const logSum = largest + Math.log(sum);
  return { logSum, alternatives: best.map(({ id, value }) => ({ id, logProbability: value - logSum })) };
}
