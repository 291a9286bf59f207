// @ts-check
"use strict";
// The picture on its canvas. Records stand in the list as well; what lines show of states and values is told line by line
// to those who do not point.

class Painter extends Pen {
  /** @param {HTMLCanvasElement} canvas @param {Model} model @param {View} view @param {Layout} layout */
  constructor(canvas, model, view, layout) {
    super(canvas);
    this.model = model;
    this.view = view;
    this.layout = layout;
    this.chain = new ChainPainter(this);
    this.curves = new CurvePainter(this);
    /** From where on the canvas shows the picture. */
    this.top = 0;
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
    this.chain.draw();
    for (const row of this.layout.rows) if (row.kind === "curve" && this.seen(row)) this.curves.draw(row);
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
    return Math.max(8, this.measured(Numbers.counted(mark.count)) / 2 + 5) + own;
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
      const text = Numbers.counted(mark.count);
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

  /** What is at a place: marks and steps before bars. @param {number} x @param {number} y */
  hit(x, y) {
    const near = this.targets.filter((one) => Math.abs(one.x - x) <= one.rx && Math.abs(one.y - y) <= one.ry);
    const first = near.filter((one) => !one.bar);
    /** @param {{x: number, rx: number}} one */
    const far = (one) => Math.abs(one.x - x);
    return first.sort((a, b) => far(a) - far(b))[0] ?? near[near.length - 1];
  }

  static KINDS = ["info", "warning", "error", "death"];
}
