// @ts-check
"use strict";
// Zoom, pan, search and zones for the picture and the list. Without it the page is
// whole; nothing here reads anything but the page itself.
(() => {
  /** @param {string} id */
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // Times: each keeps what was written, and is shown in the zone that is chosen.
  const svg = /** @type {SVGSVGElement | null} */ (document.querySelector("svg#drawing"));
  const origin = Number(svg?.dataset.origin ?? NaN);
  const rootAt = Number(/** @type {SVGGElement | null} */ (document.querySelector("#root"))?.dataset.a ?? 0);
  const times = [...document.querySelectorAll("time")].map((element) => ({ element, written: element.textContent ?? "" }));
  let zone = "";

  /** @param {number} n @param {number} [digits] */
  const two = (n, digits = 2) => String(n).padStart(digits, "0");

  /** @param {number} ms */
  const distance = (ms) => {
    const sign = ms < 0 ? "−" : "+";
    const s = Math.abs(ms) / 1000;
    if (s < 60) return `${sign}${Number(s.toFixed(s < 10 ? 2 : 1))}s`;
    const whole = Math.floor(s);
    const [h, m] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
    if (whole >= 172800) return `${sign}${Math.floor(whole / 86400)}d${two(h % 24)}h`;
    return h > 0 ? `${sign}${h}h${two(m)}m` : `${sign}${m}m${two(whole % 60)}s`;
  };

  /** @param {Date} at @param {boolean} utc */
  const clock = (at, utc) => {
    const [h, m, s] = utc
      ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
      : [at.getHours(), at.getMinutes(), at.getSeconds()];
    return `${two(h)}:${two(m)}:${two(s)}${utc ? "Z" : ""}`;
  };

  /** @param {Date} at @param {boolean} utc */
  const day = (at, utc) => {
    const [y, m, d] = utc
      ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
      : [at.getFullYear(), at.getMonth(), at.getDate()];
    return `${two(y, 4)}-${two(m + 1)}-${two(d)}`;
  };

  const showTimes = () => {
    for (const { element, written } of times) {
      const at = new Date(element.dateTime);
      if (zone === "" || Number.isNaN(at.getTime())) element.textContent = written;
      else if (zone === "root") element.textContent = distance(at.getTime() - origin - rootAt);
      else element.textContent = `${day(at, zone === "utc")} ${clock(at, zone === "utc")}`;
    }
  };

  // The list and its filter.
  const rows = [...document.querySelectorAll("table.rows tbody tr[id]")].map((element) => ({
    element: /** @type {HTMLTableRowElement} */ (element),
    text: (element.textContent ?? "").toLowerCase(),
  }));
  const find = /** @type {HTMLInputElement | null} */ (byId("find"));
  const lane = /** @type {HTMLSelectElement | null} */ (byId("lane"));
  const found = byId("found");
  const marks = svg ? [.../** @type {NodeListOf<SVGGraphicsElement>} */ (svg.querySelectorAll(".mark"))] : [];

  const filter = () => {
    const text = (find?.value ?? "").trim().toLowerCase();
    const group = lane?.value ?? "";
    const kept = new Set();
    for (const row of rows) {
      const fits = (!group || row.element.dataset.lane === group) && (!text || row.text.includes(text));
      row.element.hidden = !fits;
      if (fits) kept.add(row.element.id);
    }
    for (const mark of marks) {
      const row = mark.dataset.row;
      const ofLane = !group || mark.dataset.lane === group;
      const ofText = !text || (row !== undefined ? kept.has(`r${row}`) : (mark.textContent ?? "").toLowerCase().includes(text));
      mark.classList.toggle("faded", !(ofLane && ofText));
    }
    if (found) found.textContent = text || group ? `${kept.size} of ${rows.length} rows` : "";
    const details = /** @type {HTMLDetailsElement | null} */ (document.querySelector("details.timeline"));
    if (details && text) details.open = true;
  };

  // A mark that is chosen shows its record below the picture.
  const picked = byId("picked");
  /** @param {SVGGraphicsElement} mark */
  const pick = (mark) => {
    for (const old of document.querySelectorAll(".picked")) old.classList.remove("picked");
    mark.classList.add("picked");
    const row = /** @type {HTMLTableRowElement | null} */ (byId(`r${mark.dataset.row}`));
    row?.classList.add("picked");
    if (!picked) return;
    picked.replaceChildren();
    /** @param {string} label @param {Node[]} content */
    const line = (label, content) => {
      const part = document.createElement("div");
      const [name, value] = [document.createElement("dt"), document.createElement("dd")];
      name.textContent = label;
      value.append(...content);
      part.append(name, value);
      return part;
    };
    const list = document.createElement("dl");
    if (row) {
      const heads = [...document.querySelectorAll("table.rows thead th")].map((head) => head.textContent ?? "");
      [...row.cells].forEach((cell, at) => {
        list.append(line(heads[at] ?? "", [...cell.childNodes].map((node) => node.cloneNode(true))));
      });
      const link = document.createElement("a");
      link.href = `#${row.id}`;
      link.textContent = "Show it in the list";
      link.addEventListener("click", () => openFor(row));
      picked.append(list, link);
    } else {
      list.append(line("End", [document.createTextNode(mark.querySelector("title")?.textContent ?? "")]));
      picked.append(list);
    }
  };

  /** @param {Element} element */
  const openFor = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
  };
  const openTarget = () => {
    const target = location.hash.length > 1 ? byId(location.hash.slice(1)) : null;
    if (target) openFor(target);
  };
  addEventListener("hashchange", openTarget);
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) if (!details.closest(".record")) details.open = true;
  });

  byId("controls")?.removeAttribute("hidden");
  for (const element of document.querySelectorAll(".needs-script")) element.removeAttribute("hidden");
  find?.addEventListener("input", filter);
  lane?.addEventListener("change", filter);
  byId("controls")?.addEventListener("submit", (event) => event.preventDefault());
  openTarget();

  if (!svg) return;

  // The picture: a window onto time, laid out anew whenever it or the width changes.
  const first = { from: Number(svg.dataset.from), to: Number(svg.dataset.to) };
  const whole = { from: Math.min(Number(svg.dataset.min), first.from), to: Math.max(Number(svg.dataset.max), first.to) };
  const whole_height = svg.viewBox.baseVal.height;
  let height = whole_height;
  let view = { ...first };
  let width = 1200;
  const RADIUS = 9;

  /** @param {number} at */
  const x = (at) => Math.max(-20000, Math.min(20000, ((at - view.from) / (view.to - view.from)) * width));
  /** @param {number} n */
  const short = (n) => Math.round(n * 10) / 10;
  /** @param {Element} element */
  const y = (element) => Number(/ ([\d.]+)\)/.exec(element.getAttribute("transform") ?? "")?.[1] ?? 0);

  // Folded lanes: what one holds is drawn below it, and all that stands lower moves down.
  const folds = [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll(".opened"))].map((element) => ({
    element, y: Number(element.dataset.y), height: Number(element.dataset.height), open: false,
  }));
  /** @param {number} y */
  const down = (y) => folds.reduce((sum, fold) => sum + (fold.open && fold.y <= y ? fold.height : 0), y);
  const moved = [.../** @type {NodeListOf<SVGElement>} */ (svg.querySelectorAll(".group, .lane > *, rect.bar"))]
    .filter((element) => !element.closest(".opened")).map((element) => ({ element, y: Number(element.getAttribute("y")) }));

  const bars = [.../** @type {NodeListOf<SVGRectElement>} */ (svg.querySelectorAll("rect.bar"))].map((element) => ({
    element, from: Number(element.dataset.a), to: Number(element.dataset.b),
  }));
  const tracks = [...svg.querySelectorAll("rect.track")];
  const placed = [.../** @type {NodeListOf<SVGGraphicsElement>} */ (svg.querySelectorAll(".mark, .step, #root"))].map((element) => ({
    element, at: Number(element.dataset.a), aside: Number(element.dataset.dx ?? 0), y: y(element), inside: element.closest(".opened") !== null,
    rect: /** @type {SVGRectElement | null} */ (element.querySelector("rect[data-w]")),
  }));
  const arrows = [.../** @type {NodeListOf<SVGPathElement>} */ (svg.querySelectorAll(".arrow"))];
  const axis = /** @type {SVGGElement | null} */ (svg.querySelector("#axis"));

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
  const path = (x1, y1, x2, y2) => {
    if (Math.abs(y1 - y2) < 1) {
      if (Math.abs(x2 - x1) < 2 * RADIUS + 8) return "";
      const way = Math.sign(x2 - x1);
      return `M${short(x1 + way * RADIUS)} ${y1}L${short(x2 - way * (RADIUS + 2))} ${y2}`;
    }
    const way = Math.sign(y2 - y1);
    const [from, to] = [y1 + way * RADIUS, y2 - way * (RADIUS + 2)];
    const bend = (to - from) * 0.5;
    return `M${short(x1)} ${from}C${short(x1)} ${from + bend} ${short(x2)} ${to - bend} ${short(x2)} ${to}`;
  };

  const STEPS = [1, 5, 10, 50, 100, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5,
    216e5, 432e5, 864e5, 1728e5, 6048e5, 2592e6, 31536e6];
  const drawAxis = () => {
    if (!axis) return;
    const most = Math.max(2, width / 110);
    const step = STEPS.find((one) => (view.to - view.from) / one <= most) ?? (view.to - view.from) / most;
    const local = zone === "local" ? -new Date(origin).getTimezoneOffset() * 6e4 : 0;
    const shift = zone === "root" ? -rootAt : (origin + local) % step;
    const parts = [];
    for (let at = Math.ceil((view.from + shift) / step) * step - shift; at <= view.to && parts.length < 80; at += step) {
      const line = document.createElementNS(SVG, "line");
      line.setAttribute("class", "grid");
      for (const name of ["x1", "x2"]) line.setAttribute(name, String(short(x(at))));
      line.setAttribute("y1", "20");
      line.setAttribute("y2", String(height));
      const text = document.createElementNS(SVG, "text");
      text.setAttribute("x", String(short(x(at))));
      text.setAttribute("y", "14");
      text.setAttribute("text-anchor", "middle");
      const time = new Date(origin + at);
      const utc = zone !== "local";
      const millis = step < 1000 ? `.${two(((origin + at) % 1000 + 1000) % 1000, 3)}` : "";
      text.textContent = zone === "root" ? distance(at - rootAt)
        : step >= 432e5 ? day(time, utc) : clock(time, utc).replace("Z", "") + millis + (utc ? "Z" : "");
      parts.push(line, text);
    }
    axis.replaceChildren(...parts);
  };

  const draw = () => {
    for (const { element, from, to } of bars) {
      element.setAttribute("x", String(short(x(from))));
      element.setAttribute("width", String(short(Math.max(1, x(to) - x(from)))));
    }
    for (const { element, at, aside, y, rect, inside } of placed) {
      element.setAttribute("transform", `translate(${short(x(at) + aside)} ${inside ? y : down(y)})`);
      if (!rect) continue;
      const least = Number(rect.dataset.least);
      const w = Math.max(least, Math.min(2 * width, (Number(rect.dataset.w) / (view.to - view.from)) * width));
      rect.setAttribute("x", String(short(-w / 2)));
      rect.setAttribute("width", String(short(w)));
      element.classList.toggle("wide", w > 14);
    }
    for (const element of arrows) {
      const d = element.dataset;
      const [x1, x2] = [x(Number(d.from)) + Number(d.dx1), x(Number(d.to)) + Number(d.dx2)];
      element.setAttribute("d", path(x1, down(Number(d.y1)), x2, down(Number(d.y2))));
    }
    drawAxis();
  };

  let due = false;
  const redraw = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  };

  const fit = () => {
    width = Math.max(280, svg.parentElement?.clientWidth ?? 1200);
    svg.classList.add("live");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", String(width));
    for (const track of tracks) track.setAttribute("width", String(width));
    redraw();
  };

  /** @param {typeof folds[number]} fold */
  const unfold = (fold) => {
    fold.open = !fold.open;
    fold.element.classList.toggle("open", fold.open);
    height = down(whole_height);
    svg.setAttribute("height", String(height));
    svg.querySelector("#root line")?.setAttribute("y2", String(height));
    for (const { element, y } of moved) element.setAttribute("y", String(down(y)));
    for (const other of folds) other.element.setAttribute("transform", `translate(0 ${down(other.y) - (other.open ? other.height : 0)})`);
    fit();
  };
  [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll(".folds"))].forEach((lane, at) => {
    const fold = folds[at];
    if (!fold) return;
    lane.setAttribute("role", "button");
    lane.setAttribute("tabindex", "0");
    lane.setAttribute("aria-expanded", "false");
    const toggle = () => {
      unfold(fold);
      lane.setAttribute("aria-expanded", String(fold.open));
    };
    lane.addEventListener("click", () => { if (dragged <= 4) toggle(); });
    lane.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      toggle();
    });
  });

  /** @param {number} factor @param {number} [at] */
  const zoom = (factor, at = (view.from + view.to) / 2) => {
    const all = whole.to - whole.from;
    const length = Math.max(20, Math.min(all * 2, (view.to - view.from) * factor));
    const real = length / (view.to - view.from);
    view = { from: at - (at - view.from) * real, to: at + (view.to - at) * real };
    redraw();
  };
  /** @param {number} part */
  const move = (part) => {
    const length = view.to - view.from;
    const [least, most] = [whole.from - length * 0.9, whole.to + length * 0.9 - length];
    const from = Math.max(Math.min(least, view.from), Math.min(Math.max(most, view.from), view.from + part * length));
    view = { from, to: from + length };
    redraw();
  };
  /** @type {Record<string, () => void>} */
  const deeds = {
    in: () => zoom(1 / 1.5),
    out: () => zoom(1.5),
    left: () => move(-0.2),
    right: () => move(0.2),
    reset: () => { view = { ...first }; redraw(); },
    all: () => { view = { ...whole }; redraw(); },
  };
  /** @type {Record<string, string>} */
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "reset" };

  byId("controls")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    deeds[button?.dataset.do ?? ""]?.();
  });
  byId("canvas")?.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const deed = deeds[keys[event.key] ?? ""];
    if (!deed) return;
    event.preventDefault();
    deed();
  });
  svg.addEventListener("wheel", (event) => {
    // A plain wheel scrolls the page; with a modifier, or sideways, it is for the picture.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      move(event.deltaX / width);
      return;
    }
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey && document.activeElement !== byId("canvas")) return;
    event.preventDefault();
    const left = svg.getBoundingClientRect().left;
    zoom(Math.exp(event.deltaY * 0.002), view.from + ((event.clientX - left) / width) * (view.to - view.from));
  }, { passive: false });

  let dragged = 0;
  /** @type {number | null} */
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = event.clientX;
    dragged = 0;
  });
  addEventListener("pointermove", (event) => {
    if (held === null) return;
    const by = event.clientX - held;
    dragged += Math.abs(by);
    held = event.clientX;
    if (dragged > 4) svg.classList.add("moving");
    move(-by / width);
  });
  const release = () => { held = null; svg.classList.remove("moving"); };
  addEventListener("pointerup", release);
  addEventListener("pointercancel", release);
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => {
    if (dragged > 4) { event.preventDefault(); return; }
    const mark = event.target instanceof Element ? event.target.closest(".mark") : null;
    if (!(mark instanceof SVGGraphicsElement)) return;
    event.preventDefault();
    pick(mark);
  });

  const chooser = /** @type {HTMLSelectElement | null} */ (byId("zone"));
  chooser?.addEventListener("change", () => { zone = chooser.value; showTimes(); redraw(); });
  new ResizeObserver(fit).observe(svg.parentElement ?? svg);
  fit();
})();
