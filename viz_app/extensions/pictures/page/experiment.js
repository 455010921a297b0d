/**
 * Experiments as a page changes them: what `core/translation/experiment.py` and `state/experiment_editor.py` do. All
 * counting starts at 0; texts for people count from 1.
 */
import { fill } from "../../../../core/extensions/page/phrases.js";
import { commonPlaces } from "./selection.js";

/**
 * @typedef {{kind: string, layer: number, head: number}} Head
 * @typedef {{side: string, layer: number}} Network
 * @typedef {Object} Intervention `type` and fields, as in files of experiments
 * @typedef {{source_text: string, output: Object, interventions: Intervention[]}} Experiment
 *
 * @typedef {Object} Kind The heads of one kind of attention.
 * @property {string} kind
 * @property {string} title
 * @property {string} name
 * @property {string} direction
 * @property {string} side the stack that they belong to
 * @property {number} layers
 * @property {number} heads of each layer
 * @property {{name: string, text: string}[]} roles of all heads, layer by layer; empty if they were not measured
 */

const GREEDY = { type: "greedy" };
const KINDS = ["encoder", "decoder", "cross"];
const GENERAL = ["head_scaled", "feed_forward_scaled", "softmax_temperature"];
const MAX_REMEMBERED = 200;
const MAX_NAMED = 8;

/** The sentence with nothing changed. @returns {Experiment} */
export function plain(text) {
  return { source_text: text, output: GREEDY, interventions: [] };
}

/** The place that an intervention changes; two with the same site exclude each other. */
function siteOf(each) {
  const ofHead = () => [KINDS.indexOf(each.head.kind), each.head.layer, each.head.head];
  switch (each.type) {
    case "head_scaled":
      return [1, ...ofHead()];
    case "feed_forward_scaled":
      return [2, KINDS.indexOf(each.network.side), each.network.layer];
    case "softmax_temperature":
      return [3, ...ofHead()];
    case "attention_row":
      return [4, ...ofHead(), each.row];
    case "forced_token":
      return [6, each.step];
    default:
      return [0, each.place];
  }
}

function bySite(a, b) {
  const [first, second] = [siteOf(a), siteOf(b)];
  const place = first.findIndex((number, index) => number !== second[index]);
  return place < 0 ? 0 : first[place] - second[place];
}

/** Whether two changes are equal. */
export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Whether rows over the source lose their meaning with this change: it has other tokens then. */
const editsSource = (each) => each.type.startsWith("source_word_");
const sourceOf = ({ interventions }) => JSON.stringify(interventions.filter(editsSource));
const isOverSource = (each) => each.type === "attention_row" && each.head.kind !== "decoder";

/** The experiment with these changes, which replace those of the same things. @returns {Experiment} */
export function intervene(experiment, ...added) {
  const sites = new Set(added.map((each) => String(siteOf(each))));
  const kept = experiment.interventions.filter((each) => !sites.has(String(siteOf(each))));
  return withChanges(experiment, [...kept, ...added]);
}

/** @returns {Experiment} */
export function without(experiment, removed) {
  return withChanges(
    experiment,
    experiment.interventions.filter((each) => !removed.includes(each)),
  );
}

function withChanges(experiment, interventions) {
  const before = experiment.interventions.filter(editsSource);
  const after = interventions.filter(editsSource);
  const isSameSource = before.length === after.length && before.every((each) => after.includes(each));
  const kept = isSameSource ? interventions : interventions.filter((each) => !isOverSource(each));
  return { ...experiment, interventions: [...kept].sort(bySite) };
}

/** Another sentence: only changes to heads and networks fit it. @returns {Experiment} */
export function edited(experiment, text) {
  const kept = experiment.interventions.filter((each) => GENERAL.includes(each.type));
  return { ...plain(text), interventions: kept };
}

/**
 * Rows of attention stay with the target tokens that they were set for; null if these are in the same places. As
 * `follow_tokens` of `state/experiment_state.py`.
 *
 * @param {Experiment} experiment led to `after`
 * @param {{experiment: Experiment, changed: any}} before the previous result
 * @param {{changed: any}} after the result in which tokens may have moved
 * @returns {{experiment: Experiment, moved: [Intervention, Intervention][], dropped: Intervention[]} | null}
 */
