/** All heads as small maps, and one of them large. */
import {
  axesInWords,
  cellAt,
  cellByKey,
  drawMap,
  drawScale,
  drawSmallMap,
  isTouched,
  reading,
  roomBelow,
  scalingText,
} from "./drawing.js";
import { button, byId, make, openDialog, setHidden } from "./elements.js";
import { factorOf, headsOf, scaled, toggled } from "./experiment.js";

const MAX_FACTOR = 2;
const MOVING_BY_TOUCH =
  "To move a row’s attention, tap a cell of it, then the button “Give … all the weight” below the map.";
const SLICE_MS = 12;
const isSameHead = (a, b) => a.kind === b.kind && a.layer === b.layer && a.head === b.head;

/** The small maps by kind and layer, each group with a button that switches it off. */
export class HeadGrid {
  /** @param {import("./laboratory.js").Laboratory} laboratory @param {import("./drawing.js").ColorTable} table */
  constructor(laboratory, table) {
    this.laboratory = laboratory;
    this.table = table;
    /** @type {{head: any, element: HTMLButtonElement, canvas: HTMLCanvasElement}[]} */
    this.maps = [];
    /** @type {{element: HTMLButtonElement, parts: any[]}[]} */
    this.switches = [];
    this.call = {};
    byId("grid").replaceChildren(...laboratory.data.kinds.map((kind) => this.block(kind)));
    byId("grid").addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Draws all maps, in slices that leave the page time to react. */
  show() {
    const { laboratory, table } = this;
    const left = [...this.maps];
    const call = (this.call = {});
    const style = laboratory.pointer?.[0] === "head" ? laboratory.pointer[1] : null;
    const draw = () => {
      if (this.call !== call) return; // a newer call draws
      const end = performance.now() + SLICE_MS;
      for (let next = left.shift(); next; next = performance.now() < end ? left.shift() : undefined) {
        const { head, canvas } = next;
        const drawing = laboratory.drawing(head);
        /** @type {[string, null, null] | null} */
        const pointed = style && isSameHead(head, laboratory.head) ? [style, null, null] : null;
        drawing.marks = { ...drawing.marks, pinned: null, pointed, isDimmed: style === "dim" && !pointed };
        drawSmallMap(canvas, drawing, table);
      }
      if (left.length) setTimeout(draw);
    };
    draw();
    for (const { head, element } of this.maps) {
      const scaling = scalingText(factorOf(laboratory.experiment, head));
      element.setAttribute("aria-label", [element.title, scaling].filter(Boolean).join(", "));
    }
    for (const { element, parts } of this.switches) {
      const isOff = parts.every((part) => factorOf(laboratory.experiment, part) === 0);
      element.setAttribute("aria-pressed", String(isOff));
    }
    this.showChosen();
  }

  showChosen() {
    for (const { head, element } of this.maps) {
      const isChosen = isSameHead(head, this.laboratory.head);
      element.setAttribute("aria-pressed", String(isChosen));
      element.tabIndex = isChosen ? 0 : -1;
    }
  }

  block(kind) {
    const heads = headsOf([kind]);
    const numbers = Array.from({ length: kind.heads }, (_, head) => make("span", {}, String(head + 1)));
    const rows = [make("span"), ...numbers, make("span")];
    for (let layer = 0; layer < kind.layers; layer++) {
      const members = heads.filter((each) => each.layer === layer);
      const network = { side: kind.side, layer };
      const hasNetwork = kind.kind !== "cross";
      rows.push(
        this.groupSwitch(`layer ${layer + 1}`, `all heads of ${kind.title.toLowerCase()} layer ${layer + 1}`, members),
        ...members.map((head) => this.smallMap(kind, head)),
        hasNetwork ? this.networkButton(network) : make("span"),
      );
    }
    const title = make("h3", {}, kind.name, " ", make("small", {}, kind.direction));
    const heading = make(
      "div",
      { className: "kind" },
      title,
      this.groupSwitch("all", `all heads of ${kind.title.toLowerCase()}`, heads),
    );
    return make(
      "section",
      { "aria-label": kind.title, style: `--heads: ${kind.heads}` },
      heading,
      make("div", { className: "heads" }, ...rows),
    );
  }

  smallMap(kind, head) {
    const canvas = make("canvas", { "aria-hidden": true });
    const name = `${kind.title} · layer ${head.layer + 1} · head ${head.head + 1}`;
    const element = make("button", { type: "button", className: "head", title: name, "aria-label": name }, canvas);
    element.addEventListener("click", () => {
      this.laboratory.look({ head });
      byId("map-title").scrollIntoView({ block: "nearest" }); // on a phone, the large map is above
    });
    this.maps.push({ head, element, canvas });
    return element;
  }

  groupSwitch(text, name, parts) {
    const { laboratory } = this;
    const label = `Switch ${name} off`;
    const act = () => laboratory.show(toggled(laboratory.experiment, parts));
    const element = button(text, act, {
      className: "switch",
      title: label,
      "aria-label": label,
      "aria-pressed": false,
    });
    this.switches.push({ element, parts });
    return element;
  }

  networkButton(network) {
    const name = `Feed-forward network of ${network.side} layer ${network.layer + 1}`;
    const act = () => openDialog(name, new FactorControl(this.laboratory, () => network).element);
    const element = button("FFN", act, {
      className: "switch",
      title: `${name}: switch off or scale`,
      "aria-label": `${name} (FFN)`,
      "aria-haspopup": "dialog",
      "aria-pressed": false,
    });
    this.switches.push({ element, parts: [network] });
    return element;
  }

  /** Arrow keys choose the next head. */
  onKey(event) {
    const here = this.maps.findIndex(({ element }) => element === event.target);
    if (here < 0) return;
    const { head } = this.maps[here];
    const { heads } = this.laboratory.data.kinds.find((each) => each.kind === head.kind);
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: heads, ArrowUp: -heads };
    const next = this.maps[here + (steps[event.key] ?? 0)];
    if (!(event.key in steps) || !next) return;
    event.preventDefault();
    this.laboratory.look({ head: next.head });
    next.element.focus();
  }
}

