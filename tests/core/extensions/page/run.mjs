// Answers the requests on its standard input, one JSON value, by the script of a page. The script and the packed model
// are named on the command line. Weights of maps are written as base64 of 32-bit numbers.
import { readFileSync } from "node:fs";

const [scriptPath, modelPath] = process.argv.slice(2);
const { Translator, TextError } = new Function(`return ${readFileSync(scriptPath, "utf8")}`)();
const began = performance.now();
const translator = await Translator.open(JSON.parse(readFileSync(modelPath, "utf8")));
const opened = performance.now() - began;

function written(translation) {
  for (const maps of Object.values(translation.attention)) {
    maps.values = Buffer.from(maps.values.buffer, maps.values.byteOffset, maps.values.byteLength).toString("base64");
  }
  return translation;
}

const ACTIONS = {
  run: (experiment) => written(translator.run(experiment)),
  compare: (experiment) => {
    const found = translator.compare(experiment);
    const { original } = found;
    return {
      ...found,
      changed: found.changed === original ? null : written(found.changed),
      original: written(original),
    };
  },
  encode: (text) => translator.reader.encode(text),
  force: ([step, text]) => translator.forcedWord(step, text),
  join: (tokens) => translator.targetCodec.detokenize(tokens),
};

const answers = JSON.parse(readFileSync(0, "utf8")).map(([action, value]) => {
  const start = performance.now();
  try {
    return { value: ACTIONS[action](value), milliseconds: performance.now() - start };
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify({ opened, answers }));
