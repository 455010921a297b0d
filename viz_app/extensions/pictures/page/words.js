/** The sentence as words: its translation, the original one, the source as read, and the changes to them. */
import { askText, button, byId, closeDialog, make, openDialog, refill, setDisabled, setHidden } from "./elements.js";
import { intervene, isSame, without } from "./experiment.js";
import { decimal, elided, logProbabilityOf, newWords, percent, piecesOfTranslation, sum } from "./sentence.js";

const NUM_SHOWN = 5;
const LONGEST_CHIP = 48;
const MARKED = " · some are unusual";
const DOTTED = "Dotted words are rare in the training data, or read as others. Choose one to see why, or to change it.";

/** Shows the words of the laboratory's result, and offers changes to them. */
export class WordsView {
  /** @param {import("./laboratory.js").Laboratory} laboratory */
  constructor(laboratory) {
    this.laboratory = laboratory;
    this.legend = "";
    byId("undo").addEventListener("click", () => laboratory.undo());
    byId("redo").addEventListener("click", () => laboratory.redo());
    byId("reset").addEventListener("click", () => laboratory.reset());
  }

  /** Shows the result. */
  show() {
    const { result, data } = this.laboratory;
    if (!result) return;
    this.showTranslation(result);
    this.showOriginal(result);
    this.showSource(result);
    this.showChanges();
    this.showCorrection(result.original.coverage?.correction ?? null);
    const { coverage, missingWords, notes } = result.changed;
    const unlike = coverage?.isUnlikeTraining ? coverage.known || data.unlikeTraining : "";
    const shown = [...notes, missingWords, unlike].filter(Boolean).map((note) => make("li", {}, note));
    byId("notes").replaceChildren(...shown);
  }

  /** Shows, in the place of the translation, why it is withheld. */
  showWithheld() {
    const { laboratory } = this;
    const { coverage } = /** @type {import("./laboratory.js").Result} */ (laboratory.withheld).original;
    const show = button("Translate anyway", () => laboratory.showWithheld());
    const reason = `Not translated. ${coverage.hint || coverage.known || laboratory.data.unlikeTraining} `;
    refill(byId("translation"), [make("span", { className: "warm small" }, reason), show]);
    this.showChanges();
  }

  /** Offers the sentence without its typing errors. */
  showCorrection(correction) {
    const words = correction?.words.map((word) => `“${word}”`).join(", ");
    byId("correct").textContent = words ? `Did you mean ${words}?` : "";
    byId("correct").onclick = () => {
      byId("text").value = correction.text;
      this.laboratory.translate(correction.text);
    };
    setHidden(byId("correct"), !correction, byId("text"));
  }

  showTranslation({ changed, original }) {
    const fresh = newWords(original, changed);
    const { pointedStep: step } = this.laboratory;
    const { isStartGiven, lowProbability } = this.laboratory.data;
    const pieces = piecesOfTranslation(changed, isStartGiven).map(({ text, word }) => {
      if (!word) return text;
      const probability = Math.exp(logProbabilityOf(changed, word));
      const isPointed = step !== null && word.start <= step && step < word.end;
      const kinds = [fresh.has(word) && "new", probability < lowProbability && "unsure", isPointed && "pointed"].filter(
        Boolean,
      );
      return button(text, () => this.openWord(changed, word), {
        className: ["word", ...kinds].join(" "),
        style: `--share: ${probability}`,
        "aria-label": `${text}, probability ${percent(probability)}${fresh.has(word) ? ", new" : ""}`,
        "aria-haspopup": "dialog",
      });
    });
    refill(byId("translation"), pieces);
  }

  showOriginal({ changed, original, originalLogProbabilities, experiment }) {
    const line = byId("original");
    const before = sum(original.logProbabilities);
    const after = sum(originalLogProbabilities);
    line.hidden = !experiment.interventions.length;
    byId("facts").textContent = `log-probability ${decimal(sum(changed.logProbabilities))}`;
    const lost = newWords(changed, original);
    const pieces = piecesOfTranslation(original, this.laboratory.data.isStartGiven).map(({ text, word }) =>
      word && lost.has(word) ? make("del", {}, text) : text,
    );
    const words =
      original.text === changed.text
        ? [this.laboratory.data.phrases.same_words]
        : ["Original: ", make("bdi", { lang: "en" }, ...pieces)];
    line.replaceChildren(...words, ` · log-probability of the original: ${decimal(before)} → ${decimal(after)}`);
  }

