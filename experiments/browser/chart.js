// A chart of orders placed and orders received by week, as SVG.

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 250, LEFT = 44, RIGHT = 14, TOP = 32, BOTTOM = 34;

function drawn(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Returns a round number of at least `most`, so that the grid has round labels. */
function top(most) {
  const step = 10 ** Math.floor(Math.log10(Math.max(most, 4)));
  return [1, 2, 4, 5, 10].map((factor) => factor * step).find((each) => each >= most);
}

/** Returns the chart of the weeks so far, `width` pixels wide; the axis covers all weeks of the game. */
export function orderChart(weeks, horizon, width) {
  const series = { mine: weeks.map((week) => week.order), demand: weeks.map((week) => week.incoming_order) };
  const most = top(Math.max(4, ...series.mine, ...series.demand));
  const x = (week) => LEFT + ((week - 1) / Math.max(1, horizon - 1)) * (width - LEFT - RIGHT);
  const y = (units) => HEIGHT - BOTTOM - (units / most) * (HEIGHT - TOP - BOTTOM);
  const last = weeks.at(-1);
  const label = last
    ? `Week ${last.week}: you ordered ${last.order}, and ${last.incoming_order} were ordered from you. All weeks are in the table below.`
    : "No week has ended yet.";
  const chart = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const share of [0, 0.5, 1]) {
    const units = most * share;
    chart.append(
      drawn("path", { class: "grid", d: `M${LEFT} ${y(units)}H${width - RIGHT}` }),
      drawn("text", { x: LEFT - 6, y: y(units) + 4, "text-anchor": "end" }, units.toLocaleString("en")),
    );
  }
  for (const week of [1, Math.ceil(horizon / 2), horizon])
    chart.append(drawn("text", { x: x(week), y: HEIGHT - 18, "text-anchor": "middle" }, week));
  chart.append(drawn("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "week"));
  const names = { mine: "your orders", demand: "ordered from you" };
  Object.entries(series).forEach(([name, units], place) => {
    const from = LEFT + place * 130;
    chart.append(
      drawn("path", { class: name, d: `M${from} 12h26` }),
      drawn("text", { class: name, x: from + 32, y: 16 }, names[name]),
      drawn("path", { class: name, d: units.length ? `M${units.map((each, week) => `${x(week + 1)} ${y(each)}`).join("L")}` : "" }),
    );
  });
  return chart;
}
