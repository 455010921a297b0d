import js from "@eslint/js";
import globals from "globals";

const MARKUP = "Use textContent: a sentence is never markup.";

export default [
  { ignores: ["**/node_modules/", "**/.venv/", "build/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, globals: { ...globals.browser, ...globals.worker } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "no-control-regex": "off", // white space as Python defines it
      "no-implicit-coercion": "error",
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-use-before-define": ["error", { functions: false, classes: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "one-var": ["error", "never"],
      "prefer-arrow-callback": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      // A sentence is data: it never becomes markup or code.
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc"].map((property) => ({
          property,
          message: MARKUP,
        })),
        { object: "document", property: "write", message: MARKUP },
      ],
    },
  },
  { files: ["tests/**", "tools/**"], languageOptions: { globals: globals.node } },
];