export function followTokens(experiment, before, after) {
  if (before.experiment.source_text !== experiment.source_text) return null;
  const places = new Map(commonPlaces(before.changed.readTokens, after.changed.readTokens));
  const isIn = (all, each) => all.some((other) => isSame(other, each));
  /** @type {[Intervention, Intervention][]} */
  const moved = [];
  const dropped = [];
  for (const each of experiment.interventions) {
    const wasThere = isIn(before.experiment.interventions, each) && !isIn(before.changed.unreached, each);
    if (each.type !== "attention_row" || each.head.kind === "encoder" || !wasThere) continue;
    const at = rowAt(each, places);
    if (!at) dropped.push(each);
    else if (!isSame(at, each)) moved.push([each, at]);
  }
  if (!moved.length && !dropped.length) return null;
  const left = without(experiment, [...dropped, ...moved.map(([row]) => row)]);
  return { experiment: intervene(left, ...moved.map(([, at]) => at)), moved, dropped };
}

/** The row where its token is now; null without the token, or any that it looks at. */
function rowAt(each, places) {
  const row = places.get(each.row);
  if (row === undefined) return null;
  if (each.head.kind === "cross") return { ...each, row };
  const weights = Array(row + 1).fill(0);
  each.weights.forEach((weight, key) => {
    if (places.has(key)) weights[places.get(key)] = weight;
  });
  return weights.some(Boolean) ? { ...each, row, weights } : null;
}

/** Scales a head or network; a factor of 1 removes the change. @param {Head | Network} part */
export function scaling(part, factor) {
  return "kind" in part
    ? { type: "head_scaled", head: part, factor }
    : { type: "feed_forward_scaled", network: part, factor };
}

const partOf = (each) =>
  each.type === "head_scaled" ? each.head : each.type === "feed_forward_scaled" ? each.network : null;
const isSamePart = (a, b) => a.kind === b.kind && a.side === b.side && a.layer === b.layer && a.head === b.head;

/** The change that scales a part, or undefined. */
export function scalingOf(experiment, part) {
  return experiment.interventions.find((each) => partOf(each) && isSamePart(partOf(each), part));
}

/** The factor of a head or network. */
export function factorOf(experiment, part) {
  return scalingOf(experiment, part)?.factor ?? 1;
}

/** The experiment with a part scaled. @returns {Experiment} */
export function scaled(experiment, part, factor) {
  if (factor !== 1) return intervene(experiment, scaling(part, factor));
  return without(experiment, [scalingOf(experiment, part)]);
}

/** Switches parts off; if all of them are off or scaled, on again. @returns {Experiment} */
export function toggled(experiment, parts) {
  const found = parts.map((part) => scalingOf(experiment, part)).filter(Boolean);
  if (found.length === parts.length) return without(experiment, found);
  return intervene(experiment, ...parts.map((part) => scaling(part, 0)));
}

/** All heads, in the order of the kinds. @param {Kind[]} kinds @returns {Head[]} */
export function headsOf(kinds) {
  return kinds.flatMap(({ kind, layers, heads }) =>
    Array.from({ length: layers * heads }, (_, i) => ({ kind, layer: Math.floor(i / heads), head: i % heads })),
  );
}

/** Changes for display: texts, each with its interventions; one for a group whose heads have the same factor. */
export class ChangeTexts {
  /**
   * @param {Kind[]} kinds
   * @param {Object<string, string>} phrases of `core/text/phrases.py`
   */
  constructor(kinds, phrases) {
    this.kinds = kinds;
    this.heads = headsOf(kinds);
    this.phrases = phrases;
  }

  /** @param {Intervention[]} interventions @returns {{text: string, interventions: Intervention[]}[]} */
  inGroups(interventions) {
    const found = [];
    const all = interventions.filter((each) => each.type === "head_scaled");
    let left = interventions;
    for (const group of all.length ? this.groups() : []) {
      const members = all.filter((each) => group.has(each.head));
      const rest = members.filter((each) => left.includes(each));
      const count = this.heads.filter(group.has).length;
      const isComplete = members.length === count && count > 1;
      if (!rest.length || !isComplete || members.some((each) => each.factor !== members[0].factor)) continue;
      found.push({ text: this.scaledText(group.text, members[0].factor), interventions: rest });
      left = left.filter((each) => !rest.includes(each));
    }
    found.push(
      ...forcedWords([...left].sort(bySite)).map((word) => ({ text: this.textOf(word), interventions: word })),
    );
    return found.sort((a, b) => bySite(a.interventions[0], b.interventions[0]));
  }

