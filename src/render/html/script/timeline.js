// @ts-check
"use strict";
// The timeline as something to move in: labels, axis, overview, pointer and keyboard.

(() => {
  const model = readModel();
  const stage = document.getElementById("canvas");
  if (!model || !stage) return;
  Times.state.origin = model.origin;
  Times.state.written = model.zone;
  Times.state.root = model.root ? model.root[0] : 0;
  Times.state.rooted = model.root !== null;

  /** @template {keyof HTMLElementTagNameMap} T @param {T} name @param {string} kind @param {HTMLElement} [within] */
  const make = (name, kind, within) => {
    const element = document.createElement(name);
    element.className = kind;
    within?.append(element);
    return element;
  };

  const live = make("div", "live");
  const overview = make("canvas", "overview", live);
  const axis = make("canvas", "axis", live);
  const body = make("div", "lanes", live);
  const labels = make("div", "labels", body);
  const canvas = make("canvas", "plot", body);
  const tip = make("div", "tip", live);
  const said = make("div", "said", live);
  overview.setAttribute("aria-hidden", "true");
  axis.setAttribute("aria-hidden", "true");
  canvas.setAttribute("aria-hidden", "true");
  said.setAttribute("aria-live", "polite");
  tip.hidden = true;
  stage.append(live);
  stage.classList.add("drawn");

  const view = new View(model);
  const layout = new Layout(model);
  const painter = new Painter(canvas, model, view, layout);
  const scales = new Scales(axis, overview, model, view, painter.ink);
  // What is drawn where, for those who test it.
  Object.assign(window, { __picture: painter });
  const narrowest = 700;
  let asked = Records.asked();
  let width = 1000;
  let gutter = 0;

  // Labels are elements, so that they are read, focused and folded like any others.
  const drawLabels = () => {
    const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const parts = layout.rows.map((row) => {
      const toggles = row.kind === "group" || (row.kind === "lane" && (model.lanes[row.lane]?.members.length ?? 0) > 0);
      const element = document.createElement(toggles ? "button" : "div");
      element.className = `label ${row.kind}`;
      element.style.top = `${row.y}px`;
      element.style.height = `${layout.narrow && row.kind !== "group" ? 19 : row.height}px`;
      const name = make("bdi", "name", element);
      name.textContent = row.label;
      if (row.note) make("span", "note", element).textContent = row.note;
      element.title = row.note ? `${row.label} · ${row.note}` : row.label;
      if (element instanceof HTMLButtonElement) {
        const open = row.kind === "group" ? !layout.shut.has(row.group) : layout.open.has(row.lane);
        element.type = "button";
        element.dataset.key = row.kind === "group" ? `group-${row.group}` : `lane-${row.lane}`;
        element.setAttribute("aria-expanded", String(open));
        element.addEventListener("click", () => {
          const [set, key] = row.kind === "group" ? [layout.shut, row.group] : [layout.open, row.lane];
          if (set.has(key)) set.delete(key); else set.add(key);
          fit();
        });
      }
      return element;
    });
    labels.replaceChildren(...parts);
    if (held) /** @type {HTMLElement | null} */ (labels.querySelector(`[data-key="${held}"]`))?.focus();
  };

  /** The canvas follows what can be seen of the lanes. */
  const place = () => {
    const box = body.getBoundingClientRect();
    const top = Math.max(0, Math.min(layout.height - painter.tall, -box.top));
    canvas.style.top = `${top}px`;
    painter.top = top;
  };

  let due = false;
  const redraw = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      place();
      asked = Records.asked();
      painter.draw();
      scales.draw();
    });
  };

  const fit = () => {
    width = Math.max(260, stage.clientWidth);
    const narrow = width < narrowest;
    gutter = narrow ? 0 : Math.round(Math.min(330, Math.max(210, width * 0.2)));
    view.width = width - gutter;
    layout.make(narrow);
    painter.resize(view.width, Math.min(layout.height, Math.max(400, innerHeight)));
    canvas.style.left = `${gutter}px`;
    body.style.height = `${layout.height}px`;
    labels.style.width = narrow ? "100%" : `${gutter}px`;
    live.classList.toggle("narrow", narrow);
    scales.resize(width, gutter);
    drawLabels();
    // The line that is told is another row now, or is gone.
    lines.find();
    if (painter.line && !lines.row) {
      tip.hidden = true;
      painter.cursor = null;
    }
    painter.line = lines.row;
    redraw();
  };

  // What is told of a mark, beside the pointer and aloud.
  /** @param {Mark} mark */
  const wordsOf = (mark) => {
    const lane = model.lanes[mark.lane];
    const name = mark.member >= 0 ? lane?.members[mark.member]?.[0] : lane?.label;
    const text = mark.text || Records.numbers.get(mark.row)?.element.cells[3]?.textContent || "";
    return { name: name ?? "", text };
  };
  /** @param {{mark?: Mark, step?: Step, bar?: Bar}} what */
  const told = ({ mark, step, bar }) => {
    if (step) return { head: `Step ${step.number}`, text: step.text, when: Times.full(step.at) };
    if (mark) {
      const { name, text } = wordsOf(mark);
      const wide = mark.to - mark.from;
      return { head: name, text, when: Times.full(mark.from) + (wide >= 1000 && mark.count === 1 ? ` or up to ${Times.length(wide)} later` : "") };
    }
    if (bar) {
      const ends = [bar.from, bar.to].map((at) => (at <= view.whole.from || at >= view.whole.to ? "" : Times.full(at)));
      const lane = model.lanes[bar.lane];
      const name = bar.member >= 0 ? lane?.members[bar.member]?.[0] : lane?.label;
      return { head: name ?? "", text: bar.text, when: ends.filter((end) => end).join(" to ") };
    }
    return { head: "", text: "", when: "" };
  };

  /** Some words beside a place of the picture. @param {["b" | "span" | "i", string][]} parts @param {number} x @param {number} y */
  const showTip = (parts, x, y) => {
    tip.hidden = false;
    tip.replaceChildren(...parts.filter(([, text]) => text).map(([name, text]) => {
      const part = document.createElement(name);
      part.textContent = text.slice(0, 300);
      return part;
    }));
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y}px`;
  };

  /** @param {Mark | Step} what @param {boolean} focus */
  const choose = (what, focus) => {
    painter.chosen = what;
    if ("kind" in what) {
      const { name, text } = wordsOf(what);
      Records.pick({ row: what.row, text, at: what.from, to: what.count > 1 ? what.from : what.to, count: what.count, lane: name }, focus);
    } else {
      const mark = model.marks.find((mark) => mark.chain && mark.lane === what.lane && Math.abs(mark.from - what.at) < 1);
      const lane = model.lanes[what.lane]?.label ?? "";
      Records.pick({ row: mark?.row ?? -1, text: what.text, at: what.at, to: mark?.to ?? what.at, count: 1, lane }, focus);
    }
    redraw();
  };

  /** In order of time, those that the filters leave. */
  const stops = () => {
    const marks = model.marks.filter((mark) => painter.fits(mark) && painter.rowOf(mark));
    return [...marks, ...model.steps].sort((a, b) => ("at" in a ? a.at : a.from) - ("at" in b ? b.at : b.from));
  };
  /** @param {number} way */
  const go = (way) => {
    const all = stops();
    if (!all.length) return;
    const now = painter.chosen ? all.indexOf(painter.chosen) : -1;
    let next = now + way;
    if (now < 0) {
      const middle = model.root ? model.root[0] : view.from;
      next = all.findIndex((one) => ("at" in one ? one.at : one.from) >= middle);
      if (next < 0) next = 0;
    }
    const one = all[Math.max(0, Math.min(all.length - 1, next))];
    if (!one) return;
    view.show("at" in one ? one.at : one.from);
    painter.chosen = one;
    const { head, text, when } = told("at" in one ? { step: one } : { mark: one });
    said.textContent = `${head}: ${text}. ${when}`;
    redraw();
  };

  // Line by line: what each shows at one moment, as the pointer tells it.
  const lines = new Lines(model, view, layout);
  /** Says what the line shows, aloud and beside it. */
  const tell = () => {
    painter.line = lines.row;
    if (!lines.row) {
      tip.hidden = true;
      painter.cursor = null;
      redraw();
      return;
    }
    lines.keep();
    painter.cursor = view.x(lines.at);
    const { head, text } = lines.told();
    const when = Times.full(lines.at);
    said.textContent = `${head}: ${text}. At ${when}`;
    labels.children[layout.rows.indexOf(lines.row)]?.scrollIntoView({ block: "nearest" });
    showTip([["b", head], ["span", text], ["i", `at ${when}`]], gutter + painter.cursor, body.offsetTop + lines.row.y + lines.row.height);
    redraw();
  };

  /** @type {Record<string, () => void>} */
  const deeds = {
    in: () => view.zoom(1 / 1.5),
    out: () => view.zoom(1.5),
    left: () => view.move(-0.2),
    right: () => view.move(0.2),
    up: () => lines.step(-1, painter.chosen),
    down: () => lines.step(1, painter.chosen),
    earlier: () => lines.change(-1),
    later: () => lines.change(1),
    reset: () => view.reset(),
    all: () => view.all(),
    next: () => go(1),
    previous: () => go(-1),
    pick: () => { if (painter.chosen) choose(painter.chosen, true); },
    shut: () => { document.getElementById("picked")?.replaceChildren(); painter.chosen = null; lines.row = null; said.textContent = ""; },
    find: () => Records.find?.focus(),
  };
  /** @type {Record<string, string>} */
  const keys = {
    "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "reset", a: "all", n: "next", p: "previous",
    ArrowUp: "up", ArrowDown: "down", ",": "earlier", ".": "later",
    Enter: "pick", Escape: "shut", "/": "find",
  };
  document.getElementById("controls")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    deeds[button?.dataset.do ?? ""]?.();
    redraw();
  });
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== stage) return;
    const deed = deeds[keys[event.key] ?? ""];
    if (!deed) return;
    event.preventDefault();
    // Who goes from record to record has left the line.
    if (deed === deeds.next || deed === deeds.previous) lines.row = null;
    const was = painter.line;
    deed();
    if (lines.row || was) tell();
    redraw();
  });
  Records.find?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
    deeds.pick?.();
  });

  // The pointer.
  /** @param {MouseEvent} event */
  const inPlot = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top + painter.top };
  };
  const hideTip = () => { if (!lines.row) { tip.hidden = true; painter.cursor = null; } redraw(); };
  /** @param {PointerEvent} event */
  const hover = (event) => {
    const { x, y } = inPlot(event);
    lines.row = painter.line = null;
    painter.cursor = x;
    const hit = painter.hit(x, y);
    canvas.classList.toggle("over", Boolean(hit && !hit.bar));
    tip.hidden = !hit;
    if (hit) {
      const { head, text, when } = told(hit);
      const box = live.getBoundingClientRect();
      showTip([["b", head], ["span", text], ["i", when]], event.clientX - box.left, event.clientY - box.top + 18);
    }
    redraw();
  };

  canvas.addEventListener("wheel", (event) => {
    // A plain wheel scrolls the page; with a modifier, or sideways, it is for the picture.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(event.deltaX / view.width);
    else if (event.ctrlKey || event.metaKey || event.shiftKey || document.activeElement === stage) {
      view.zoom(Math.exp(event.deltaY * 0.002), view.at(inPlot(event).x));
    } else return;
    event.preventDefault();
    redraw();
  }, { passive: false });

  /** @type {Map<number, number>} */
  const held = new Map();
  let dragged = 0;
  let brushed = false;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held.set(event.pointerId, inPlot(event).x);
    dragged = 0;
    brushed = event.shiftKey;
    if (brushed) painter.brush = [inPlot(event).x, inPlot(event).x];
    try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") hover(event);
      return;
    }
    const { x } = inPlot(event);
    if (held.size > 1) {
      const [other] = [...held].filter(([id]) => id !== event.pointerId);
      const fixed = other?.[1] ?? 0;
      if (Math.abs(x - fixed) > 8 && Math.abs(before - fixed) > 8) view.zoom(Math.abs((before - fixed) / (x - fixed)), view.at(fixed));
      dragged = 99;
    } else if (brushed && painter.brush) {
      painter.brush = [painter.brush[0], x];
      dragged = Math.abs(x - painter.brush[0]);
    } else {
      dragged += Math.abs(x - before);
      if (dragged > 4) {
        canvas.classList.add("moving");
        tip.hidden = true;
        view.move((before - x) / view.width);
      }
    }
    held.set(event.pointerId, x);
    redraw();
  });
  /** @param {PointerEvent} event */
  const release = (event) => {
    held.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (brushed && painter.brush) {
      const [from, to] = [...painter.brush].sort((a, b) => a - b);
      if (to !== undefined && from !== undefined && to - from > 6) view.set(view.at(from), view.at(to));
      painter.brush = null;
    }
    brushed = false;
    redraw();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    if (dragged > 4) return;
    const { x, y } = inPlot(event);
    const hit = painter.hit(x, y);
    if (hit?.mark || hit?.step) choose(/** @type {Mark | Step} */ (hit.mark ?? hit.step), false);
    else if (lines.point(y, view.at(x))) tell();
  });
  canvas.addEventListener("dblclick", (event) => { view.zoom(1 / 2.5, view.at(inPlot(event).x)); redraw(); });

  // The overview is a brush: drag over it to choose a stretch, drag the stretch to move it.
  /** @type {{from: number, moves: boolean, edge: "from" | "to" | ""} | null} */
  let brush = null;
  /** @param {PointerEvent} event */
  const inOverview = (event) => event.clientX - overview.getBoundingClientRect().left;
  overview.addEventListener("pointerdown", (event) => {
    const x = inOverview(event);
    const [from, to] = [scales.x(view.from), scales.x(view.to)];
    const edge = Math.abs(x - from) < 7 ? "from" : Math.abs(x - to) < 7 ? "to" : "";
    const whole = from <= gutter + 2 && to >= width - 2;
    brush = { from: x, moves: edge === "" && !whole && x > from && x < to, edge };
    overview.setPointerCapture(event.pointerId);
  });
  overview.addEventListener("pointermove", (event) => {
    const x = inOverview(event);
    if (!brush) {
      const near = Math.min(Math.abs(x - scales.x(view.from)), Math.abs(x - scales.x(view.to))) < 7;
      overview.classList.toggle("edge", near);
      return;
    }
    if (brush.edge) {
      const [from, to] = brush.edge === "from" ? [scales.at(x), view.to] : [view.from, scales.at(x)];
      if (to > from) view.set(from, to);
    } else if (brush.moves) {
      const by = scales.at(x) - scales.at(brush.from);
      view.set(view.from + by, view.to + by);
      brush.from = x;
    } else if (Math.abs(x - brush.from) > 6) {
      const [from, to] = [brush.from, x].sort((a, b) => a - b);
      view.set(scales.at(from ?? 0), scales.at(to ?? 0));
    }
    redraw();
  });
  overview.addEventListener("pointerup", (event) => {
    const x = inOverview(event);
    if (brush && !brush.edge && !brush.moves && Math.abs(x - brush.from) <= 6) {
      const half = view.length / 2;
      view.set(scales.at(x) - half, scales.at(x) + half);
    }
    brush = null;
    redraw();
  });

  painter.fits = (mark) => {
    const { text, source, weight } = asked;
    if (!text && !source && !weight) return true;
    const row = Records.numbers.get(mark.row);
    if (row) return row.kept;
    return !source && Records.heavy(mark.kind) && (!text || mark.text.toLowerCase().includes(text));
  };
  Records.onFilter(() => {
    const { lane } = Records.asked();
    if (lane !== layout.only) {
      layout.only = lane;
      fit();
    }
    redraw();
  });
  Times.onChange(redraw);
  addEventListener("scroll", () => { if (painter.tall < layout.height) redraw(); }, { passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { painter.recolour(); redraw(); });
  new ResizeObserver(() => { if (Math.abs(stage.clientWidth - width) >= 1) fit(); }).observe(stage);
  addEventListener("resize", fit);

  // A page that follows its run is loaded anew: who looked at something goes on there.
  const key = `whathappened.view ${location.pathname}`;
  addEventListener("pagehide", () => {
    try {
      const place = [model.origin + view.from, model.origin + view.to, ...layout.open];
      sessionStorage.setItem(key, JSON.stringify(place));
    } catch { /* a browser that keeps nothing */ }
  });
  try {
    const entry = performance.getEntriesByType("navigation")[0];
    const kept = JSON.parse((entry instanceof PerformanceNavigationTiming && entry.type === "reload" && sessionStorage.getItem(key)) || "[]");
    const [from, to, ...open] = /** @type {number[]} */ (kept);
    if (from !== undefined && to !== undefined && to > from) view.set(from - model.origin, to - model.origin);
    for (const lane of open) if (model.lanes[lane]?.members.length) layout.open.add(lane);
  } catch { /* what was kept is of another page */ }
  fit();
})();
