/** A page of recorded maps: one translation, or the scenes of a lesson. */
import {
  ColorTable,
  axesInWords,
  cellAt,
  cellByKey,
  drawMap,
  drawScale,
  drawSmallMap,
  isTouched,
  marksNote,
  reading,
  roomBelow,
  scalingText,
} from "./drawing.js";
import { recordedDrawing, unpack } from "./maps.js";
import { followTheme } from "./theme.js";

/** @typedef {import("./drawing.js").Drawing} Drawing */

/** A map on paper is drawn in this width and resolution, and shrinks to the text's width, 700 pixels. */
const PAPER = { width: 760, ratio: 3 };
/** Pixels that may stay above a scene while it is read; the reader scrolls to those further down. */
const HEADER = 100;

/** Draws every scene of the page; its button changes between light and dark. */
export function showRecordedMaps() {
  const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
  const table = new ColorTable(JSON.parse(find("#colors").textContent));
  const page = document.documentElement;
  /** @type {RecordedScene[]} */
  let scenes = [];
  followTheme(() => scenes.forEach((scene) => scene.refresh()));
  scenes = Array.from(document.querySelectorAll(".scene"), (section) => new RecordedScene(section, table));
  let theme = "";
  window.addEventListener("beforeprint", () => {
    theme = page.dataset.theme ?? "";
    page.dataset.theme = "light";
    for (const scene of scenes) scene.draw(true);
  });
  window.addEventListener("afterprint", () => {
    page.dataset.theme = theme;
    for (const scene of scenes) scene.draw();
  });
}

/** One translation: a large head, all heads, and the choice between them. */
export class RecordedScene {
  constructor(section, table) {
    this.part = (name) => section.querySelector(`[data-part="${name}"]`);
    this.table = table;
    const data = (this.data = JSON.parse(this.part("data").textContent));
    this.blocks = data.blocks.map(unpack);
    /** @type {{kind: number, layer: number, head: number, mode: string, scale: "one" | "kind" | "layer" | "head"}} */
    this.chosen = {
      kind: Math.max(
        0,
        data.kinds.findIndex((each) => each.kind === data.shown[0]),
      ),
      layer: data.shown[1],
      head: data.shown[2],
      mode: data.mode,
      scale: data.isShare ? "one" : "kind",
    };
    this.at = null;
    this.pinned = data.pinned;
    /** @type {Drawing | null} */
    this.drawing = null;
    /** @type {import("./drawing.js").Layout | null} */
    this.layout = null;
    this.part("source").textContent = data.facts.sentence;
    write(this.part("target"), data.line);
    this.part("notes").replaceChildren(...data.notes.map((each) => write(document.createElement("p"), [each])));
    this.part("changes").replaceChildren(...data.changes.map((each) => withChildren("li", each)));
    this.part("steps").replaceChildren(...data.steps.map(stepRow));
    this.part("meaning").textContent = `${data.meaning} ${data.caveat}`;
    this.part("numbers").checked = this.found.signed; // print in grey shows no sign
    this.listen();
    this.refresh();
  }

  get found() {
    return this.data.kinds[this.chosen.kind].modes[this.chosen.mode];
  }

  listen() {
    const map = this.part("map");
    for (const name of ["kind", "layer", "head", "mode"]) {
      const select = this.part(name);
      const change = () => this.choose({ [name]: name === "mode" ? select.value : Number(select.value) });
      select.addEventListener("change", change);
    }
    this.part("scale").addEventListener("change", () => {
      this.chosen.scale = this.part("scale").value;
      this.refresh();
    });
    this.part("numbers").addEventListener("change", () => this.draw());
    map.addEventListener("mousemove", (event) => {
      this.at = this.cellAt(event);
      this.draw();
    });
    map.addEventListener("mouseleave", () => {
      this.at = null;
      this.draw();
    });
    map.addEventListener("click", (event) => {
      this.pinned = this.pinned ? null : this.cellAt(event);
      this.draw();
    });
    map.addEventListener("keydown", (event) => {
      const cell = cellByKey(this.drawing, this.pinned, event.key);
      if (!cell && event.key !== "Escape") return;
      event.preventDefault();
      this.pinned = cell;
      this.draw();
    });
    window.addEventListener("resize", () => this.draw());
    map.parentElement.addEventListener("scroll", () => this.draw());
  }