  /**
   * The words of the source as typed, with the changes to them and marks as in the app; the note of one on request. They
   * are not opened for marked words, which would move all that is below.
   */
  showSource({ original, experiment }) {
    const { unknownSourcePositions: unknown, coverage, ignoredText } = original;
    const say = (/** @type {string} */ text) => (byId("source-note").textContent = text || this.legend);
    const { rareWords = [], respelledWords = [] } = coverage ?? {};
    this.legend = rareWords.length || respelledWords.length || unknown.length ? DOTTED : "";
    say("");
    byId("source-marked").textContent = this.legend ? MARKED : "";
    const words = original.sourceWords.map((word, index) => {
      const place = original.sourcePlaces[index];
      const edit = experiment.interventions.find((each) => each.place === place);
      const [rare, respelled] = [rareWords, respelledWords].map((all) =>
        all.filter(({ start }) => start === word.start),
      );
      const isUnknown = unknown.some((position) => position >= word.start && position < word.end);
      const explained = [...respelled, ...rare].map((each) => each.explanation).join("; ");
      const kinds = [respelled.length && "respelled", rare.length && "rare", isUnknown && "unknown", edit && "new"];
      const note = explained && `“${word.text}”: ${explained}`;
      return make("button", {
        type: "button",
        className: ["word", ...kinds.filter(Boolean)].join(" "),
        on: {
          click: () => this.openSourceWord(word, place, explained, edit),
          pointerenter: () => say(note),
          focus: () => say(note),
          pointerleave: () => say(""),
          blur: () => say(""),
        },
        "aria-label": [edit ? this.laboratory.texts.text(edit) : word.text, explained].filter(Boolean).join(", "),
        "aria-haspopup": "dialog",
      });
    });
    original.sourceWords.forEach((word, index) => {
      const edit = experiment.interventions.find((each) => each.place === original.sourcePlaces[index]);
      if (!edit) words[index].append(word.text);
      else words[index].append(make("del", {}, word.text), edit.text ? ` ${edit.text}` : "");
    });
    const ignored = ignoredText ? [make("del", { className: "soft", title: "Not read" }, ignoredText)] : [];
    refill(byId("source"), [...words.flatMap((word) => [word, " "]), ...ignored]);
  }

  /** The changes, each with a button that removes it. */
  showChanges() {
    const { laboratory } = this;
    const { interventions } = laboratory.experiment;
    const unreached = laboratory.result?.changed.unreached ?? [];
    const chips = laboratory.texts.inGroups(interventions).map(({ text, interventions: members }) => {
      const isUnreached = unreached.some((each) => isSame(each, members[0]));
      const name = isUnreached ? laboratory.texts.say("not_reached", { change: text }) : text;
      const remove = button(
        `${elided(name, LONGEST_CHIP)} ✕`,
        () => laboratory.show(without(laboratory.experiment, members)),
        {
          className: isUnreached ? "chip unreached" : "chip",
          title: isUnreached ? laboratory.data.phrases.no_effect : name,
          "aria-label": `Remove the change: ${name}`,
        },
      );
      return make("li", {}, remove);
    });
    byId("undo").disabled = !laboratory.history.past.length;
    byId("redo").disabled = !laboratory.history.future.length;
    refill(byId("chips"), chips, byId("undo")); // not the text field, which opens the keyboard of a phone
    setDisabled(byId("reset"), !interventions.length, byId("undo"));
  }

  /** The alternatives of a word of the translation. */
  openWord(translation, word) {
    const { laboratory } = this;
    const steps = Array.from({ length: word.end - word.start }, (_, offset) => word.start + offset);
    const content = steps.flatMap((step) => {
      const chosen = translation.predictedTokens[step];
      const rows = translation.alternatives[step].slice(0, NUM_SHOWN).map(({ token, entry, logProbability }) => {
        const choose = () => {
          closeDialog();
          laboratory.show(intervene(laboratory.experiment, { type: "forced_token", step, token: entry }));
        };
        const name = token === chosen ? make("strong", {}, token) : button(token, choose, { className: "alternative" });
        return make(
          "tr",
          {},
          make("td", {}, name),
          make("td", {}, percent(Math.exp(logProbability))),
          make("td", {}, decimal(logProbability)),
        );
      });
      const heads = ["Token", "Probability", "Log-probability"].map((name) => make("th", { scope: "col" }, name));
      const piece = steps.length > 1 ? [make("h3", {}, `Piece ${chosen}`)] : [];
      return [
        ...piece,
        make(
          "table",
          { className: "alternatives" },
          make("thead", {}, make("tr", {}, ...heads)),
          make("tbody", {}, ...rows),
        ),
      ];
    });
    const force = async (typed) => {
      laboratory.show(intervene(laboratory.experiment, ...(await laboratory.model.forcedWord(word.start, typed))));
    };
    const share = percent(Math.exp(logProbabilityOf(translation, word)));
    openDialog(
      `${word.text} · ${share}`,
      ...content,
      make("p", { className: "soft" }, "Choose a word to put it here instead. The model continues from it."),
      askText("Another word", "Put it here", force),
    );
  }

  openSourceWord(word, place, explained, edit) {
    const { laboratory } = this;
    const change = (...added) => laboratory.show(intervene(laboratory.experiment, ...added));
    const act = (name, edited) =>
      button(name, () => {
        closeDialog();
        laboratory.show(edited());
      });
    const remove = act("Remove this word", () =>
      intervene(laboratory.experiment, { type: "source_word_removed", place }),
    );
    const restore = act("Restore the word", () => without(laboratory.experiment, [edit]));
    const replace = (text) => {
      change({ type: "source_word_replaced", place, text: text.trim().split(/\s+/).join(" ") });
    };
    const note = explained ? [make("p", { className: "soft" }, explained)] : [];
    openDialog(
      word.text,
      ...note,
      askText("Another word", "Replace it", replace),
      make("p", {}, remove, " ", ...(edit ? [restore] : [])),
    );
  }
}