  /** @param {Intervention[]} word one change, or the forced pieces of a word */
  textOf(word) {
    if (word.length === 1) return this.text(word[0]);
    const token = word.map((each) => each.token.replaceAll("▁", "")).join("");
    return this.say("change_forced_word", { first: word[0].step + 1, last: word.at(-1).step + 1, token });
  }

  /** Kinds, then layers, then columns. */
  groups() {
    const count = (length) => Array.from({ length }, (_, index) => index);
    const { kinds } = this;
    return [
      ...kinds.map(({ kind, title }) => ({
        text: this.say("change_all", { kind: title.toLowerCase() }),
        has: (each) => each.kind === kind,
      })),
      ...kinds.flatMap(({ kind, layers }) =>
        count(layers).map((layer) => ({
          text: this.say("change_layer", { kind, layer: layer + 1 }),
          has: (each) => each.kind === kind && each.layer === layer,
        })),
      ),
      ...kinds.flatMap(({ kind, heads }) =>
        count(heads).map((head) => ({
          text: this.say("change_column", { kind, head: head + 1 }),
          has: (each) => each.kind === kind && each.head === head,
        })),
      ),
    ];
  }

  text(each) {
    const head = each.head && this.headText(each.head);
    switch (each.type) {
      case "source_word_removed":
        return this.say("change_removed", { place: each.place + 1 });
      case "source_word_replaced":
        return this.say("change_replaced", { place: each.place + 1, text: each.text });
      case "head_scaled":
        return this.scaledText(head, each.factor);
      case "feed_forward_scaled":
        return this.scaledText(
          this.say("change_network", { side: each.network.side, layer: each.network.layer + 1 }),
          each.factor,
        );
      case "softmax_temperature":
        return this.say("change_temperature", { part: head, temperature: short(each.temperature) });
      case "attention_row":
        return this.say("change_row", { part: head, row: each.row + 1 });
      default:
        return this.say("change_forced", { step: each.step + 1, token: each.token.replaceAll("▁", "") || each.token });
    }
  }

  /** A notice of the changes of `before` that another sentence, or another change of the source, drops; may be empty. */
  dropped(before, after) {
    const isOther = before.source_text !== after.source_text;
    const left = before.interventions.filter((each) => !after.interventions.some((other) => isSame(each, other)));
    return isOther
      ? this.counted("dropped_sentence", left)
      : this.counted("dropped_source", sourceOf(before) === sourceOf(after) ? [] : left.filter(isOverSource));
  }

  /** A notice of what `followTokens` moved and dropped. */
  followed({ moved, dropped }) {
    const rows = moved.map(([{ head, row }, { row: now }]) =>
      this.say("moved_row", { part: this.headText(head), row: row + 1, now: now + 1 }),
    );
    const names = rows.length ? [this.countedText("moved_tokens", rows)] : [];
    return [...names, this.counted("dropped_tokens", dropped)].filter(Boolean).join(" ");
  }

  counted(name, changes) {
    const texts = changes.map((each) => this.text(each));
    return texts.length ? this.countedText(name, texts) : "";
  }

  /** A phrase about one thing or several, of which the first are named; as `counted_phrase` and `named`. */
  countedText(name, texts) {
    const words = texts.slice(0, MAX_NAMED).join(", ");
    const count = texts.length - MAX_NAMED;
    const changes = count > 0 ? this.say("more", { words, count }) : words;
    return this.say(texts.length === 1 ? `${name}_1` : name, { changes });
  }

  headText({ kind, layer, head }) {
    return this.say("change_head", { kind, layer: layer + 1, head: head + 1 });
  }

  /** A notice of a refused experiment, while `now` is in use; as `refused_notice`. */
  refusal(refused, now) {
    if (refused.source_text !== now.source_text) return this.phrases.still_shown;
    const isKept = (each) => now.interventions.some((other) => isSame(each, other));
    const texts = this.inGroups(refused.interventions.filter((each) => !isKept(each))).map(({ text }) => text);
    return this.say("taken_back", { changes: texts.join(", ") || this.phrases.last_change });
  }

  scaledText(part, factor) {
    return this.say(factor === 0 ? "change_off" : "change_scaled", { part, factor: short(factor) });
  }

  say(name, values) {
    return fill(this.phrases[name], values);
  }
}