  cellAt(event) {
    const { drawing, layout } = this;
    return layout && drawing ? cellAt(this.part("map"), layout, drawing, event.clientX, event.clientY) : null;
  }

  choose(changes) {
    Object.assign(this.chosen, changes);
    this.pinned = this.at = null;
    this.refresh();
  }

  refresh() {
    const { chosen, data } = this;
    const [layers, heads] = this.found.shape;
    const count = (n) => Array.from({ length: n }, (_, i) => [i, i + 1]);
    chosen.layer = Math.min(chosen.layer, layers - 1);
    chosen.head = Math.min(chosen.head, heads - 1);
    fillSelect(
      this.part("kind"),
      data.kinds.map((each, i) => [i, each.title]),
      chosen.kind,
    );
    fillSelect(this.part("layer"), count(layers), chosen.layer);
    fillSelect(this.part("head"), count(heads), chosen.head);
    const scales = ["kind", "layer", "head"].map((name) => [name, `the largest of the ${name}`]);
    if (data.isShare) scales.unshift(["one", "1, the same for all"]);
    fillSelect(this.part("scale"), scales, chosen.scale);
    this.part("mode").value = chosen.mode;
    this.part("mode").disabled = data.kinds[chosen.kind].kind === "encoder";
    this.part("grid").replaceChildren(...data.kinds.map((each, kind) => this.kindGrid(each, kind)));
    this.draw();
  }

  /** Whether a head is the one that was chosen when the page was made. */
  isShown(kind, layer, head) {
    return [this.data.kinds[kind].kind, layer, head].join() === this.data.shown.join();
  }

  /** Draws the large map, its scale and its words. */
  draw(onPaper = false) {
    const { chosen, data, found } = this;
    const canvas = this.part("map");
    const at = this.pinned || this.at;
    const scale = onPaper && !data.isShare ? "head" : chosen.scale;
    const drawing = recordedDrawing(found, this.blocks, chosen.layer, chosen.head, scale);
    drawing.marks.pinned = at;
    const isAtCell = data.pointed && data.pointed[1] !== null && String(this.pinned) === String(data.pinned);
    if (isAtCell && this.isShown(chosen.kind, chosen.layer, chosen.head)) drawing.marks.pointed = data.pointed;
    this.drawing = drawing;
    this.describe(drawing); // its lines are above the map
    const hasNumbers = this.part("numbers").checked;
    const section = canvas.closest(".scene");
    const above = Math.min(section.getBoundingClientRect().top + window.scrollY, HEADER);
    const { clientWidth: width, scrollLeft: scrolled } = canvas.parentElement;
    const room = { hasNumbers, width, scrolled: onPaper ? 0 : scrolled, height: roomBelow(canvas, section, above) };
    if (onPaper) {
      const height = parseFloat(getComputedStyle(canvas).getPropertyValue("--most")) * (PAPER.width / 700);
      Object.assign(room, PAPER, { height });
    }
    this.layout = drawMap(canvas, drawing, this.table, room);
    const [bottom, top] = drawScale(this.part("bar"), drawing, this.table);
    this.part("bottom").textContent = bottom;
    this.part("top").textContent = top;
  }

