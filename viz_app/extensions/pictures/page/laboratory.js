/** What the page shows: an experiment with undo, its result, and the head and cell in view. It draws nothing. */
import { Refusal } from "./client.js";
import { ChangeTexts, History, edited, followTokens, intervene, plain, without } from "./experiment.js";
import { shownMaps } from "./selection.js";

/**
 * @typedef {import("./experiment.js").Experiment} Experiment
 * @typedef {import("./experiment.js").Head} Head
 * @typedef {import("../../../../core/extensions/page/translator.js").Translation} Translation
 * @typedef {import("./drawing.js").Drawing} Drawing
 *
 * @typedef {Object} Result
 * @property {Experiment} experiment
 * @property {Translation} changed
 * @property {Translation} original
 * @property {number[]} originalLogProbabilities under the changes
 */

/** What redraws all maps. */
const CHOICES = ["mode", "merges", "shown"];

/**
 * The state of the page. Views are told of changes: "result", "withheld", "maps" (how they are shown), "view", "busy",
 * "problem", "typed".
 */
export class Laboratory extends EventTarget {
  /**
   * @param {any} data of the page, as `running_page.py` writes it
   * @param {import("./client.js").Model} model
   */
  constructor(data, model) {
    super();
    this.data = data;
    this.model = model;
    this.texts = new ChangeTexts(data.kinds, data.phrases);
    this.history = new History(plain(""));
    /** @type {Result | null} */
    this.result = null;
    /** @type {Result | null} the answer to a text that the model surely cannot read; a message takes its place */
    this.withheld = null;
    /** whether such answers are shown: the reader asked for it, or the text was not typed */
    this.showsForeign = false;
    /** @type {Head} */
    this.head = data.head;
    this.mode = "predicted";
    this.merges = true;
    this.shown = "changed";
    /** @type {[number, number] | null} query and key */
    this.pinned = null;
    /** @type {[string, string] | null} target and style of the pointer of a scene, which follows the pinned cell */
    this.pointer = null;
    /** @type {Object} */
    this.viewNext = {};
    /** @type {{result: Result | null, choices: string, maps: Object<string, import("./selection.js").ShownMaps>}} */
    this.found = { result: null, choices: "", maps: {} };
    this.problem = "";
    /** the changes that the last request dropped or moved, in a sentence */
    this.notice = "";
    /** a text that was typed, and the note on its length */
    this.typed = { text: "", note: "" };
    this.isBusy = false;
  }

  /** The requested experiment; that of `result` once it is computed. */
  get experiment() {
    return this.history.experiment;
  }

  /** A text that is being typed, which is not translated yet. @param {string} text */
  async type(text) {
    this.set("typed", { typed: { text, note: "" } });
    const note = await this.model.noteOnLength(text, () => this.typed.text !== text);
    if (note && this.typed.text === text) this.set("typed", { typed: { text, note } });
  }

  /** The text whose answer is on the screen; undefined if there is none. */
  get answeredText() {
    return (this.withheld ?? this.result)?.experiment.source_text;
  }

  /** Another sentence, with the changes that fit it. */
  translate(text) {
    return this.show(this.experiment.source_text ? edited(this.experiment, text) : plain(text));
  }

  /** Computes an experiment, which can be undone. @param {Experiment} experiment @param {string} problem shown with it */
  show(experiment, problem = "") {
    const notice = this.result ? this.texts.dropped(this.experiment, experiment) : "";
    if (this.result) this.history.push(experiment);
    else this.history = new History(experiment); // nothing is there to return to
    return this.compute({ problem, notice, follows: true });
  }

  /** Removes all changes. */
  reset() {
    this.history.push(plain(this.experiment.source_text));
    return this.compute();
  }

  /** Shows an experiment with a history of its own. @param {Object} view what `look` takes, shown with the next result */
  open(experiment, view) {
    this.history = new History(experiment);
    this.viewNext = view;
    this.showsForeign = true;
    return this.compute();
  }

  /** Shows the withheld result, and those of the next texts that are unlike the training data. */
  showWithheld() {
    this.showsForeign = true;
    if (this.withheld) this.accept(this.withheld);
  }

  undo() {
    this.history.undo();
    return this.compute();
  }

  redo() {
    this.history.redo();
    return this.compute();
  }

  /** @param {{problem?: string, notice?: string, follows?: boolean}} how `follows`: rows move with their tokens */
  async compute({ problem = "", notice = "", follows = false } = {}) {
    this.set("busy", { isBusy: true });
    try {
      const found = await this.model.compare(this.experiment);
      if (found === null) return;
      const { coverage } = found.original;
      if (!coverage?.isUnlikeTraining) this.showsForeign = false;
      if (coverage?.isForeign && !this.showsForeign) {
        this.set("problem", { problem, notice });
        this.set("withheld", { withheld: found });
        this.set("busy", { isBusy: false });
        return;
      }
      const followed = follows && this.result && followTokens(this.experiment, this.result, found);
      if (followed) {
        this.history.experiment = followed.experiment;
        await this.compute({ problem, notice: [notice, this.texts.followed(followed)].filter(Boolean).join(" ") });
        return;
      }
      this.set("problem", { problem, notice });
      this.accept(found);
    } catch (error) {
      this.refuse(error);
    }
    this.set("busy", { isBusy: false });
  }

  /** Shows a result, with the view that waits for it. @param {Result} found */
  accept(found) {
    this.keepCell(found);
    Object.assign(this, this.viewNext);
    this.viewNext = {};
    this.withheld = null;
    this.set("result", { result: found });
  }

