/** Elements of a page. Texts are data: they are never read as markup. */

/**
 * A new element.
 *
 * @param {string} name
 * @param {Object<string, any>} properties such as `className`; those with a hyphen, and `role`, are attributes; `on`
 *     holds listeners by event
 * @param {(Node | string)[]} children
 * @returns {any}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  const { on = {}, ...rest } = properties;
  for (const [key, value] of Object.entries(rest)) {
    if (key.includes("-") || key === "role") element.setAttribute(key, String(value));
    else element[key] = value;
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  element.append(...children);
  return element;
}

/** A button that acts on a click. @returns {HTMLButtonElement} */
export function button(text, act, properties = {}) {
  return make("button", { type: "button", on: { click: act }, ...properties }, text);
}

/** The element with this id. @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** Replaces the children of an element. A button that had the focus passes it to the one in its place. */
export function refill(element, children, otherwise = byId("text")) {
  const buttons = () => Array.from(element.querySelectorAll("button"));
  const place = buttons().indexOf(/** @type {any} */ (document.activeElement));
  element.replaceChildren(...children);
  if (place >= 0) (buttons()[place] ?? buttons().at(-1) ?? otherwise).focus();
}

/** Hides or shows a button; one that has the focus passes it on before it is hidden. */
export function setHidden(element, isHidden, next) {
  if (isHidden && element === document.activeElement) next.focus();
  element.hidden = isHidden;
}

/** Enables or disables a button; one that has the focus passes it on before it is disabled. */
export function setDisabled(element, isDisabled, next) {
  if (isDisabled && element === document.activeElement) next.focus();
  element.disabled = isDisabled;
}

/** Fills the page's dialog and shows it. @param {string} title @param {Node[]} content */
export function openDialog(title, ...content) {
  const dialog = byId("dialog");
  byId("dialog-title").textContent = title;
  byId("dialog-content").replaceChildren(...content);
  if (!dialog.open) dialog.showModal();
}

export function closeDialog() {
  byId("dialog").close();
}

/** A field with a button: Enter or a click calls `use` with the text, whose error is shown. */
export function askText(label, name, use) {
  const input = make("input", { autocomplete: "off", spellcheck: false, required: true, maxLength: 200 });
  const problem = make("p", { className: "problem", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await use(input.value);
      closeDialog();
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  return make(
    "form",
    { className: "ask", on: { submit } },
    make("label", {}, label, " ", input),
    make("button", {}, name),
    problem,
  );
}
