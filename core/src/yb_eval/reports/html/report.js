// The table of samples, with its search, filters, sorting and details.
// Rows are drawn only where the reader looks, so ten thousand are as quick as ten. Text reaches the page through
// textContent alone; the page's policy forbids making markup or code from strings.
"use strict";
(() => {
  const find = (id) => document.getElementById(id);

  const rows = JSON.parse(find("rows").textContent);
  const viewport = find("viewport");
  const table = find("table");
  const body = table.tBodies[0];
  const head = [...table.tHead.rows[0].cells];
  const filters = { query: find("query"), result: find("result"), suite: find("suite"), tag: find("tag") };
  const suites = filters.suite ? [...filters.suite.options].slice(1).map((option) => option.text) : [];
  const HEIGHT = 40; // of a row, as --row in the style sheet
  const MARGIN = 12; // rows drawn beyond each edge
  const PRINTED = 100;
  const RANK = { error: 0, wrong: 1, skipped: 3, unjudged: 4, right: 5 };
  const FLIPS = { broken: "broken since the baseline", fixed: "fixed since the baseline", changed: "changed since the baseline" };

  // What is asked for, and what is open. `shown` holds the rows that are found, in order.
  const asked = { sort: "result", down: false };
  let shown = [];
  let opened = null;
  let panelHeight = 0;
  let printing = false;

  rows.forEach((row, place) => {
    row.place = place;
    row.s ??= 0;
    row.t ??= [];
    row.tags = row.t.join(" ");
    row.rank = RANK[row.k] + (row.k === "right" && row.f ? -0.5 : 0) - (row.f === "broken" ? 0.5 : 0);
    row.text = [row.id, row.e, row.p, row.r, row.b, row.tags, row.d, row.E, row.P, ...(row.j ?? []).flat()].join("\n").toLowerCase();
  });
  const keys = {
    result: (row) => row.rank,
    id: (row) => row.id,
    suite: (row) => suites[row.s],
    expected: (row) => row.e,
    predicted: (row) => row.p,
    reason: (row) => row.r ?? "",
    tags: (row) => row.tags,
  };

  fillFilters();
  for (const part of [find("filters"), find("count"), viewport]) part.hidden = false;
  update();

  find("filters").addEventListener("input", update);
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    clear();
    update();
  });
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const key = button.dataset.sort;
    asked.down = asked.sort === key ? !asked.down : false;
    asked.sort = key;
    update();
  });
  body.addEventListener("click", (event) => {
    const button = event.target.closest(".open");
    if (button) toggle(rows[Number(button.dataset.place)]);
  });
  body.addEventListener("keydown", move);
  viewport.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(() => requestAnimationFrame(refit)).observe(viewport);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    filters.query.focus();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-find]");
    if (link) reveal(link.dataset.find);
  });
  addEventListener("hashchange", follow);
  follow();

  // Another page leads to a sample by the address: #sample=ID.
  function follow() {
    const [name, id] = location.hash.slice(1).split("=");
    if (name !== "sample" || id === undefined) return;
    reveal(decodeURIComponent(id));
    find("samples").scrollIntoView();
  }

  function reveal(id) {
    clear();
    filters.query.value = id;
    update();
    const row = shown.find((candidate) => candidate.id === id);
    if (row && row !== opened) toggle(row);
  }

  function fillFilters() {
    const results = new Map();
    const tags = new Map();
    const count = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const row of rows) {
      count(results, row.k);
      if (row.f) count(results, row.f);
      for (const tag of new Set(row.t)) count(tags, tag);
    }
    const known = [...Object.keys(RANK), ...Object.keys(FLIPS)].filter((key) => results.has(key));
    options(filters.result, known.map((key) => [key, FLIPS[key] ?? key, results.get(key)]));
    const frequent = [...tags].sort((a, b) => b[1] - a[1]).slice(0, 300).sort((a, b) => compare(a[0], b[0]));
    options(filters.tag, frequent.map(([tag, n]) => [tag, tag, n]));
  }

  function options(select, entries) {
    select.append(new Option("all", ""));
    for (const [value, label, n] of entries) select.append(new Option(`${label} (${n.toLocaleString("en")})`, value));
  }

  function clear() {
    for (const field of Object.values(filters)) if (field) field.value = "";
  }

  function compare(a, b) {
    return typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
  }

  // Finds and orders the rows anew; the order of the dataset decides between equals.
  function update() {
    const words = filters.query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const result = filters.result.value;
    const suite = filters.suite?.value ?? "";
    const tag = filters.tag.value;
    shown = rows.filter(
      (row) =>
        (!result || row.k === result || row.f === result) &&
        (!suite || row.s === Number(suite)) &&
        (!tag || row.t.includes(tag)) &&
        words.every((word) => row.text.includes(word)),
    );
    const key = keys[asked.sort];
    const sign = asked.down ? -1 : 1;
    shown.sort((a, b) => sign * compare(key(a), key(b)) || a.place - b.place);
    for (const cell of head) {
      const name = cell.querySelector("button").dataset.sort;
      if (name === asked.sort) cell.setAttribute("aria-sort", asked.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    if (opened && !shown.includes(opened)) opened = null;
    const total = rows.length.toLocaleString("en");
    find("count").textContent = shown.length === rows.length ? `${total} samples` : `${shown.length.toLocaleString("en")} of ${total} samples`;
    table.setAttribute("aria-rowcount", String(shown.length + 1));
    viewport.scrollTop = 0;
    draw();
  }

  // Draws the rows in view between two spacers. The row that has the focus keeps its element while it is drawn.
  function draw() {
    const place = opened ? shown.indexOf(opened) : -1;
    const extra = place >= 0 ? panelHeight : 0;
    const at = (offset) => {
      const beforePanel = (place + 1) * HEIGHT;
      const rest = place < 0 || offset <= beforePanel ? offset : Math.max(beforePanel, offset - extra);
      return Math.floor(rest / HEIGHT);
    };
    const first = printing ? 0 : Math.max(0, at(viewport.scrollTop) - MARGIN);
    const last = printing ? Math.min(shown.length, PRINTED) : Math.min(shown.length, at(viewport.scrollTop + viewport.clientHeight) + MARGIN);
    const focused = document.activeElement?.closest?.("tr.row");
    const kept = new Map([...body.querySelectorAll("tr.row")].map((element) => [element.dataset.place, element]));
    const drawn = [];
    if (first > 0) drawn.push(space(first * HEIGHT + (place >= 0 && place < first ? extra : 0)));
    for (let index = first; index < last; index++) {
      const element = kept.get(String(shown[index].place)) ?? drawRow(shown[index]);
      element.setAttribute("aria-rowindex", String(index + 2));
      element.querySelector(".open").setAttribute("aria-expanded", String(shown[index] === opened));
      drawn.push(element);
      if (index === place) drawn.push(body.querySelector(`tr.panel[data-place="${opened.place}"]`) ?? drawPanel(opened));
    }
    const below = (printing ? 0 : shown.length - last) * HEIGHT;
    if (below > 0) drawn.push(space(below + (place >= last ? extra : 0)));
    if (!shown.length) drawn.push(nothing());
    replace(drawn);
    if (focused && !body.contains(focused) && focused !== document.activeElement) viewport.focus({ preventScroll: true });
    const panel = body.querySelector("tr.panel");
    if (panel && Math.abs(panel.offsetHeight - panelHeight) > 1) {
      panelHeight = panel.offsetHeight;
      draw();
    }
  }

  // Replaces the body's rows without moving those that stay: moving an element would take the focus from it.
  function replace(drawn) {
    const staying = new Set(drawn);
    for (const element of [...body.rows]) if (!staying.has(element)) element.remove();
    let next = body.firstChild;
    for (const element of drawn) {
      if (element === next) next = next.nextSibling;
      else body.insertBefore(element, next);
    }
  }

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function cell(tag, className, text) {
    const element = make(tag, className);
    element.append(make("bdi", "", text));
    element.title = text;
    return element;
  }

  // The columns there are: narrow screens go without some, and a cell must not span more than there are.
  function columns() {
    return head.filter((title) => title.offsetParent !== null).length || 1;
  }

  function refit() {
    for (const filler of body.querySelectorAll("tr.panel > td, tr.space > td")) filler.colSpan = columns();
    draw();
  }

  function space(height) {
    const element = make("tr", "space");
    const filler = make("td");
    filler.colSpan = columns();
    filler.style.height = `${height}px`;
    element.setAttribute("aria-hidden", "true");
    element.append(filler);
    return element;
  }

  function nothing() {
    const element = make("tr", "space");
    const said = make("td", "");
    said.colSpan = columns();
    said.append(make("p", "none-found", "No sample matches. Clear the search or a filter."));
    element.append(said);
    return element;
  }

  function drawRow(row) {
    const element = make("tr", "row");
    element.dataset.place = row.place;
    const result = make("td", "c-result");
    const mark = make("span", `k ${row.k}`, row.k);
    if (row.f) mark.append(make("small", "", row.f));
    result.append(mark);
    const name = make("th", "c-id");
    name.scope = "row";
    const button = make("button", "open");
    button.type = "button";
    button.dataset.place = row.place;
    button.title = row.id;
    button.append(make("bdi", "", row.n ? `${row.id} (repeat ${row.n})` : row.id));
    name.append(button);
    element.append(result, name);
    if (filters.suite) element.append(cell("td", "c-suite", suites[row.s]));
    element.append(
      cell("td", "c-expected", row.e),
      cell("td", "c-predicted", row.p),
      cell("td", "c-reason", row.r ?? ""),
      cell("td", "c-tags tags", row.t.join(", ")),
    );
    return element;
  }

  function drawPanel(row) {
    const element = make("tr", "panel");
    element.dataset.place = row.place;
    const holder = make("td");
    holder.colSpan = columns();
    const list = make("dl");
    const add = (term, content) => {
      const description = make("dd");
      description.append(content);
      list.append(make("dt", "", term), description);
    };
    const say = (term, text, tag = "bdi") => text && add(term, make(tag, "", text));
    say("Sample", row.id);
    if (filters.suite) say("Suite", suites[row.s]);
    if (row.j) add("Judgements", judgements(row.j));
    else {
      say("Expected", row.E ?? row.e, row.E ? "pre" : "bdi");
      say("Predicted", row.P ?? row.p, row.P ? "pre" : "bdi");
    }
    say("Reason", row.r);
    if (row.b) say("Since baseline", `${row.f}: ${row.b}`);
    say("Confidence", row.c);
    say("Score", row.o);
    say("Tags", row.t.join(", "));
    say("Details", row.d, "pre");
    holder.append(list);
    element.append(holder);
    return element;
  }

  function judgements(entries) {
    const made = make("table");
    const titles = make("tr");
    for (const title of ["Judgement", "Result", "Expected", "Predicted", "Confidence", "Reason"]) {
      const cell = make("th", "", title);
      cell.scope = "col";
      titles.append(cell);
    }
    const top = make("thead");
    top.append(titles);
    const rest = make("tbody");
    for (const [name, result, ...others] of entries) {
      const line = make("tr");
      const title = cell("th", "", name);
      title.scope = "row";
      const mark = make("td");
      mark.append(make("span", `k ${result}`, result));
      line.append(title, mark, ...others.map((text) => cell("td", "", text)));
      rest.append(line);
    }
    made.append(top, rest);
    return made;
  }

  function toggle(row) {
    opened = opened === row ? null : row;
    panelHeight = 0;
    draw();
  }

  function move(event) {
    const from = event.target.closest("tr.row");
    if (!from) return;
    const index = Number(from.getAttribute("aria-rowindex")) - 2;
    const steps = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: shown.length - 1 };
    if (event.key === "Escape" && opened) return toggle(opened);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const to = Math.min(Math.max(steps[event.key], 0), shown.length - 1);
    const place = opened ? shown.indexOf(opened) : -1;
    const top = to * HEIGHT + (place >= 0 && to > place ? panelHeight : 0);
    const header = table.tHead.offsetHeight;
    if (top < viewport.scrollTop) viewport.scrollTop = top;
    else if (top + HEIGHT + header > viewport.scrollTop + viewport.clientHeight) viewport.scrollTop = top + HEIGHT + header - viewport.clientHeight;
    draw();
    body.querySelector(`tr.row[aria-rowindex="${to + 2}"] .open`)?.focus({ preventScroll: true });
  }

  function print(on) {
    printing = on;
    find("printed").hidden = !on || shown.length <= PRINTED;
    find("printed").textContent = `The first ${PRINTED} of ${shown.length.toLocaleString("en")} samples are printed.`;
    draw();
  }
})();
