// The page: shows what the worker returns. Every text goes in as text, never as HTML.
import { orderChart } from "./chart.js";

const LARGEST_RECORD = 8_000_000;
const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

let worker;
let waiting = new Map();
let asked = 0;

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function table(target, heads, rows) {
  const head = element("tr", "");
  head.append(...heads.map((text) => Object.assign(element("th", text), { scope: "col" })));
  const lines = rows.map(({ cells, mark }) => {
    const line = element("tr", "", mark);
    line.append(...cells.map((cell) =>
      typeof cell === "number" ? element("td", number.format(cell)) : element("td", cell ?? "", "words")));
    return line;
  });
  target.replaceChildren(head, ...lines);
}

// -- the worker ----------------------------------------------------------------------------------

function start() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => received(data);
  worker.onerror = (event) => received({ failed: event.message || "the worker cannot be loaded" });
  at("loading").hidden = false;
}

function received(data) {
  if (data.stage) {
    at("stage").textContent = data.stage;
    at("progress").value = data.share;
  } else if (data.failed) {
    at("stage").textContent = `The page cannot be loaded: ${data.failed}`;
    at("stage").className = "error";
  } else if (data.loaded) {
    at("loading").hidden = true;
    at("numpy").textContent = data.numpy ? "" : "This page was built without numpy. EnterpriseArena, groups of companies and some rules need it and say so; "
      + "the Beer Game, the consulting cases, EDT and YC-Bench do not.";
    enable(true);
  } else {
    waiting.get(data.id)?.(data.result);
    waiting.delete(data.id);
  }
}

function enable(on) {
  document.querySelectorAll("form button, #file").forEach((each) => { each.disabled = !on; });
  document.body.toggleAttribute("data-ready", on);
}

async function ask(request, given, bytes) {
  enable(false);
  const slow = setTimeout(() => { at("working").hidden = false; }, 400);
  const id = asked++;
  const result = await new Promise((resolve) => {
    waiting.set(id, resolve);
    worker.postMessage({ id, request, given, bytes });
  });
  clearTimeout(slow);
  at("working").hidden = true;
  if (!result.stopped) enable(true);
  return result;
}

at("stop").onclick = () => {
  worker.terminate();
  const stopped = [...waiting.values()];
  waiting = new Map();
  stopped.forEach((resolve) => resolve({ error: "stopped; Python is loaded again, and a game that was under way has ended", stopped: true }));
  at("desk").hidden = true;
  start();
};

// -- the game ------------------------------------------------------------------------------------

const FIGURES = {
  inventory: "On hand",
  backlog: "Owed",
  incoming_order: "Ordered from you",
  incoming_delivery: "Delivered to you",
  supply_line: "Under way to you",
};

let played;

function drawChart() {
  if (played) at("chart").replaceChildren(orderChart(played.weeks, played.horizon, Math.max(280, at("chart").clientWidth)));
}

addEventListener("resize", drawChart);

at("begin").onsubmit = async (event) => {
  event.preventDefault();
  const { preset, role, seed } = Object.fromEntries(new FormData(event.target));
  const last = preset === "classic" || preset === "poisson" || preset === "paper" ? "factory" : "brewery";
  show(await ask("begin", { preset, role: role || last, seed }));
};

at("order").onsubmit = async (event) => {
  event.preventDefault();
  show(await ask("order", { units: event.target.units.value }));
  event.target.units.select();
};

