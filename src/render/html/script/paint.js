// @ts-check
"use strict";
// The picture on its canvas. Records stand in the list as well; what lines show of states and values is told line by line
// to those who do not point.

class Painter {
  /** @param {HTMLCanvasElement} canvas @param {Model} model @param {View} view @param {Layout} layout */
  constructor(canvas, model, view, layout) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.model = model;
    this.view = view;
    this.layout = layout;
    /** From where on, and how much of the picture the canvas shows. */
    this.top = 0;
    this.tall = 0;
    this.scale = 1;
    /** Widths of texts that were measured. @type {Map<string, number>} */
    this.widths = new Map();
    /** @type {Map<Row, [number, number][]>} */
    this.taken = new Map();
    /** What can be pointed at, as it was last drawn. @type {{x: number, y: number, rx: number, ry: number, mark?: Mark, step?: Step, bar?: Bar}[]} */
    this.targets = [];
    /** @type {Mark | Step | null} */
    this.chosen = null;
    /** @type {number | null} */
    this.cursor = null;
    /** The line that the keyboard is on. @type {Row | null} */
    this.line = null;
    /** @type {[number, number] | null} */
    this.brush = null;
    /** Whether a mark is left by the filters. @type {(mark: Mark) => boolean} */
    this.fits = () => true;
    /** @type {CanvasPattern | string} */
    this.hatch = "gray";
    /** @type {Map<string, HTMLCanvasElement>} */
    this.sprites = new Map();
    this.ink = /** @type {Record<string, string>} */ ({});
    this.recolour();
  }

  /** Takes the colours of the style sheet. */
  recolour() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ground", "raised", "line", "text", "dim", "link", "error", "warning", "info", "chain", "on-chain", "track", "marked",
      "running", "pending", "starting", "stuck", "failed", "maintenance", "announced", "alive", "terminating", "read", "unseen-line", "curve", "good",
      "on-running", "on-pending", "on-failed", "on-maintenance", "on-alive", "on-terminating", "on-stuck"]) {
      this.ink[name] = style.getPropertyValue(`--${name}`).trim() || "gray";
    }
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const draw = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    draw.strokeStyle = this.ink["unseen-line"] ?? "gray";
    draw.lineWidth = 1.6;
    draw.beginPath();
    for (const from of [-8, 0, 8]) {
      draw.moveTo(from, 8);
      draw.lineTo(from + 8, 0);
    }
    draw.stroke();
    this.hatch = this.context.createPattern(tile, "repeat") ?? "gray";
    for (const kind of ["info", "warning", "error"]) this.sprites.set(kind, this.sprite(kind));
  }

  /** A mark of a kind, drawn once: each kind has a shape of its own. @param {string} kind */
  sprite(kind) {
    const sprite = document.createElement("canvas");
    const scale = Math.min(3, devicePixelRatio || 1);
    sprite.width = sprite.height = Math.round(18 * scale);
    const c = /** @type {CanvasRenderingContext2D} */ (sprite.getContext("2d"));
    c.scale(scale, scale);
    c.translate(9, 9);
    c.fillStyle = this.ink[kind] ?? "gray";
    c.strokeStyle = this.ink.ground ?? "";
    c.lineWidth = 1.5;
    c.beginPath();
    if (kind === "error") c.roundRect(-4.5, -4.5, 9, 9, 1.5);
    else if (kind === "info") c.arc(0, 0, 3.75, 0, 7);
    else {
      c.moveTo(0, -6);
      c.lineTo(6, 4.5);
      c.lineTo(-6, 4.5);
      c.closePath();
    }
    c.fill();
    c.stroke();
    return sprite;
  }

  /** The canvas is no higher than what can be seen of it. @param {number} width @param {number} height */
  resize(width, height) {
    const scale = Math.min(3, devicePixelRatio || 1);
    this.tall = height;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.scale = scale;
  }

  /** @param {Row} row */
  seen(row) { return row.y + row.height >= this.top - 30 && row.y <= this.top + this.tall + 30; }

  draw() {
    const { context: c, view } = this;
    c.setTransform(this.scale, 0, 0, this.scale, 0, -this.top * this.scale);
    c.clearRect(0, this.top, view.width, this.tall);
    this.targets = [];
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.occupy();
    this.grounds();
    this.grid();
    for (const bar of this.model.bars) this.bar(bar);
    this.rootLine();
    this.marks();
    this.chain();
    for (const row of this.layout.rows) if (row.kind === "curve" && this.seen(row)) this.curve(row);
    this.overlay();
  }

  grounds() {
    const { context: c, view, layout } = this;
    for (const row of layout.rows) {
      if (row.kind === "group" || row.kind === "rest" || !this.seen(row)) continue;
      c.fillStyle = this.ink.track ?? "";
      if (row.kind === "curve") c.fillRect(0, row.track - 32, view.width, 64);
      else c.fillRect(0, row.track - row.thick / 2, view.width, row.thick);
    }
  }

  grid() {
    const { context: c, view } = this;
    c.strokeStyle = this.ink.line ?? "";
    c.lineWidth = 1;
    c.beginPath();
    for (const at of axisMarks(view).places) {
      const x = Math.round(view.x(at)) + 0.5;
      c.moveTo(x, this.top);
      c.lineTo(x, this.top + this.tall);
    }
    c.globalAlpha = 0.6;
    c.stroke();
    c.globalAlpha = 1;
  }

  /** @param {Bar} bar */
  bar(bar) {
    const { context: c, view } = this;
    const open = this.layout.open.has(bar.lane);
    if (bar.member >= 0 && !open) return;
    const row = this.layout.place(bar.lane, bar.member);
    if (!row || !this.seen(row) || bar.to < view.from || bar.from > view.to) return;
    const [from, to] = [view.x(bar.from), Math.max(view.x(bar.from) + (bar.kind === "read" ? 3 : 1.5), view.x(bar.to))];
    const top = row.track - row.thick / 2;
    c.fillStyle = bar.kind === "unseen" ? this.hatch : this.ink[bar.kind] ?? "gray";
    c.beginPath();
    c.roundRect(from, top, to - from, row.thick, bar.kind === "unseen" ? 0 : 3);
    c.fill();
    const [left, right] = [Math.max(0, from), Math.min(view.width, to)];
    if (right - left > 1) this.targets.push({ x: (left + right) / 2, y: row.track, rx: (right - left) / 2, ry: row.thick / 2, bar });
    if (bar.kind === "unseen" || right - left < 46) return;
    c.fillStyle = this.ink[`on-${bar.kind}`] ?? this.ink.text ?? "";
    // The legend says what reading means.
    this.words(bar.kind === "read" ? "read" : bar.text, row, left, right);
  }

  /** Words in a bar, where no mark stands on them. @param {string} text @param {Row} row @param {number} left @param {number} right */
  words(text, row, left, right) {
    const { context: c } = this;
    const wide = this.measured(text);
    const taken = this.taken.get(row) ?? [];
    let from = left + 6;
    for (const [begin, end] of taken) {
      if (end < from) continue;
      if (begin > from + Math.min(wide, 60)) break;
      from = end + 4;
    }
    const next = taken.find(([begin]) => begin >= from);
    const room = Math.min(right - 6, next ? next[0] - 4 : right - 6) - from;
    if (room < 40) return;
    const cut = this.cut(text, room);
    if (cut) c.fillText(cut, from, row.track + 0.5);
  }

  /** Where marks stand on each row, from left to right. */
  occupy() {
    const { view } = this;
    this.taken = new Map();
    for (const mark of this.model.marks) {
      const row = mark.to < view.from || mark.from > view.to ? undefined : this.rowOf(mark);
      if (!row || !this.seen(row)) continue;
      const half = Math.max(8, this.half(mark));
      const all = this.taken.get(row) ?? [];
      all.push([Math.min(view.x(mark.from), view.x((mark.from + mark.to) / 2) - half), Math.max(view.x(mark.to), view.x((mark.from + mark.to) / 2) + half)]);
      this.taken.set(row, all);
    }
  }

  /** The row that a mark is drawn on now. @param {Mark} mark */
  rowOf(mark) {
    const folded = (this.model.lanes[mark.lane]?.folded ?? 0) > 0;
    if (folded && (mark.member >= 0) !== this.layout.open.has(mark.lane)) return undefined;
    return this.layout.place(mark.lane, mark.member);
  }

  rootLine() {
    const { context: c, view, layout, model } = this;
    if (!model.root) return;
    const [from, to] = [view.x(model.root[0]), view.x(model.root[1])];
    c.fillStyle = this.ink.chain ?? "";
    if (to - from > 2) {
      c.globalAlpha = 0.1;
      c.fillRect(from, 0, to - from, layout.height);
      c.globalAlpha = 1;
    }
    c.strokeStyle = this.ink.chain ?? "";
    c.lineWidth = 1.25;
    c.setLineDash([4, 4]);
    c.beginPath();
    c.moveTo(from, 0);
    c.lineTo(from, layout.height);
    c.stroke();
    c.setLineDash([]);
  }

  marks() {
    const { view } = this;
    /** The last place of each lane and kind: what stands on one pixel is drawn once. @type {Map<number, number>} */
    const last = new Map();
    // Ends stand on top of what was told at the same time.
    const ends = this.model.marks.filter((mark) => mark.kind === "death");
    const others = this.model.marks.filter((mark) => mark.kind !== "death");
    const beside = this.besides();
    for (const mark of [...others, ...ends]) {
      if (mark.to < view.from || mark.from > view.to) continue;
      const row = this.rowOf(mark);
      if (!row || !this.seen(row)) continue;
      const middle = beside.get(mark) ?? this.middle(mark);
      const key = row.y * 8 + Painter.KINDS.indexOf(mark.kind);
      const pixel = Math.round(middle);
      if (mark !== this.chosen && !mark.chain && mark.count === 1 && last.get(key) === pixel) continue;
      last.set(key, pixel);
      this.mark(mark, row, middle);
    }
  }

  /** Where the sign of a mark stands: in the middle of its time, as far as that is in sight. @param {Mark} mark */
  middle(mark) {
    const { view } = this;
    const [from, to] = [view.x(mark.from), view.x(mark.to)];
    const middle = view.x((mark.from + mark.to) / 2);
    if (to - from <= 14 || (middle >= 0 && middle <= view.width)) return middle;
    return (Math.max(0, from) + Math.min(view.width, to)) / 2;
  }

  /** Half of what a mark with a number takes; nothing for those without one. @param {Mark} mark */
  half(mark) {
    if (mark.count < 2) return 0;
    const own = mark.kind === "death" ? 10 : 0;
    return Math.max(8, this.measured(Painter.counted(mark.count)) / 2 + 5) + own;
  }

  /** Numbers that would stand on each other stand side by side. @returns {Map<Mark, number>} */
  besides() {
    const { view } = this;
    /** @type {Map<Row, Mark[]>} */
    const lines = new Map();
    for (const mark of this.model.marks) {
      if (mark.count < 2 || mark.to < view.from || mark.from > view.to) continue;
      const row = this.rowOf(mark);
      if (!row || !this.seen(row)) continue;
      const own = lines.get(row);
      if (own) own.push(mark); else lines.set(row, [mark]);
    }
    const placed = new Map();
    for (const marks of lines.values()) {
      let end = -Infinity;
      const places = marks.map((mark) => ({ mark, x: this.middle(mark) })).sort((a, b) => a.x - b.x);
      for (const { mark, x } of places) {
        const half = this.half(mark);
        const at = Math.max(x, end + half);
        placed.set(mark, at);
        end = at + half + 1;
      }
    }
    return placed;
  }

  /** @param {Mark} mark @param {Row} row @param {number} x */
  mark(mark, row, x) {
    const { context: c, view } = this;
    const y = row.track;
    const faded = !this.fits(mark);
    c.globalAlpha = faded ? 0.12 : 1;
    const colour = this.ink[mark.kind === "death" ? "error" : mark.kind] ?? "gray";
    const [begin, end] = [view.x(mark.from), view.x(mark.to)];
    const wide = end - begin;
    if (wide > 14 && mark.count === 1) {
      // A time that is not known more exactly is as wide as it is.
      c.fillStyle = colour;
      c.globalAlpha = faded ? 0.06 : 0.28;
      c.beginPath();
      c.roundRect(begin, y - 5, wide, 10, 5);
      c.fill();
      c.globalAlpha = faded ? 0.12 : 1;
      c.strokeStyle = colour;
      c.lineWidth = 1.25;
      c.stroke();
    }
    c.fillStyle = colour;
    c.strokeStyle = this.ink.ground ?? "";
    c.lineWidth = 1.5;
    let reach = 6;
    c.beginPath();
    if (mark.count > 1) {
      const text = Painter.counted(mark.count);
      const half = this.half(mark);
      const ends = mark.kind === "death";
      c.roundRect(x - half, y - 7, half * 2, 14, 7);
      c.fill();
      c.stroke();
      c.fillStyle = this.ink.ground ?? "";
      c.textAlign = "center";
      c.fillText(text, ends ? x + 6 : x, y + 0.5);
      c.textAlign = "left";
      if (ends) this.cross(x - half + 9, y);
      reach = half;
    } else if (mark.kind === "death") {
      c.arc(x, y, 7.5, 0, 7);
      c.fill();
      c.stroke();
      this.cross(x, y);
      reach = 8;
    } else {
      const sprite = this.sprites.get(mark.kind);
      if (sprite) c.drawImage(sprite, x - 9, y - 9, 18, 18);
    }
    if (mark === this.chosen) {
      c.strokeStyle = this.ink.link ?? "";
      c.lineWidth = 2.5;
      c.beginPath();
      c.arc(x, y, reach + 3.5, 0, 7);
      c.stroke();
    }
    c.globalAlpha = 1;
    if (faded) return;
    // All of a wide mark can be pointed at, as far as it is in sight.
    const [left, right] = mark.count > 1 ? [x - reach, x + reach] : [Math.max(0, Math.min(begin, x - reach)), Math.min(view.width, Math.max(end, x + reach))];
    this.targets.push({ x: (left + right) / 2, y, rx: (right - left) / 2 + 2, ry: 9, mark });
  }

  /** The cross of an end. @param {number} x @param {number} y */
  cross(x, y) {
    const { context: c } = this;
    c.strokeStyle = this.ink.ground ?? "";
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x - 3, y - 3);
    c.lineTo(x + 3, y + 3);
    c.moveTo(x + 3, y - 3);
    c.lineTo(x - 3, y + 3);
    c.stroke();
  }

  /** The chain: numbered steps in the bands of their lanes, and arrows from each to the next. */
  chain() {
    const { context: c, view, layout } = this;
    /** @type {Map<number, number[]>} */
    const taken = new Map();
    /** @type {{step: Step, row: Row, x: number, true: number}[]} */
    const placed = [];
    for (const step of this.model.steps) {
      const row = layout.place(step.lane, -1);
      if (!row) continue;
      // Beside those that it would cover; one that was told of later may have been long before.
      const others = taken.get(step.lane) ?? [];
      let x = view.x(step.at);
      for (let other; (other = others.find((one) => Math.abs(one - x) < 21.9)) !== undefined;) x = other + 22;
      taken.set(step.lane, [...others, x]);
      placed.push({ step, row, x, true: view.x(step.at) });
    }
    c.lineWidth = 2;
    for (let at = 1; at < placed.length; at += 1) {
      const [before, after] = [placed[at - 1], placed[at]];
      if (before && after) this.arrow(before.x, before.row.band, after.x, after.row.band, before.step.aside || after.step.aside);
    }
    placed.forEach(({ step, row, x, true: place }) => {
      if (x < -40 || x > view.width + 40) return;
      const y = row.band;
      c.strokeStyle = this.ink.chain ?? "";
      c.lineWidth = 1.25;
      c.globalAlpha = 0.7;
      c.beginPath();
      c.moveTo(x, y + 9);
      c.lineTo(place, row.track - row.thick / 2);
      c.stroke();
      c.globalAlpha = 1;
      const { flips, room } = this.beside(placed, row, x, step.text);
      const text = room > 36 ? this.cut(step.text, room) : "";
      const wide = text ? c.measureText(text).width : 0;
      const from = flips ? x - 14 - wide : x + 14;
      if (text) {
        c.fillStyle = this.ink.ground ?? "";
        c.globalAlpha = 0.85;
        c.beginPath();
        c.roundRect(from - 6, y - 9, wide + 12, 18, 4);
        c.fill();
        c.globalAlpha = 1;
        c.fillStyle = this.ink.text ?? "";
        c.fillText(text, from, y + 0.5);
      }
      this.badge(x, y, step, step === this.chosen);
      const reach = text ? wide + 26 : 24;
      this.targets.push({ x: flips ? x + 12 - reach / 2 : x - 12 + reach / 2, y, rx: reach / 2, ry: 11, step });
    });
  }

  /**
   * On which side of a badge its words stand, and how much room they have: on the right, or on the left of the last one
   * of a row where the right has too little. Two badges share what is between them then.
   * @param {{step: Step, row: Row, x: number}[]} placed @param {Row} row @param {number} x @param {string} text
   * @returns {{flips: boolean, room: number}}
   */
  beside(placed, row, x, text) {
    const others = placed.filter((other) => other.row === row && other.x !== x);
    const after = others.filter((other) => other.x > x).sort((a, b) => a.x - b.x)[0];
    const before = Math.max(-Infinity, ...others.map((other) => (other.x < x ? other.x : -Infinity)));
    if (after) {
      const shared = after.x <= this.view.width + 40 && this.beside(placed, row, after.x, after.step.text).flips;
      const end = shared ? (x + after.x) / 2 : Math.min(this.view.width, after.x - 12);
      return { flips: false, room: end - x - 20 };
    }
    const right = this.view.width - x - 20;
    const left = (before > 0 ? (x - before) / 2 : x) - 20;
    const flips = left > right && (right < 90 || (others.length === 0 && right < 220 && this.measured(text) > right));
    return { flips, room: flips ? left : right };
  }

  /** @param {number} x @param {number} y @param {Step} step @param {boolean} chosen */
  badge(x, y, step, chosen) {
    const { context: c } = this;
    c.beginPath();
    c.arc(x, y, 9, 0, 7);
    c.fillStyle = (step.aside ? this.ink.ground : this.ink.chain) ?? "";
    c.fill();
    c.lineWidth = chosen ? 3 : 1.5;
    c.strokeStyle = (chosen ? this.ink.link : step.aside ? this.ink.chain : this.ink.ground) ?? "";
    c.stroke();
    c.fillStyle = (step.aside ? this.ink.chain : this.ink["on-chain"]) ?? "";
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = "center";
    c.fillText(String(step.number), x, y + 0.5);
    c.textAlign = "left";
    c.font = "11px system-ui, sans-serif";
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {boolean} faint */
  arrow(x1, y1, x2, y2, faint) {
    const { context: c } = this;
    const same = Math.abs(y1 - y2) < 1;
    if (same && Math.abs(x2 - x1) < 26) return;
    const way = Math.sign(same ? x2 - x1 : y2 - y1);
    c.strokeStyle = this.ink.chain ?? "";
    c.fillStyle = this.ink.chain ?? "";
    c.globalAlpha = faint ? 0.55 : 0.9;
    c.lineWidth = 1.75;
    c.setLineDash(faint ? [4, 4] : []);
    c.beginPath();
    let tip = { x: x2, y: y2, angle: 0 };
    if (same) {
      c.moveTo(x1 + way * 10, y1);
      c.lineTo(x2 - way * 15, y2);
      tip = { x: x2 - way * 10, y: y2, angle: way > 0 ? 0 : Math.PI };
    } else {
      const [from, to] = [y1 + way * 10, y2 - way * 15];
      const bend = (to - from) * 0.5;
      c.moveTo(x1, from);
      c.bezierCurveTo(x1, from + bend, x2, to - bend, x2, to);
      tip = { x: x2, y: y2 - way * 10, angle: (way * Math.PI) / 2 };
    }
    c.stroke();
    c.setLineDash([]);
    c.beginPath();
    for (const [turn, far] of [[0, 0], [2.6, 9], [-2.6, 9]]) {
      const angle = tip.angle + (turn ?? 0);
      const [x, y] = [tip.x + Math.cos(angle) * (far ?? 0), tip.y + Math.sin(angle) * (far ?? 0)];
      if (far === 0) c.moveTo(x, y); else c.lineTo(x, y);
    }
    c.closePath();
    c.fill();
    c.globalAlpha = 1;
  }

  /** @param {Row} row */
  curve(row) {
    const { context: c, view } = this;
    const curve = this.model.curves[row.curve];
    if (!curve) return;
    const [top, bottom] = [row.track - 19, row.track + 19];
    // One value beyond each edge, so that the line goes on.
    const near = curve.points.filter(([at], number) => {
      const [before, after] = [curve.points[number - 1]?.[0] ?? at, curve.points[number + 1]?.[0] ?? at];
      return after >= view.from && before <= view.to;
    });
    const values = near.flatMap(([, value]) => (value === null ? [] : [value]));
    if (!values.length) {
      c.fillStyle = this.ink.dim ?? "";
      c.fillText("nothing in this stretch of time", 6, row.track + 0.5);
      return;
    }
    let [least, most] = [Math.min(...values), Math.max(...values)];
    if (curve.zero) least = Math.min(0, least);
    if (curve.limit !== null) most = Math.max(most, curve.limit);
    const constant = most - least < 1e-12;
    if (constant) { least -= Math.abs(least) * 0.1 + 0.5; most += Math.abs(most) * 0.1 + 0.5; }
    /** @param {number} value */
    const y = (value) => bottom - ((value - least) / (most - least)) * (bottom - top);
    c.strokeStyle = this.ink.curve ?? "";
    c.lineWidth = 1.75;
    c.lineJoin = "round";
    c.beginPath();
    let pen = false;
    for (const [at, value] of near) {
      if (value === null) { pen = false; continue; }
      if (pen) c.lineTo(view.x(at), y(value)); else c.moveTo(view.x(at), y(value));
      pen = true;
    }
    c.stroke();
    if (curve.limit !== null) {
      c.strokeStyle = this.ink.error ?? "";
      c.lineWidth = 1.25;
      c.setLineDash([5, 4]);
      c.beginPath();
      c.moveTo(0, y(curve.limit));
      c.lineTo(view.width, y(curve.limit));
      c.stroke();
      c.setLineDash([]);
    }
    if (near.length < 40) {
      c.fillStyle = this.ink.curve ?? "";
      for (const [at, value] of near) {
        if (value === null) continue;
        c.beginPath();
        c.arc(view.x(at), y(value), 2.25, 0, 7);
        c.fill();
      }
    }
    for (const [at] of this.model.saves) {
      const x = view.x(at);
      if (x < 0 || x > view.width) continue;
      c.fillStyle = this.ink.good ?? "";
      c.beginPath();
      c.moveTo(x, bottom + 4);
      c.lineTo(x + 5, bottom + 12);
      c.lineTo(x - 5, bottom + 12);
      c.closePath();
      c.fill();
    }
    c.fillStyle = this.ink.dim ?? "";
    if (constant) {
      this.halo(Painter.number(values[0] ?? 0, curve.unit), 5, row.track - 10);
    } else {
      const [low, high] = Painter.pair(least, most, curve.unit);
      this.halo(high, 5, row.track - 26);
      this.halo(low, 5, row.track + 27);
    }
    const cursor = this.cursor;
    if (cursor === null) return;
    const at = view.at(cursor);
    const before = near.filter(([time, value]) => time <= at && value !== null).pop();
    if (!before || before[1] === null) return;
    c.fillStyle = this.ink.text ?? "";
    this.halo(Painter.number(before[1], curve.unit), Math.min(view.width - 60, cursor + 6), Math.max(top + 4, Math.min(bottom - 4, y(before[1]) - 9)));
  }

  /** @param {string} text @param {number} x @param {number} y */
  halo(text, x, y) {
    const { context: c } = this;
    c.strokeStyle = this.ink.track ?? "";
    c.lineWidth = 3;
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
  }

  overlay() {
    const { context: c, view, layout } = this;
    if (this.line) {
      c.strokeStyle = this.ink.link ?? "";
      c.lineWidth = 2;
      c.beginPath();
      c.roundRect(1, this.line.y + 1, view.width - 2, this.line.height - 2, 4);
      c.stroke();
    }
    if (this.cursor !== null) {
      c.strokeStyle = this.ink.dim ?? "";
      c.lineWidth = 1;
      c.globalAlpha = 0.6;
      c.beginPath();
      c.moveTo(Math.round(this.cursor) + 0.5, 0);
      c.lineTo(Math.round(this.cursor) + 0.5, layout.height);
      c.stroke();
      c.globalAlpha = 1;
    }
    if (this.brush) {
      c.fillStyle = this.ink.link ?? "";
      c.globalAlpha = 0.15;
      c.fillRect(Math.min(...this.brush), 0, Math.abs(this.brush[1] - this.brush[0]), layout.height);
      c.globalAlpha = 1;
    }
  }

  /** @param {string} text */
  measured(text) {
    const known = this.widths.get(text);
    if (known !== undefined) return known;
    if (this.widths.size > 4000) this.widths.clear();
    const width = this.context.measureText(text).width;
    this.widths.set(text, width);
    return width;
  }

  /** The beginning of a text that fits. @param {string} text @param {number} room */
  cut(text, room) {
    const whole = this.measured(text);
    if (whole <= room) return text;
    let [least, most] = [0, Math.min(text.length, Math.ceil((room / whole) * text.length) + 6)];
    while (least < most) {
      const half = Math.ceil((least + most) / 2);
      if (this.measured(`${text.slice(0, half)}…`) <= room) least = half; else most = half - 1;
    }
    return least > 2 ? `${text.slice(0, least).trimEnd()}…` : "";
  }

  /** What is at a place: marks and steps before bars. @param {number} x @param {number} y */
  hit(x, y) {
    const near = this.targets.filter((one) => Math.abs(one.x - x) <= one.rx && Math.abs(one.y - y) <= one.ry);
    const first = near.filter((one) => !one.bar);
    /** @param {{x: number, rx: number}} one */
    const far = (one) => Math.abs(one.x - x);
    return first.sort((a, b) => far(a) - far(b))[0] ?? near[near.length - 1];
  }

  static KINDS = ["info", "warning", "error", "death"];

  /** How many, in little room. @param {number} count */
  static counted(count) { return count > 999 ? `${Math.round(count / 100) / 10}k` : String(count); }

  /** Two values in as many digits as tell them apart. @param {number} least @param {number} most @param {string} [unit] @returns {[string, string]} */
  static pair(least, most, unit) {
    /** @type {[string, string]} */
    const few = [Painter.number(least, unit), Painter.number(most, unit)];
    if (few[0] !== few[1] || unit === "bytes") return few;
    for (let digits = 4; digits < 16; digits += 1) {
      const [low, high] = [String(Number(least.toPrecision(digits))), String(Number(most.toPrecision(digits)))];
      if (low !== high) return [low, high];
    }
    return few;
  }

  /** A value in few digits. @param {number} value @param {string} [unit] */
  static number(value, unit) {
    if (unit === "bytes") {
      const units = ["B", "KiB", "MiB", "GiB", "TiB"];
      let at = 0;
      let left = value;
      while (Math.abs(left) >= 1024 && at + 1 < units.length) { left /= 1024; at += 1; }
      return `${Number(left.toFixed(1))} ${units[at]}`;
    }
    const size = Math.abs(value);
    if (size >= 1e9) return `${(value / 1e9).toFixed(1)}G`;
    if (size >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
    if (size >= 1e4) return `${Number((value / 1e3).toFixed(1))}k`;
    if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
    return String(Number(size >= 1 ? value.toFixed(2) : value.toPrecision(3)));
  }
}
