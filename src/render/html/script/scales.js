// @ts-check
"use strict";
// What stands above the lanes: the axis, and the overview of how much there is from the first to the last, with the part
// of it that is shown.

class Scales {
  static AXIS = 26;
  static OVER = 38;

  /** @param {HTMLCanvasElement} axis @param {HTMLCanvasElement} overview @param {Model} model @param {View} view @param {Record<string, string>} ink */
  constructor(axis, overview, model, view, ink) {
    this.axis = axis;
    this.overview = overview;
    this.model = model;
    this.view = view;
    this.ink = ink;
    this.width = 1000;
    this.gutter = 0;
    /** @type {{most: number, bins: [number, number][]} | null} */
    this.density = null;
    this.axisInk = Scales.sized(axis, this.width, Scales.AXIS);
    this.overInk = Scales.sized(overview, this.width, Scales.OVER);
  }

  /** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
  static sized(canvas, width, height) {
    const scale = Math.min(3, devicePixelRatio || 1);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
  }

  /** @param {number} width @param {number} gutter */
  resize(width, gutter) {
    this.width = width;
    this.gutter = gutter;
    this.axisInk = Scales.sized(this.axis, width, Scales.AXIS);
    this.overInk = Scales.sized(this.overview, width, Scales.OVER);
    this.density = null;
  }

  draw() {
    this.drawAxis();
    this.drawOverview();
  }

  drawAxis() {
    const { axisInk: c, view, gutter } = this;
    c.clearRect(0, 0, this.width, Scales.AXIS);
    c.font = "11.5px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.fillStyle = this.ink.dim ?? "";
    const { step, places } = axisMarks(view);
    const zone = Times.state.zone === "root" ? "from the root" : Times.zoneName().replace(/_/g, " ");
    const first = Times.full(view.at(0));
    if (gutter > 0) c.fillText(Times.state.zone === "root" || step >= 432e5 ? zone : `${first.slice(0, 10)} · ${zone}`, 10, Scales.AXIS / 2);
    c.textAlign = "center";
    for (const at of places) {
      const x = view.x(at);
      if (x > 24 && x < view.width - 24) c.fillText(Times.label(at, step), gutter + x, Scales.AXIS / 2);
    }
    c.textAlign = "left";
  }

  /** Where a time is in the overview. @param {number} at */
  x(at) {
    const { from, to } = this.view.whole;
    return this.gutter + ((at - from) / Math.max(1, to - from)) * (this.width - this.gutter);
  }

  /** The time at a place of the overview. @param {number} x */
  at(x) {
    const { from, to } = this.view.whole;
    return from + ((x - this.gutter) / Math.max(1, this.width - this.gutter)) * (to - from);
  }

  count() {
    const bins = /** @type {[number, number][]} */ (Array.from({ length: Math.max(1, Math.floor((this.width - this.gutter) / 4)) }, () => [0, 0]));
    for (const mark of this.model.marks) {
      if (mark.member >= 0) continue;
      const bin = bins[Math.min(bins.length - 1, Math.max(0, Math.floor((this.x(mark.from) - this.gutter) / 4)))];
      if (bin) bin[mark.kind === "error" || mark.kind === "death" ? 1 : 0] += mark.count;
    }
    const most = Math.max(1, ...bins.map(([all, bad]) => Math.log1p(all + bad)));
    this.density = { most, bins };
    return this.density;
  }

  drawOverview() {
    const { overInk: c, view, width, gutter } = this;
    const density = this.density ?? this.count();
    const tallest = Scales.OVER;
    c.clearRect(0, 0, width, tallest);
    c.fillStyle = this.ink.track ?? "";
    c.fillRect(gutter, 4, width - gutter, tallest - 8);
    density.bins.forEach(([all, bad], at) => {
      const tall = (Math.log1p(all + bad) / density.most) * (tallest - 12);
      const red = all + bad > 0 ? (tall * bad) / (all + bad) : 0;
      c.fillStyle = this.ink.info ?? "";
      c.globalAlpha = 0.65;
      c.fillRect(gutter + at * 4, tallest - 6 - tall, 3, tall - red);
      c.globalAlpha = 1;
      c.fillStyle = this.ink.error ?? "";
      c.fillRect(gutter + at * 4, tallest - 6 - red, 3, red);
    });
    const [from, to] = [Math.max(gutter, this.x(view.from)), Math.min(width, this.x(view.to))];
    c.fillStyle = this.ink.ground ?? "";
    c.globalAlpha = 0.6;
    c.fillRect(gutter, 4, Math.max(0, from - gutter), tallest - 8);
    c.fillRect(to, 4, Math.max(0, width - to), tallest - 8);
    c.globalAlpha = 1;
    c.strokeStyle = this.ink.link ?? "";
    c.lineWidth = 2;
    c.beginPath();
    c.roundRect(from + 1, 4, Math.max(6, to - from - 2), tallest - 8, 4);
    c.stroke();
    if (gutter > 0) {
      c.fillStyle = this.ink.dim ?? "";
      c.font = "11.5px system-ui, sans-serif";
      c.textBaseline = "middle";
      c.fillText(`shows ${Times.length(view.length)} of ${Times.length(view.whole.to - view.whole.from)}`, 10, tallest / 2);
    }
  }
}