/** Switches a part off or scales it. */
class FactorControl {
  /**
   * @param {import("./laboratory.js").Laboratory} laboratory
   * @param {() => any} partOf returns the head or network
   */
  constructor(laboratory, partOf) {
    this.laboratory = laboratory;
    this.partOf = partOf;
    this.toggle = button("", () => laboratory.show(toggled(laboratory.experiment, [this.partOf()])));
    this.slider = make("input", {
      type: "range",
      min: 0,
      max: MAX_FACTOR,
      step: 0.1,
      "aria-label": "Factor of its output",
    });
    this.value = make("output");
    this.slider.addEventListener("input", () => this.name(Number(this.slider.value)));
    this.slider.addEventListener("change", () =>
      laboratory.show(scaled(laboratory.experiment, this.partOf(), Number(this.slider.value))),
    );
    this.element = make(
      "div",
      { className: "factor" },
      this.toggle,
      make("label", {}, "output × ", this.slider, this.value),
    );
    this.show();
    laboratory.addEventListener("busy", () => this.show());
  }

  show() {
    const factor = factorOf(this.laboratory.experiment, this.partOf());
    this.toggle.textContent = factor === 1 ? "Switch off" : factor === 0 ? "Switch on" : "Back to × 1";
    this.slider.value = String(factor);
    this.name(factor);
  }

  name(factor) {
    this.value.textContent = factor === 0 ? "off" : String(factor);
  }
}