function show(game) {
  at("game-error").textContent = game.error ?? "";
  if (game.error) return;
  at("desk").hidden = false;
  at("rules").textContent = game.rules;
  at("order").hidden = !game.stage;
  at("end").hidden = !game.end;
  const week = game.stage ? game.stage.week : game.horizon;
  at("week").textContent = game.end ? `The game has ended after ${game.horizon} weeks` : `Week ${week} of ${game.horizon}: you are the ${game.role}`;
  const shown = Object.entries(FIGURES).filter(() => game.stage).map(([name, label]) => [label, game.stage[name]]);
  at("figures").replaceChildren(...[[game.end ? "Cost" : "Cost so far", game.cost], ...shown].map(([label, value]) => {
    const pair = element("div", "");
    pair.append(element("dt", label), element("dd", number.format(value)));
    return pair;
  }));
  played = game;
  drawChart();
  const heads = ["week", "incoming_order", "order", "incoming_delivery", "outgoing_delivery", "inventory", "backlog", "cost"];
  table(at("weeks"), ["Week", "Ordered from you", "Your order", "Delivered", "Shipped", "On hand", "Owed", "Cost"],
    game.weeks.map((line) => ({ cells: heads.map((head) => line[head]) })));
  if (game.end) ended(game);
  else {
    at("order").units.value = "";
    at("order").units.focus({ preventScroll: true });
  }
}

async function ended(game) {
  at("score").textContent = `Your score is ${number.format(game.end.score)}: minus the cost of your stage.`;
  at("digest").textContent = game.end.digest;
  at("save").download = game.file;
  at("save").href = URL.createObjectURL(new Blob([game.record], { type: "application/jsonl" }));
  at("board").replaceChildren();
  at("week").focus();
  const found = await ask("rules", {});
  if (found.error) {
    at("game-error").textContent = found.error;
    return;
  }
  const lines = [...found.lines.map((line) => ({ cells: [line.rule, line.score, line.knows] })),
    { cells: ["you", game.end.score, ""], mark: "you" }].sort((a, b) => b.cells[1] - a.cells[1]);
  table(at("board"), ["Rule", "Score", "What it knows besides its own figures"], lines);
  at("without").replaceChildren(...found.without.map((text) => element("li", text)));
}

// -- a record ------------------------------------------------------------------------------------

async function replay(file) {
  at("replayed").textContent = at("replay-error").textContent = "";
  const size = file.size;
  const result = size > LARGEST_RECORD
    ? { error: `${file.name} has ${number.format(size)} bytes; a record of at most ${number.format(LARGEST_RECORD)} can be dropped` }
    : await ask("replay", { name: file.name }, await file.arrayBuffer());
  at("replayed").textContent = result.said ?? "";
  at("replay-error").textContent = result.error ?? "";
}

at("file").onchange = ({ target }) => {
  if (target.files[0]) replay(target.files[0]);
};

const over = (on) => (event) => {
  event.preventDefault();
  at("drop").classList.toggle("over", on);
};
// A file that is dropped beside the field would replace the page.
addEventListener("dragover", over(true));
addEventListener("dragleave", over(false));
addEventListener("drop", (event) => {
  over(false)(event);
  const file = event.dataTransfer.files[0];
  if (file && document.body.hasAttribute("data-ready")) replay(file);
});

// -- a policy ------------------------------------------------------------------------------------

fetch("policy.py").then((response) => response.text()).then((text) => {
  if (!at("program").value) at("program").value = text;
});

at("run").onsubmit = async (event) => {
  event.preventDefault();
  const result = await ask("run_policy", { text: at("program").value, preset: event.target.preset.value });
  at("policy-error").textContent = result.error ?? "";
  at("compared").hidden = Boolean(result.error);
  at("printed").hidden = !result.printed;
  at("printed").textContent = result.printed ?? "";
  at("summary").textContent = "";
  if (result.error) return;
  table(at("scores"), ["Seed", result.name, result.textbook, "Difference", "Ledger digest"],
    result.lines.map(({ seed, mine, textbook, digest }) =>
      ({ cells: [seed, mine, textbook, mine - textbook, `${digest.slice(0, 16)}…`] })));
  const mean = result.lines.reduce((sum, line) => sum + line.mine - line.textbook, 0) / result.lines.length;
  at("summary").textContent = `${result.name} scores ${number.format(Math.abs(mean))} ${mean < 0 ? "less" : "more"} than ${result.textbook} a game, over ${result.lines.length} games on the same demand.`;
};

start();
