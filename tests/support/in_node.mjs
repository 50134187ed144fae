// Plays episodes in Pyodide under node, and prints their lines, or the sentence of what is missing.
// Arguments: the folder of the page, the file of the script that plays one, the cases as JSON.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, script, cases] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide/pyodide.mjs")));
const python = await loadPyodide({ indexURL: resolve(folder, "pyodide") + "/" });
const { wheels } = JSON.parse(readFileSync(resolve(folder, "wheels.json"), "utf8"));
const silent = { messageCallback: () => {} };
await python.loadPackage(wheels.map((name) => resolve(folder, "wheels", name)), silent);
python.FS.writeFile("digests.py", readFileSync(script, "utf8"));
const { line } = python.pyimport("digests");
for (const [world, spec] of JSON.parse(cases)) {
  try {
    console.log(line(world, spec, 0));
  } catch (fault) {
    const said = fault.message.split("\n").find((text) => /^\S*(Error|Failed): /.test(text));
    console.log(`${world}\t${spec}\t${said}`);
  }
}