  describe(/** @type {Drawing} */ drawing) {
    const { chosen, data } = this;
    const { rowsAre } = drawing;
    const at = this.pinned || this.at;
    const scaling = scalingText(drawing.marks.factor === undefined ? 1 : drawing.marks.factor);
    const head = this.titleOf(chosen.kind, chosen.layer, chosen.head);
    const title = [head, scaling].filter(Boolean).join(" · ");
    const isPointed = data.pointed && data.pointed[1] === null && this.isShown(chosen.kind, chosen.layer, chosen.head);
    this.part("rows").textContent = `${this.found.meaning} ${marksNote(drawing.marks, data.markMeanings)}`;
    this.part("colors").textContent = this.found.colors;
    write(this.part("title"), isPointed ? ["", title] : [title]);
    this.part("map").setAttribute("aria-label", `${title}: ${axesInWords(drawing)}`);
    const facts = Object.entries(data.facts).concat([
      ["map", title],
      ["rows", rowsAre],
    ]);
    this.part("caption").textContent = facts.map(([name, value]) => `${name}: ${value}`).join(" · ");
    if (at) {
      const pinned = this.pinned ? " (pinned: click again to release)" : "";
      this.part("reading").textContent = reading(drawing, at) + pinned;
      return;
    }
    const hidden = this.found.hidden[chosen.layer][chosen.head];
    const share = `${(100 * hidden).toFixed(1)}% of the attention lies on hidden tokens; rows are scaled up for it.`;
    const how = isTouched() ? "Tap a cell to read and pin it." : "Point at a cell to read it, click to pin it.";
    this.part("reading").textContent = `${how}${hidden > 0 ? ` ${share}` : ""}`;
  }

  titleOf(kind, layer, head) {
    return `${this.data.kinds[kind].title} · layer ${layer + 1} · head ${head + 1}`;
  }

  /** All heads of a kind. */
  kindGrid(each, kind) {
    const [layers, heads] = each.modes[this.chosen.mode].shape;
    const grid = document.createElement("div");
    grid.className = "heads";
    grid.style.setProperty("--heads", heads);
    grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
    for (let layer = 0; layer < layers; layer++) {
      const network = withChildren("strong", each.networks[layer]);
      grid.append(withChildren("span", `layer ${layer + 1}`, network));
      for (let head = 0; head < heads; head++) grid.append(this.thumbnail(kind, layer, head));
    }
    return withChildren("div", withChildren("h4", each.title), grid);
  }

  thumbnail(kind, layer, head) {
    const { chosen, data } = this;
    const canvas = document.createElement("canvas");
    const found = data.kinds[kind].modes[chosen.mode];
    const drawing = recordedDrawing(found, this.blocks, layer, head, chosen.scale);
    if (data.pointed && data.pointed[1] === null) {
      if (this.isShown(kind, layer, head)) drawing.marks.pointed = data.pointed;
      else drawing.marks.isDimmed = data.pointed[0] === "dim";
    }
    canvas.tabIndex = 0;
    canvas.title = this.titleOf(kind, layer, head);
    const isChosen = kind === chosen.kind && layer === chosen.layer && head === chosen.head;
    if (isChosen) canvas.classList.add("chosen");
    canvas.setAttribute("role", "button");
    canvas.setAttribute("aria-label", canvas.title);
    canvas.setAttribute("aria-pressed", String(isChosen));
    drawSmallMap(canvas, drawing, this.table);
    const choose = () => {
      if (kind !== chosen.kind) this.pinned = this.at = null;
      Object.assign(chosen, { kind, layer, head });
      this.refresh();
    };
    canvas.addEventListener("click", choose);
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      }
    });
    return canvas;
  }
}

function withChildren(name, ...children) {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}

/** Writes a line of text into an element, with a ring around its middle. */
function write(element, [before, middle = "", after = ""]) {
  element.textContent = before;
  if (middle) element.append(withChildren("mark", middle), after);
  return element;
}

/** A row of the table of alternatives. */
function stepRow([token, probability, others]) {
  const name = withChildren("th", token);
  name.scope = "row";
  return withChildren("tr", name, withChildren("td", probability), withChildren("td", others.join(" · ")));
}

function fillSelect(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.value = String(chosen);
}