/** The head in view, as a large map that the user reads and changes. */
export class LargeMap {
  /** @param {import("./laboratory.js").Laboratory} laboratory @param {import("./drawing.js").ColorTable} table */
  constructor(laboratory, table) {
    this.laboratory = laboratory;
    this.table = table;
    /** @type {import("./drawing.js").Drawing | null} */
    this.drawing = null;
    /** @type {import("./drawing.js").Layout | null} */
    this.layout = null;
    this.title = "";
    /** @type {[number, number] | null} the cell under the mouse */
    this.at = null;
    /** @type {[number, number] | null} the cell from which a drag began */
    this.from = null;
    this.canvas = byId("map");
    this.factor = new FactorControl(laboratory, () => laboratory.head);
    byId("factor").replaceChildren(this.factor.element);
    this.listen();
  }

  listen() {
    const { canvas, laboratory } = this;
    canvas.addEventListener("pointermove", (event) => {
      const at = this.cellOf(event);
      if (String(at) === String(this.at)) return;
      this.at = at;
      this.draw();
    });
    canvas.addEventListener("pointerleave", () => {
      this.at = this.from = null;
      this.draw();
    });
    canvas.addEventListener("pointerdown", (event) => {
      this.from = this.cellOf(event);
    });
    canvas.addEventListener("pointerup", (event) => this.onRelease(this.cellOf(event)));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    byId("mode").addEventListener("change", () => laboratory.look({ mode: byId("mode").value }));
    byId("merges").addEventListener("change", () => laboratory.look({ merges: byId("merges").checked }));
    byId("shown").replaceChildren(...laboratory.data.shown.map(({ value, title }) => make("option", { value }, title)));
    byId("shown").addEventListener("change", () => laboratory.look({ shown: byId("shown").value }));
    byId("move").addEventListener("click", () => laboratory.pinned && laboratory.moveRow(...laboratory.pinned));
    byId("restore").addEventListener("click", () => laboratory.pinned && laboratory.restoreRow(laboratory.pinned[0]));
    byId("values").addEventListener("toggle", () => this.showTable());
    canvas.parentElement.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  /** Draws the head in view. */
  show() {
    const { laboratory } = this;
    const { head, data, result } = laboratory;
    if (!result) return;
    this.drawing = laboratory.drawing(head);
    this.factor.show();
    const kind = data.kinds.find((each) => each.kind === head.kind);
    this.title = `${kind.title} · layer ${head.layer + 1} · head ${head.head + 1}`;
    byId("map-title").textContent = [this.title, scalingText(this.drawing.marks.factor)].filter(Boolean).join(" · ");
    byId("row-meaning").textContent = kind.rows[laboratory.mode];
    const role = kind.roles[head.layer * kind.heads + head.head];
    byId("role").textContent = role && role.name !== "mixed" ? `Usual role: ${role.name}.` : "";
    byId("role").title = byId("role-meaning").textContent = role?.text ?? "";
    byId("mode").value = laboratory.mode;
    byId("mode").disabled = head.kind === "encoder";
    byId("off-note").hidden = this.drawing.marks.factor !== 0;
    if (isTouched()) byId("map-keys").textContent = MOVING_BY_TOUCH;
    this.showChoices(this.drawing, result);
    this.draw();
    this.showTable();
  }

  /** The choices that there are: to merge words, and between the maps with and without the changes. */
  showChoices(drawing, { changed, original }) {
    const { laboratory } = this;
    const words = [changed, original].flatMap((each) => [...each.sourceWords, ...each.targetWords]);
    byId("merges").checked = laboratory.merges;
    byId("merges").disabled = words.every(({ start, end }) => end - start < 2);
    byId("shown").value = laboratory.shown;
    byId("shown").parentElement.hidden = !laboratory.isChanged;
    const chosen = laboratory.data.shown.find(({ value }) => value === laboratory.shown);
    const isLacking = laboratory.shown === "difference" && !drawing.isSigned;
    const isHatched = drawing.values.some(Number.isNaN);
    const notes = isLacking ? [laboratory.data.noDifference] : [chosen.note, isHatched ? laboratory.data.hatched : ""];
    byId("shown-note").textContent = laboratory.isChanged ? notes.filter(Boolean).join(" ") : "";
  }

  draw() {
    const { drawing, canvas, table, laboratory } = this;
    if (!drawing) return;
    const pinned = laboratory.pinnedPlace ?? this.at;
    const marks = { ...drawing.marks, pinned };
    const panel = canvas.closest(".panel");
    const top = panel.parentElement.getBoundingClientRect().top + window.scrollY; // the panel may be stuck
    const { clientWidth: width, scrollLeft: scrolled } = canvas.parentElement;
    const room = { width, scrolled, height: roomBelow(canvas, panel, top) };
    this.layout = drawMap(canvas, { ...drawing, marks }, table, room);
    const [least, most] = drawScale(byId("bar"), drawing, table);
    byId("least").textContent = least;
    byId("most").textContent = most;
    canvas.setAttribute("aria-label", `${this.title}: ${axesInWords(drawing)}`);
    const text = pinned
      ? reading(drawing, pinned)
      : isTouched()
        ? "Tap a cell to read its weight and to pin it."
        : "Point at a cell to read its weight. Click it, or use the arrow keys, to pin it.";
    if (byId("reading").textContent !== text) byId("reading").textContent = text;
    this.showTools(drawing);
  }

  /** The buttons for the row of the pinned cell. */
  showTools(drawing) {
    const { laboratory } = this;
    const { pinned, pinnedPlace: place } = laboratory;
    const move = byId("move");
    const canMove = pinned && place && laboratory.shown !== "original" && pinned[1] < laboratory.numSeen(pinned[0]);
    setHidden(move, !canMove, this.canvas);
    setHidden(byId("restore"), !pinned || !laboratory.rowChange(pinned[0]), this.canvas);
    if (canMove) {
      move.textContent = `Give “${drawing.columnLabels[place[1]]}” all the weight of row “${drawing.rowLabels[place[0]]}”`;
    }
  }

  /** The weights as a table, while it is open. */
  showTable() {
    const details = byId("values");
    const { drawing } = this;
    if (!details.open || !drawing) return;
    const columns = drawing.columnLabels.length;
    const head = make(
      "tr",
      {},
      make("td"),
      ...drawing.columnLabels.map((label) => make("th", { scope: "col" }, label)),
    );
    const rows = drawing.rowLabels.map((label, row) => {
      const cells = Array.from(drawing.values.slice(row * columns, (row + 1) * columns), (value) =>
        make("td", {}, Number.isNaN(value) ? "–" : value.toFixed(2)),
      );
      return make("tr", {}, make("th", { scope: "row" }, label), ...cells);
    });
    byId("table").replaceChildren(make("caption", {}, this.title), make("thead", {}, head), make("tbody", {}, ...rows));
  }

  /** @returns {[number, number] | null} */
  cellOf(event) {
    return this.layout && this.drawing
      ? cellAt(this.canvas, this.layout, this.drawing, event.clientX, event.clientY)
      : null;
  }

  /** A click pins a cell; a drag along a row moves its attention. @param {[number, number] | null} cell */
  onRelease(cell) {
    const { laboratory, from } = this;
    this.from = null;
    if (!cell || !from) return;
    const pair = laboratory.pairAt(cell);
    const isDrag = from[0] === cell[0] && from[1] !== cell[1] && laboratory.shown !== "original";
    if (isDrag && pair[1] < laboratory.numSeen(pair[0])) laboratory.moveRow(...pair);
    else laboratory.look({ pinned: String(cell) === String(laboratory.pinnedPlace) ? null : pair });
  }

  onKey(event) {
    const { laboratory, drawing } = this;
    if (!drawing || event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = cellByKey(drawing, laboratory.pinnedPlace, event.key);
    const key = event.key.toLowerCase();
    if (cell) laboratory.look({ pinned: laboratory.pairAt(cell) });
    else if (key === "escape") laboratory.look({ pinned: null });
    else if (key === "m" && laboratory.pinned && !byId("move").hidden) laboratory.moveRow(...laboratory.pinned);
    else if (key === "o") this.factor.toggle.click();
    else return;
    event.preventDefault();
  }
}
