/** The model in its worker, as the page asks it. */

/** A request that the model refuses; the message is for the user. */
export class Refusal extends Error {}

/** Asks the worker, one request at a time. */
export class Model {
  /** @param {string} script of the worker */
  constructor(script) {
    this.worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    /** @type {Promise<any>} */
    this.last = Promise.resolve();
    /** @type {{text: string, original: any} | null} */
    this.known = null;
    this.newest = 0;
  }

  /** @param {{description: string, weights: string}} packed */
  open(packed) {
    return this.ask("open", packed);
  }

  /**
   * The changed and the original translation; null if a newer experiment was asked for meanwhile. This is the only place
   * where late results are dropped.
   *
   * @param {import("./experiment.js").Experiment} experiment
   */
  async compare(experiment) {
    const number = ++this.newest;
    const isLate = () => number !== this.newest;
    try {
      const found = await this.ask("compare", experiment, isLate);
      if (found === null) return null;
      const text = experiment.source_text;
      const original = found.original ?? this.known?.original;
      this.known = { text, original };
      return isLate() ? null : { ...found, experiment, original, changed: found.changed ?? original };
    } catch (error) {
      if (isLate()) return null;
      throw error;
    }
  }

  /** The interventions that write a word from a step on. */
  forcedWord(step, typed) {
    return this.ask("forcedWord", { step, typed });
  }

  /** Why a text will not be read to its end, see `SourceReader`; null if the answer is no longer wanted. */
  noteOnLength(text, isUnwanted) {
    return this.ask("noteOnLength", text, isUnwanted);
  }

  /** The worker's answer; null if the request is no longer wanted when its turn comes. */
  ask(action, input, isUnwanted = () => false) {
    const answer = this.last.then(() => (isUnwanted() ? null : this.answer(action, input)));
    this.last = answer.catch(() => null);
    return answer;
  }

  answer(action, input) {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if (!data.error) resolve(data.value);
        else reject(data.isText ? new Refusal(data.error) : new Error(data.error));
      };
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.postMessage({ action, input });
    });
  }
}
