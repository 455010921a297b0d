/** A page that runs a model: sentence, words, heads, and the address. */
import { fill } from "../../../core/page/phrases.js";
import { Model, Refusal } from "./client.js";
import { byId, closeDialog, make } from "./elements.js";
import { AddressError, addressOf, experimentOf, intervene, plain } from "./experiment.js";
import { HeadGrid, LargeMap, tableOf } from "./heads.js";
import { Laboratory } from "./laboratory.js";
import { Lesson } from "./lesson.js";
import { WordsView } from "./words.js";

const read = (id) => byId(id).textContent;

/** Opens the model and shows the first sentence. @returns {Promise<Laboratory>} */
export async function showPage() {
  const data = JSON.parse(read("data"));
  const page = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const model = new Model(read("worker"));
  const laboratory = new Laboratory(data, model);
  const words = new WordsView(laboratory);
  const grid = new HeadGrid(laboratory);
  const map = new LargeMap(laboratory);
  const lesson = byId("lesson") && new Lesson(laboratory);
  const table = () => tableOf(data.colors, page.dataset.theme);
  const showAll = () => {
    lesson?.redraw();
    if (!laboratory.result) return;
    words.show();
    grid.show(table());
    map.show(table());
  };
  const setTheme = (isDark) => {
    page.dataset.theme = isDark ? "dark" : "light";
    showAll();
  };
  setTheme(dark.matches);
  dark.addEventListener("change", () => setTheme(dark.matches));
  byId("theme").addEventListener("click", () => setTheme(page.dataset.theme !== "dark"));
  byId("dialog-close").addEventListener("click", closeDialog);
  laboratory.addEventListener("result", () => {
    const { experiment } = laboratory.result;
    showAll();
    if (document.activeElement !== byId("text")) byId("text").value = experiment.source_text;
    history.replaceState(null, "", lesson ? lesson.addressOf(experiment) : addressOf(experiment, data.kinds));
  });
  laboratory.addEventListener("view", () => {
    if (!laboratory.result) return;
    grid.showChosen();
    map.show(table());
  });
  laboratory.addEventListener("problem", () => report(laboratory.problem));
  laboratory.addEventListener("busy", () => page.toggleAttribute("aria-busy", laboratory.isBusy));
  listenToSentence(laboratory);
  window.addEventListener("hashchange", () => showAddress(laboratory, lesson));
  return start(laboratory, model, lesson);
}

function report(problem) {
  byId("problem").textContent = problem;
}

/** The form, the examples, keys, and the address. @param {Laboratory} laboratory */
function listenToSentence(laboratory) {
  const { data } = laboratory;
  const examples = byId("examples");
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    laboratory.translate(byId("text").value);
  });
  examples.append(
    ...data.examples.map(({ group, members }) =>
      make("optgroup", { label: group }, ...members.map(({ text }) => make("option", { value: text }, text))),
    ),
  );
  examples.addEventListener("change", () => {
    const example = data.examples.flatMap((each) => each.members).find((each) => each.text === examples.value);
    if (!example) return;
    byId("text").value = example.text;
    byId("hint").textContent = example.see;
    if (example.head) laboratory.look({ head: example.head, pinned: null });
    laboratory.show(intervene(plain(example.text), ...example.changes));
    examples.value = "";
  });
  byId("text").addEventListener("input", () => report(""));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "range";
    if (isTyping || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (event.shiftKey) laboratory.redo();
    else laboratory.undo();
  });
}

/**
 * Shows the scene and the experiment of the address; false if it names none.
 *
 * @param {Laboratory} laboratory
 * @param {Lesson | null} lesson
 */
function showAddress(laboratory, lesson) {
  const place = lesson?.placeIn(location.hash) ?? null;
  if (place !== null) lesson.go(place);
  try {
    const experiment = experimentOf(location.hash, laboratory.data.kinds);
    if (!experiment) return place !== null;
    byId("text").value = experiment.source_text;
    laboratory.show(experiment);
    return true;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    report(fill(laboratory.data.phrases.no_part, { name: error.message }));
    return place !== null;
  }
}

/** @param {Laboratory} laboratory @param {Model} model @param {Lesson | null} lesson */
async function start(laboratory, model, lesson) {
  const packed = { description: read("description"), weights: read("weights") };
  for (const id of ["description", "weights"]) byId(id).remove();
  try {
    await model.open(packed);
  } catch (error) {
    report(
      error instanceof Refusal
        ? error.message
        : `The model could not be opened: ${error.message}. Use a current browser.`,
    );
    return laboratory;
  }
  byId("loading").remove();
  byId("laboratory").hidden = false;
  if (!showAddress(laboratory, lesson) && lesson) lesson.go(0);
  else if (!laboratory.experiment.source_text) {
    byId("text").value = laboratory.data.text;
    await laboratory.show(plain(laboratory.data.text));
  }
  return laboratory;
}
