/** A page that runs a model: sentence, words, heads, and the address. */
import { fill } from "../../../../core/extensions/page/phrases.js";
import { Model, Refusal } from "./client.js";
import { ColorTable } from "./drawing.js";
import { byId, closeDialog, make, openDialog } from "./elements.js";
import { addressOf, experimentOf, intervene, isSame, plain } from "./experiment.js";
import { HeadGrid, LargeMap } from "./heads.js";
import { Laboratory } from "./laboratory.js";
import { Lesson } from "./lesson.js";
import { followTheme } from "./theme.js";
import { WordsView } from "./words.js";

const COPIED = "Link copied.";
const ONLY_HERE = "It opens this file on this computer; others need the file at a web address.";
const read = (id) => byId(id).textContent;

/** Opens the model and shows the first sentence. @returns {Promise<Laboratory>} */
export async function showPage() {
  const data = JSON.parse(read("data"));
  const page = document.documentElement;
  const model = new Model(read("worker"));
  const laboratory = new Laboratory(data, model);
  const words = new WordsView(laboratory);
  const table = new ColorTable(data.colors);
  const grid = new HeadGrid(laboratory, table);
  const map = new LargeMap(laboratory, table);
  const lesson = byId("lesson") && new Lesson(laboratory, table);
  const showMaps = () => {
    if (!laboratory.result) return;
    grid.show();
    map.show();
  };
  const showAll = () => {
    lesson?.redraw();
    if (laboratory.result) words.show();
    if (laboratory.withheld) words.showWithheld();
    showMaps();
  };
  followTheme(showAll);
  byId("dialog-close").addEventListener("click", closeDialog);
  byId("copy-link").addEventListener("click", copyLink);
  const maps = /** @type {HTMLElement} */ (document.querySelector(".maps"));
  const dim = () => {
    page.toggleAttribute("data-withheld", Boolean(laboratory.withheld));
    maps.inert = Boolean(laboratory.withheld);
  };
  laboratory.addEventListener("withheld", () => {
    words.showWithheld();
    dim();
  });
  laboratory.addEventListener("result", () => {
    const { experiment } = laboratory;
    dim();
    showAll();
    byId("link-note").textContent = "";
    if (document.activeElement !== byId("text")) byId("text").value = experiment.source_text;
    history.replaceState(null, "", lesson ? lesson.addressOf(experiment) : addressOf(experiment, data.kinds));
  });
  laboratory.addEventListener("view", () => {
    if (!laboratory.result) return;
    grid.showChosen();
    map.show();
  });
  laboratory.addEventListener("maps", showMaps);
  laboratory.addEventListener("problem", () => {
    report(laboratory.problem);
    byId("notice").textContent = laboratory.notice;
  });
  laboratory.addEventListener("busy", () => page.toggleAttribute("aria-busy", laboratory.isBusy));
  listenToSentence(laboratory);
  repeatTranslation(laboratory);
  window.addEventListener("hashchange", () => showAddress(laboratory, lesson));
  return start(laboratory, model, lesson);
}

/** Repeats the translation at the lower edge of a phone while it is out of sight. @param {Laboratory} laboratory */
function repeatTranslation(laboratory) {
  const echo = byId("echo");
  new IntersectionObserver((entries) => (echo.hidden = entries[0].isIntersecting)).observe(byId("translation"));
  for (const name of ["result", "withheld"]) {
    laboratory.addEventListener(name, () => {
      echo.textContent = laboratory.withheld ? "Not translated." : (laboratory.result?.changed.text ?? "");
    });
  }
}

function report(problem) {
  byId("problem").textContent = problem;
}

/** Hides the notes on the last text while another is typed, and shows the one on its length. @param {Laboratory} laboratory */
function showTyped({ typed, answeredText }) {
  const { value } = byId("text");
  const isOther = value !== answeredText && !byId("problem").textContent;
  document.documentElement.toggleAttribute("data-typed", isOther);
  byId("length-note").textContent = isOther && typed.text === value ? typed.note : "";
}

const examplesOf = (data) => data.examples.flatMap((each) => each.members);

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
    const example = examplesOf(data).find((each) => each.text === examples.value);
    if (!example) return;
    byId("text").value = example.text;
    if (example.head) laboratory.look({ head: example.head, pinned: null });
    laboratory.showsForeign = true;
    laboratory.show(intervene(plain(example.text), ...example.changes));
    examples.value = "";
  });
  laboratory.addEventListener("result", () => {
    const { source_text: text, interventions } = laboratory.experiment;
    const example = examplesOf(data).find((each) => each.text === text);
    const isUnchanged = example?.changes.every((each) => interventions.some((other) => isSame(each, other)));
    byId("hint").textContent = isUnchanged && !byId("lesson") ? example.see : "";
  });
  byId("text").addEventListener("input", () => {
    report("");
    laboratory.type(byId("text").value);
  });
  for (const name of ["typed", "result", "withheld", "problem"]) {
    laboratory.addEventListener(name, () => showTyped(laboratory));
  }
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
async function showAddress(laboratory, lesson) {
  const { data } = laboratory;
  const place = lesson?.placeIn(location.hash) ?? null;
  const otherwise = lesson?.scenes[place ?? -1]?.experiment.source_text ?? data.text;
  const found = experimentOf(location.hash, data, otherwise);
  if (place !== null) lesson?.go(place);
  if (!found) return place !== null;
  const { experiment, unread } = found;
  const fields = unread.map((each) => `“${each}”`).join(", ");
  byId("text").value = experiment.source_text;
  laboratory.showsForeign = true;
  await laboratory.show(experiment, fields && fill(data.phrases.unread_link, { fields }));
  for (const text of [experiment.source_text, data.text]) {
    const isRefused = laboratory.problem && !laboratory.result;
    if (isRefused) await laboratory.show(plain(text), laboratory.problem);
  }
  return true;
}

/** Copies the link to the experiment on the screen, or shows it where the browser does not copy. */
async function copyLink() {
  const link = location.href;
  try {
    await navigator.clipboard.writeText(link);
    const isFile = location.protocol === "file:";
    byId("link-note").textContent = isFile ? `${COPIED} ${ONLY_HERE}` : COPIED;
    byId("link-note").scrollIntoView({ block: "nearest" }); // the lines above may fill the place of the notes
  } catch {
    const field = make("input", { value: link, readOnly: true, "aria-label": "Link" });
    openDialog("Copy this link", field);
    field.select();
  }
}

/** @param {Laboratory} laboratory @param {Model} model @param {Lesson | null} lesson */
async function start(laboratory, model, lesson) {
  const packed = { description: read("description"), weights: read("weights") };
  for (const id of ["description", "weights"]) byId(id).remove();
  try {
    await model.open(packed);
  } catch (error) {
    const problem = `The model could not be opened: ${error.message}. Use a current browser.`;
    const text = error instanceof Refusal ? error.message : problem;
    byId("loading").replaceWith(make("p", { className: "problem", role: "alert" }, text));
    return laboratory;
  }
  byId("loading").remove();
  byId("laboratory").hidden = false;
  if (await showAddress(laboratory, lesson)) return laboratory;
  if (lesson) lesson.go(0);
  else {
    byId("text").value = laboratory.data.text;
    laboratory.showsForeign = true;
    await laboratory.show(plain(laboratory.data.text));
  }
  return laboratory;
}
