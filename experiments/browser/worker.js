// Runs Python: loads Pyodide and the wheels from the page's folder, then answers requests of the page.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const tell = (message) => postMessage(message);

async function load() {
  const { wheels } = await (await fetch("wheels.json")).json();
  const steps = wheels.length + 3;
  let done = 0;
  const stage = (name) => tell({ stage: name, share: done++ / steps });
  stage("Loading Python (13 MB)");
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href });
  for (const wheel of wheels) {
    stage(`Loading ${wheel}`);
    const silent = { messageCallback: () => {}, errorCallback: (text) => { throw new Error(text); } };
    await python.loadPackage(new URL(`wheels/${wheel}`, import.meta.url).href, silent);
  }
  stage("Loading the Beer Game");
  python.FS.writeFile("tab.py", await (await fetch("tab.py")).text());
  const tab = python.pyimport("tab");
  stage("Starting");
  tell({ loaded: true, numpy: wheels.some((name) => name.startsWith("numpy-")) });
  return { python, tab };
}

const ready = load();
ready.catch((fault) => tell({ failed: String(fault.message ?? fault) }));

let dropped = 0;

onmessage = async ({ data: { id, request, given, bytes } }) => {
  try {
    const { python, tab } = await ready;
    if (bytes) {
      given.file = `/tmp/dropped-${dropped++}`;
      python.FS.writeFile(given.file, new Uint8Array(bytes));
    }
    tell({ id, result: JSON.parse(tab.answer(request, JSON.stringify(given))) });
  } catch (fault) {
    const lines = String(fault.message ?? fault).trim().split("\n");
    tell({ id, result: { error: `the program of this page failed: ${lines.at(-1)}` } });
  }
};
