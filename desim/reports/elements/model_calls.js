// The conversation of a report: search, whole requests, and links into folded parts.
"use strict";

const part = (id) => document.getElementById(id);

function unfold(node) {
  for (let each = node; each; each = each.parentElement) {
    if (each.hidden) each.hidden = false;
    if (each.localName === "details") each.open = true;
  }
}

// A request has the first parts of an earlier one, and others of its own.
function partsOf(request) {
  const chain = [];
  for (let each = request; each; each = part(each.dataset.before)) chain.unshift(each);
  return chain.reduce((parts, each) => [
    ...parts.slice(0, Number(each.dataset.shared || 0)),
    ...each.dataset.others.split(" ").filter(Boolean),
  ], []);
}

function join(request) {
  const copies = partsOf(request).map(part).filter(Boolean).map((node) => node.cloneNode(true));
  for (const copy of copies) copy.removeAttribute("id");
  request.querySelector("p")?.replaceWith(...copies);
}

document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.matches(".request")) join(target);
}, true);

function go() {
  const target = part(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  unfold(target);
  target.scrollIntoView();
}

function rangesIn(unit, wanted) {
  const ranges = [];
  const walker = document.createTreeWalker(unit, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.matches(".head")) continue;
    const text = node.data.toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      // The letters of some languages are more in lower case.
      if (at + wanted.length > node.length) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

function searchable(block) {
  const bar = block.querySelector(".find");
  const box = bar.querySelector("input");
  const count = bar.querySelector("output");
  const units = [...block.querySelectorAll(".unit")];
  let texts = null, found = [], at = -1, waiting = 0;

  function filter() {
    const wanted = box.value.trim().toLowerCase();
    texts ??= units.map((unit) => unit.textContent.toLowerCase());
    found = wanted ? units.filter((_, place) => texts[place].includes(wanted)) : [];
    const kept = new Set(found);
    // The browser's own search still finds what is filtered out.
    for (const unit of units) unit.hidden = wanted && !kept.has(unit) ? "until-found" : false;
    at = -1;
    CSS.highlights?.clear();
    count.textContent = wanted ? `${found.length} of ${units.length}` : "";
  }

  function step(by) {
    if (waiting) { clearTimeout(waiting); waiting = 0; filter(); }
    if (!found.length) return;
    at = (at + by + found.length + (at < 0 && by < 0 ? 1 : 0)) % found.length;
    const unit = found[at], wanted = box.value.trim().toLowerCase();
    if (unit.localName === "details") unit.open = true;
    const ranges = rangesIn(unit, wanted);
    for (const range of ranges) unfold(range.startContainer.parentElement.closest("details"));
    if (self.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
    (ranges[0]?.startContainer.parentElement ?? unit).scrollIntoView({ block: "center" });
    count.textContent = `${at + 1} of ${found.length} that match`;
  }

  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { waiting = 0; filter(); }, 150);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { box.value = ""; filter(); }
  });
  bar.addEventListener("click", ({ target }) => {
    if (target.dataset.step) step(Number(target.dataset.step));
    if (target.dataset.fold === undefined) return;
    const open = target.textContent === "Unfold all";
    for (const unit of units) if (unit.localName === "details") unit.open = open;
    target.textContent = open ? "Fold all" : "Unfold all";
  });
  bar.hidden = false;
  return box;
}

const boxes = [...document.querySelectorAll(".calls")].map(searchable);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, textarea")) return;
  event.preventDefault();
  boxes[0].focus();
});
addEventListener("hashchange", go);
go();
