/** Light or dark: the theme of the system until the reader chooses one, which later visits remember. */

const KEY = "augenmerk-theme";
const remembered = () => inStorage((storage) => storage.getItem(KEY));

/** Sets the theme and lets the button `#theme` change it. @param {() => void} redraw what has colours of its own */
export function followTheme(redraw) {
  const page = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const set = (/** @type {string} */ theme) => {
    page.dataset.theme = theme;
    redraw();
  };
  const ofSystem = () => (system.matches ? "dark" : "light");
  set(remembered() ?? ofSystem());
  system.addEventListener("change", () => remembered() ?? set(ofSystem()));
  /** @type {any} */ (document.querySelector("#theme")).addEventListener("click", () => {
    const theme = page.dataset.theme === "dark" ? "light" : "dark";
    inStorage((storage) => storage.setItem(KEY, theme));
    set(theme);
  });
}

/** The result; null where a page has no storage. @param {(storage: Storage) => any} act @returns {string | null} */
function inStorage(act) {
  try {
    return act(localStorage);
  } catch {
    return null;
  }
}
