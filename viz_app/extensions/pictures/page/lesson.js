/** The scenes of a lesson above the experiment of a page. Live scenes are run by the page, others show recorded maps. */
import { byId, make } from "./elements.js";
import { addressOf } from "./experiment.js";
import { RecordedScene } from "./recorded.js";

/**
 * @typedef {import("./experiment.js").Experiment} Experiment
 *
 * @typedef {Object} Scene As `PageScene.described` of `export/page_lesson.py` writes it.
 * @property {string} title
 * @property {string} text
 * @property {string} question
 * @property {string} answer
 * @property {string[]} choices the possible answers; empty if the answer is free text
 * @property {number} right the index of the right choice
 * @property {string} reason why the scene is recorded; empty if it is live
 * @property {string} note
 * @property {Experiment} experiment
 * @property {[string, number, number]} head kind, layer, head
 * @property {"read" | "predicted"} mode the names of rows
 * @property {boolean} merges whether words are merged
 * @property {"original" | "changed" | "difference"} shown
 * @property {[number, number] | null} pinned query and key
 * @property {[string, string] | null} pointer target and style
 */

const CHANGED = "You changed this scene. “Reset to scene” takes that back, and so does another scene.";

/** The open lesson: which scene is shown, and the answers that the reader gave. */
export class Lesson {
  /** @param {import("./laboratory.js").Laboratory} laboratory runs the live scenes @param {import("./drawing.js").ColorTable} table */
  constructor(laboratory, table) {
    /** @type {{title: string, scenes: Scene[]}} */
    const { scenes } = JSON.parse(byId("lesson-data").textContent);
    this.scenes = scenes;
    this.laboratory = laboratory;
    this.table = table;
    this.place = -1;
    /** @type {Map<number, HTMLElement>} */
    this.questions = new Map();
    const question = byId("question"); // sticky on a phone: nothing may scroll below it
    const root = document.documentElement;
    new ResizeObserver(() => root.style.setProperty("--question", `${question.offsetHeight}px`)).observe(question);
    /** @type {Map<number, RecordedScene>} */
    this.recorded = new Map();
    const name = (/** @type {Scene} */ scene, /** @type {number} */ place) =>
      new Option(`${place + 1} of ${scenes.length} · ${scene.title}`, String(place));
    byId("scene-list").replaceChildren(...scenes.map(name));
    byId("scene-list").addEventListener("change", () => this.go(Number(byId("scene-list").value)));
    byId("scene-back").addEventListener("click", () => this.go(this.place - 1));
    byId("scene-next").addEventListener("click", () => this.go(this.place + 1));
    byId("scene-reset").addEventListener("click", () => this.go(this.place));
    laboratory.addEventListener("result", () => this.compare(laboratory.experiment));
    this.enter(this.placeIn(location.hash) ?? 0);
  }

  get scene() {
    return this.scenes[this.place];
  }

  /** Whether the page runs the scene. */
  get isLive() {
    return !this.scene.reason;
  }

  /** Shows a scene as saved. */
  go(/** @type {number} */ place) {
    this.enter(place);
    const { experiment, head: found, mode, merges, shown, pinned, pointer } = this.scene;
    const [kind, layer, head] = found;
    const view = { head: { kind, layer, head }, mode, merges, shown, pinned, pointer };
    if (this.isLive) return this.laboratory.open(experiment, view);
    history.replaceState(null, "", this.address);
    return this.redraw();
  }

  /** Shows the words of a scene. */
  enter(/** @type {number} */ place) {
    this.place = Math.max(0, Math.min(this.scenes.length - 1, place));
    const { scene, scenes } = this;
    const isFirst = this.place === 0;
    const isLast = this.place === scenes.length - 1;
    const { activeElement } = document;
    byId("scene-list").value = String(this.place);
    byId("scene-back").disabled = isFirst;
    byId("scene-next").disabled = isLast;
    if (activeElement instanceof HTMLButtonElement && activeElement.disabled) byId("scene").focus();
    byId("scene-title").textContent = `${this.place + 1}. ${scene.title}`;
    byId("scene-text").textContent = scene.text;
    byId("scene-note").textContent = scene.note;
    byId("scene-recorded").textContent = scene.reason && `Recorded: this page cannot compute ${scene.reason}.`;
    if (!this.questions.has(this.place)) this.questions.set(this.place, questionOf(scene));
    byId("question").replaceChildren(this.questions.get(this.place));
    this.compare(scene.experiment);
    document.body.dataset.scene = this.isLive ? "live" : "recorded";
    const sections = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("section.scene"));
    for (const section of sections) section.hidden = section.dataset.place !== String(this.place);
  }

  get address() {
    return `#scene=${this.place + 1}`;
  }

  /** The address of the scene, with an experiment that differs from the scene's. */
  addressOf(/** @type {Experiment} */ experiment) {
    return this.isChangedBy(experiment)
      ? `${this.address}&${addressOf(experiment, this.laboratory.data.kinds).slice(1)}`
      : this.address;
  }

  /** The place of the scene that an address names, such as `#scene=3`; null if it names none. */
  placeIn(/** @type {string} */ hash) {
    const number = Number(new URLSearchParams(hash.replace(/^#/, "")).get("scene"));
    return this.scenes[number - 1] ? number - 1 : null;
  }

  isChangedBy(/** @type {Experiment} */ experiment) {
    return this.isLive && JSON.stringify(experiment) !== JSON.stringify(this.scene.experiment);
  }

  /** Tells the reader whether an experiment in use differs from the scene's. */
  compare(/** @type {Experiment} */ experiment) {
    const isChanged = this.isChangedBy(experiment);
    if (!isChanged && document.activeElement === byId("scene-reset")) byId("scene").focus(); // not lost
    byId("scene-reset").hidden = !isChanged;
    byId("scene-changed").textContent = isChanged ? CHANGED : "";
  }

  /** Draws the recorded maps of the scene, if it has any, in the present theme. */
  redraw() {
    const section = document.querySelector(`section.scene[data-place="${this.place}"]`);
    if (!section) return;
    const recorded = this.recorded.get(this.place);
    if (recorded) recorded.refresh();
    else this.recorded.set(this.place, new RecordedScene(section, this.table));
  }
}

/** The question of a scene, with its choices or room for an answer, and the answer on request. */
function questionOf(/** @type {Scene} */ scene) {
  if (!scene.question) return make("form");
  const verdict = make("p", { className: "verdict", role: "status" });
  const choices = scene.choices.map((choice, value) =>
    make("label", {}, make("input", { type: "radio", name: "choice", value }), choice),
  );
  const field = make("label", {}, "Your answer", make("textarea", { rows: 2 }));
  const offered = choices.length
    ? [...choices, make("button", {}, "Check")]
    : [field, make("button", {}, "Show the answer")];
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const chosen = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("choice");
    if (!choices.length) verdict.textContent = scene.answer;
    else if (chosen === null) verdict.textContent = "Choose an answer first.";
    else {
      verdict.replaceChildren(
        make("strong", {}, Number(chosen) === scene.right ? "Right." : "No."),
        ` ${scene.answer}`,
      );
    }
  };
  const legend = make("legend", {}, scene.question);
  return make("form", { on: { submit } }, make("fieldset", {}, legend, ...(scene.answer ? [...offered, verdict] : [])));
}