  /** Reports a failure; the experiment of the result becomes the requested one again. */
  refuse(error) {
    const refused = this.experiment;
    if (this.result) {
      while (this.history.past.length && this.experiment !== this.result.experiment) this.history.withdraw();
    }
    const reason = error instanceof Refusal ? error.message : `The page could not compute this: ${error.message}`;
    const notice = this.result ? this.texts.refusal(refused, this.experiment) : "";
    this.set("problem", { problem: `${reason} ${notice}`.trim(), notice: "" });
  }

  /** Shows something else. @param {Object} changed `head`, `pinned`, `pointer`, `mode`, `merges`, `shown` */
  look(changed) {
    if (changed.head && changed.head.kind !== this.head.kind && !("pinned" in changed)) changed.pinned = null;
    this.set(CHOICES.some((name) => name in changed) ? "maps" : "view", changed);
  }

  /** Sets properties, and reports it. */
  set(event, changed) {
    Object.assign(this, changed);
    this.dispatchEvent(new Event(event));
  }

  /** A pinned cell that the new maps lack is released. @param {Result} found */
  keepCell(found) {
    const [, , rows, columns] = found.changed.attention[this.head.kind].shape;
    if (this.pinned && (this.pinned[0] >= rows || this.pinned[1] >= columns)) this.pinned = null;
    if (this.result?.experiment.source_text !== found.experiment.source_text) this.pinned = null;
  }

  /** The maps of a kind as shown; found once for each result and choice. */
  maps(kind) {
    const { result, mode, merges, shown, data } = this;
    const choices = [mode, merges, shown].join();
    if (this.found.result !== result || this.found.choices !== choices) this.found = { result, choices, maps: {} };
    return (this.found.maps[kind] ??= shownMaps(/** @type {Result} */ (result), kind, { mode, merges, shown }, data));
  }

  /** Whether something is changed, so that there are maps with and without it. */
  get isChanged() {
    return this.result !== null && this.result.changed !== this.result.original;
  }

  /** The map of a head as shown. @param {Head} head @returns {Drawing} */
  drawing({ kind, layer, head }) {
    const { values, heads, rows, columns, isSigned, top, changed } = this.maps(kind);
    const size = rows.labels.length * columns.labels.length;
    const first = (layer * heads + head) * size;
    const isOf = (each) => each?.kind === kind && each.layer === layer && each.head === head;
    const made = this.isChanged && this.shown !== "original" ? (this.result?.experiment.interventions ?? []) : [];
    const ofHead = made.filter((each) => isOf(each.head));
    const forced = kind === "encoder" ? [] : made.filter((each) => each.type === "forced_token");
    const shift = this.mode === "read" ? 1 : 0;
    const bands = (queries) =>
      Array.from(rows.positions.keys(), (index) => ({ index, isRow: true })).filter(({ index }) =>
        rows.positions[index].some((query) => queries.includes(query)),
      );
    const isShown = isOf(this.head);
    return {
      values: values.subarray(first, first + size),
      rowLabels: rows.labels,
      columnLabels: columns.labels,
      rowsAre: rows.are,
      columnsAre: columns.are,
      top,
      isSigned,
      marks: {
        factor: ofHead.find((each) => each.type === "head_scaled")?.factor ?? 1,
        set: bands(ofHead.filter((each) => each.type === "attention_row").map((each) => each.row)),
        forced: bands(forced.map((each) => each.step + shift)),
        changed,
        pinned: isShown ? this.pinnedPlace : null,
        pointed: isShown ? this.pointed : null,
      },
    };
  }

  /** The row and column of the pinned query and key. @returns {[number, number] | null} */
  get pinnedPlace() {
    if (!this.pinned) return null;
    const { rows, columns } = this.maps(this.head.kind);
    const [query, key] = this.pinned;
    const row = rows.positions.findIndex((each) => each.includes(query));
    const column = columns.positions.findIndex((each) => each.includes(key));
    return row < 0 || column < 0 ? null : [row, column];
  }

  /** The query and the key of a cell; of a word of several tokens, the first. @returns {[number, number]} */
  pairAt([row, column]) {
    const { rows, columns } = this.maps(this.head.kind);
    return [rows.positions[row][0], columns.positions[column][0]];
  }

  /**
   * The pointer on the large map: style, row and column; null if it points elsewhere.
   *
   * @returns {[string, number, number | null] | null}
   */
  get pointed() {
    const [target, style] = this.pointer ?? [];
    const place = this.pinnedPlace;
    if (!place || !style || (target !== "cell" && target !== "row")) return null;
    return [style, place[0], target === "cell" ? place[1] : null];
  }

  /** The decoding step of the word that the pointer points at; null if it points elsewhere. */
  get pointedStep() {
    if (this.pointer?.[0] !== "word" || !this.pinned || this.head.kind === "encoder") return null;
    return this.pinned[0] - (this.mode === "read" ? 1 : 0);
  }

  /** The number of keys that a query of the head in view sees. */
  numSeen(row) {
    const [, , , columns] = /** @type {Result} */ (this.result).changed.attention[this.head.kind].shape;
    return this.head.kind === "decoder" ? row + 1 : columns;
  }

  /** Gives all weight of a row of the head in view to one key that its query sees. */
  moveRow(row, key) {
    const weights = Array.from({ length: this.numSeen(row) }, (_, place) => Number(place === key));
    this.look({ pinned: [row, key] });
    return this.show(intervene(this.experiment, { type: "attention_row", head: this.head, row, weights }));
  }

  /** The change of a row of the head in view, or undefined. */
  rowChange(row) {
    const { kind, layer, head } = this.head;
    return this.experiment.interventions.find(
      (each) =>
        each.type === "attention_row" &&
        each.row === row &&
        each.head.kind === kind &&
        each.head.layer === layer &&
        each.head.head === head,
    );
  }

  restoreRow(row) {
    return this.show(without(this.experiment, [this.rowChange(row)]));
  }
}