/** Each alone, but forced tokens together that continue the word of the one before. @returns {Intervention[][]} */
function forcedWords(interventions) {
  /** @type {any[][]} */
  const words = [];
  for (const each of interventions) {
    const word = words.at(-1) ?? [];
    const isNext = each.type === "forced_token" && each.step === word.at(-1)?.step + 1 && word[0].token.startsWith("▁");
    if (isNext && !/^[▁<]/u.test(each.token)) word.push(each);
    else words.push([each]);
  }
  return words;
}

/** A number of at most six digits, as Python's `g`. */
function short(number) {
  return String(Number(number.toPrecision(6)));
}

/** The experiment in use, and those that undo and redo lead to. */
export class History {
  /** @param {Experiment} experiment */
  constructor(experiment) {
    this.experiment = experiment;
    this.past = [];
    this.future = [];
  }

  push(experiment) {
    this.past = [...this.past, this.experiment].slice(-MAX_REMEMBERED);
    this.future = [];
    this.experiment = experiment;
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.experiment);
    this.experiment = this.past.pop();
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.experiment);
    this.experiment = this.future.pop();
  }

  /** Drops the experiment in use, which was refused. */
  withdraw() {
    if (this.past.length) this.experiment = this.past.pop();
  }
}

/** A number within limits; NaN for anything else. */
function numberIn(text = "", least = 0, most = Number.MAX_SAFE_INTEGER) {
  const value = text.trim() ? Number(text) : NaN;
  return least <= value && value <= most ? value : NaN;
}

/** The index that a number from 1 names; NaN for anything else. */
const indexIn = (text) => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) - 1 : NaN);
/** The text before and after a place; empty ones if there is none. */
const splitAt = (text, at) => (at < 0 ? ["", ""] : [text.slice(0, at), text.slice(at + 1)]);
const halves = (text) => splitAt(text, text.indexOf("="));

function headsNamed(name, kinds) {
  const [kind, layer = "*", head = "*", ...rest] = name.split(":");
  const fits = (place, number) => place === "*" || place === String(number + 1);
  if (rest.length) return [];
  return headsOf(kinds).filter((each) => each.kind === kind && fits(layer, each.layer) && fits(head, each.head));
}

function headNamed(name, kinds) {
  return headsOf(kinds).find((each) => nameOf(each) === name);
}

function networkNamed(name, kinds) {
  const [side, layer] = splitAt(name, name.indexOf(":"));
  const stack = kinds.find((each) => each.kind === side && each.side === side);
  return indexIn(layer) < stack?.layers ? { side, layer: indexIn(layer) } : undefined;
}

/** The changes that switch named parts off; none if one of the names means nothing. */
function switchedOff(names, partsOf) {
  const found = names.split(",").filter(Boolean).map(partsOf);
  return found.every((parts) => parts.length && parts[0]) ? found.flat().map((part) => scaling(part, 0)) : [];
}

function rowSet(value, kinds) {
  const [place, shares] = halves(value);
  const [name, number] = splitAt(place, place.lastIndexOf(":"));
  const head = headNamed(name, kinds);
  const row = indexIn(number);
  const weights = shares.split(",").map((each) => numberIn(each));
  const isWhole = weights.some(Boolean) && (head?.kind !== "decoder" || weights.length === row + 1);
  return isWhole && !weights.some(Number.isNaN) && [{ type: "attention_row", head, row, weights }];
}

/**
 * The changes that a field of a link names, written as for the options of `augenmerk translate`. A value that cannot be
 * read gives none, or one with a part missing.
 *
 * @type {Object<string, (value: string, kinds: Kind[], limits: {factor: number, temperature: [number, number]}) => any>}
 */
const FIELDS = {
  off: (value, kinds) => switchedOff(value, (name) => headsNamed(name, kinds)),
  "feed-forward-off": (value, kinds) => switchedOff(value, (name) => [networkNamed(name, kinds)]),
  "scale-head": (value, kinds, { factor }) => {
    const [name, by] = halves(value);
    return [{ type: "head_scaled", head: headNamed(name, kinds), factor: numberIn(by, -factor, factor) }];
  },
  "scale-feed-forward": (value, kinds, { factor }) => {
    const [name, by] = halves(value);
    return [{ type: "feed_forward_scaled", network: networkNamed(name, kinds), factor: numberIn(by, -factor, factor) }];
  },
  temperature: (value, kinds, limits) => {
    const [name, by] = halves(value);
    const temperature = numberIn(by, ...limits.temperature);
    return [{ type: "softmax_temperature", head: headNamed(name, kinds), temperature }];
  },
  "set-row": rowSet,
  "force-token": (value) => {
    const [step, token] = halves(value);
    return [{ type: "forced_token", step: indexIn(step), token: token || undefined }];
  },
  "remove-word": (value) => [{ type: "source_word_removed", place: indexIn(value) }],
  "replace-word": (value) => {
    const [place, typed] = halves(value);
    const text = typed.trim().split(/\s+/).join(" ");
    return [{ type: "source_word_replaced", place: indexIn(place), text: text || undefined }];
  },
};

