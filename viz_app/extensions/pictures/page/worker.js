/** The side of the page that computes, in a worker. */

/**
 * Answers the page's requests. Results are transferred, not copied; the original of a sentence is sent once.
 *
 * @param {{Translator: any, TextError: any}} engine see `engine_script` of `core/extensions/page/packing.py`
 */
export function serve({ Translator, TextError }) {
  /** @type {any} */
  let translator = null;
  /** @type {{text: string, original: any} | null} */
  let known = null;
  const buffersOf = (/** @type {any} */ translation) =>
    Object.values(translation.attention).map(({ values }) => values.buffer);
  const actions = {
    /** @param {{description: string, weights: string}} packed */
    async open(packed) {
      translator = await Translator.open(packed);
      return { value: null, transfer: [] };
    },
    compare(/** @type {any} */ experiment) {
      const text = experiment.source_text;
      const original = known?.text === text ? known?.original : null;
      const value = translator.compare(experiment, original);
      const sent = { ...value, original: original ? null : value.original };
      if (value.changed === original) sent.changed = null;
      known = { text, original: value.original };
      const fresh = new Set([sent.changed, sent.original].filter(Boolean));
      return { value: sent, transfer: [...fresh].flatMap(buffersOf) };
    },
    noteOnLength(/** @type {string} */ text) {
      return { value: translator.reader.noteOnLength(text), transfer: [] };
    },
    forcedWord(/** @type {{step: number, typed: string}} */ { step, typed }) {
      return { value: translator.forcedWord(step, typed), transfer: [] };
    },
  };
  onmessage = async ({ data: { action, input } }) => {
    try {
      const { value, transfer } = await actions[action](input);
      postMessage({ value }, transfer);
    } catch (error) {
      postMessage({ error: error.message, isText: error instanceof TextError });
    }
  };
}