/**
 * The experiment of a link such as `#text=Zwei Hunde.&off=cross:2:5&force-token=2=▁dog`; null if it names none.
 *
 * @param {string} hash
 * @param {{kinds: Kind[], limits: any}} data of the page
 * @param {string} otherwise the sentence of a link without one
 * @returns {{experiment: Experiment, unread: string[]} | null} with the fields that cannot be read
 */
export function experimentOf(hash, { kinds, limits }, otherwise) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const changes = [...fields].filter(([name]) => name !== "text" && name !== "scene");
  if (!fields.has("text") && !changes.length) return null;
  const isMissing = (value) => value === undefined || Number.isNaN(value);
  const unread = [];
  const bySites = new Map();
  for (const [name, value] of changes) {
    const found = Object.hasOwn(FIELDS, name) && FIELDS[name](value, kinds, limits);
    const isRead = found && found.length && !found.some((each) => Object.values(each).some(isMissing));
    if (!isRead) unread.push(value ? `${name}=${value}` : name);
    else for (const each of found) bySites.set(String(siteOf(each)), each);
  }
  const interventions = [...bySites.values()].sort(bySite);
  return { experiment: { ...plain(fields.get("text") ?? otherwise), interventions }, unread };
}

/** The field of a link for a change. @returns {[string, any]} */
function fieldOf(each) {
  switch (each.type) {
    case "source_word_removed":
      return ["remove-word", each.place + 1];
    case "source_word_replaced":
      return ["replace-word", `${each.place + 1}=${each.text}`];
    case "head_scaled":
      return ["scale-head", `${nameOf(each.head)}=${each.factor}`];
    case "feed_forward_scaled":
      return ["scale-feed-forward", `${nameOf(each.network)}=${each.factor}`];
    case "softmax_temperature":
      return ["temperature", `${nameOf(each.head)}=${each.temperature}`];
    case "attention_row":
      return ["set-row", `${nameOf(each.head)}:${each.row + 1}=${each.weights}`];
    default:
      return ["force-token", `${each.step + 1}=${each.token}`];
  }
}

/**
 * The link to an experiment, which `experimentOf` reads: whole layers and kinds that are off have one name.
 *
 * @param {Experiment} experiment
 * @param {Kind[]} kinds
 */
export function addressOf({ source_text: text, interventions }, kinds) {
  const off = interventions.filter((each) => each.factor === 0);
  const networks = off.filter((each) => each.network).map(({ network }) => nameOf(network));
  let left = off.filter((each) => each.head).map(({ head }) => nameOf(head));
  const names = kinds.flatMap(({ kind, layers }) => [
    kind,
    ...Array.from({ length: layers }, (_, i) => `${kind}:${i + 1}`),
  ]);
  const groups = names.filter((name) => {
    const members = headsNamed(name, kinds).map(nameOf);
    const isOff = members.every((each) => left.includes(each));
    if (isOff) left = left.filter((each) => !members.includes(each));
    return isOff;
  });
  const fields = [
    ["text", text],
    ["off", [...groups, ...left]],
    ["feed-forward-off", networks],
    ...interventions.filter((each) => !off.includes(each)).map(fieldOf),
  ];
  const written = (value) =>
    encodeURIComponent(String(value).toWellFormed()).replace(/%(3A|2C|3D)/g, (code) => decodeURIComponent(code));
  const given = fields.filter(([name, value]) => name === "text" || String(value));
  return `#${given.map(([name, value]) => `${name}=${written(value)}`).join("&")}`;
}

/** A head or network as the commands name it. @param {any} part */
function nameOf({ kind, side, layer, head }) {
  return kind ? `${kind}:${layer + 1}:${head + 1}` : `${side}:${layer + 1}`;
}
