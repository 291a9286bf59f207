// @ts-check
"use strict";
// The causal chain, drawn over the lanes that it goes through.

class ChainPainter {
  /** @param {Painter} painter */
  constructor(painter) { this.painter = painter; }

  /** The chain: numbered steps in the bands of their lanes, and arrows from each to the next. */
  draw() {
    const { context: c, view, layout } = this.painter;
    /** @type {Map<number, number[]>} */
    const taken = new Map();
    /** @type {{step: Step, row: Row, x: number, true: number}[]} */
    const placed = [];
    for (const step of this.painter.model.steps) {
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
      c.strokeStyle = this.painter.ink.chain ?? "";
      c.lineWidth = 1.25;
      c.globalAlpha = 0.7;
      c.beginPath();
      c.moveTo(x, y + 9);
      c.lineTo(place, row.track - row.thick / 2);
      c.stroke();
      c.globalAlpha = 1;
      const { flips, room } = this.beside(placed, row, x, step.text);
      const text = room > 36 ? this.painter.cut(step.text, room) : "";
      const wide = text ? c.measureText(text).width : 0;
      const from = flips ? x - 14 - wide : x + 14;
      if (text) {
        c.fillStyle = this.painter.ink.ground ?? "";
        c.globalAlpha = 0.85;
        c.beginPath();
        c.roundRect(from - 6, y - 9, wide + 12, 18, 4);
        c.fill();
        c.globalAlpha = 1;
        c.fillStyle = this.painter.ink.text ?? "";
        c.fillText(text, from, y + 0.5);
      }
      this.badge(x, y, step, step === this.painter.chosen);
      const reach = text ? wide + 26 : 24;
      this.painter.targets.push({ x: flips ? x + 12 - reach / 2 : x - 12 + reach / 2, y, rx: reach / 2, ry: 11, step });
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
      const shared = after.x <= this.painter.view.width + 40 && this.beside(placed, row, after.x, after.step.text).flips;
      const end = shared ? (x + after.x) / 2 : Math.min(this.painter.view.width, after.x - 12);
      return { flips: false, room: end - x - 20 };
    }
    const right = this.painter.view.width - x - 20;
    const left = (before > 0 ? (x - before) / 2 : x) - 20;
    const flips = left > right && (right < 90 || (others.length === 0 && right < 220 && this.painter.measured(text) > right));
    return { flips, room: flips ? left : right };
  }

  /** @param {number} x @param {number} y @param {Step} step @param {boolean} chosen */
  badge(x, y, step, chosen) {
    const { context: c } = this.painter;
    c.beginPath();
    c.arc(x, y, 9, 0, 7);
    c.fillStyle = (step.aside ? this.painter.ink.ground : this.painter.ink.chain) ?? "";
    c.fill();
    c.lineWidth = chosen ? 3 : 1.5;
    c.strokeStyle = (chosen ? this.painter.ink.link : step.aside ? this.painter.ink.chain : this.painter.ink.ground) ?? "";
    c.stroke();
    c.fillStyle = (step.aside ? this.painter.ink.chain : this.painter.ink["on-chain"]) ?? "";
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = "center";
    c.fillText(String(step.number), x, y + 0.5);
    c.textAlign = "left";
    c.font = "11px system-ui, sans-serif";
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {boolean} faint */
  arrow(x1, y1, x2, y2, faint) {
    const { context: c } = this.painter;
    const same = Math.abs(y1 - y2) < 1;
    if (same && Math.abs(x2 - x1) < 26) return;
    const way = Math.sign(same ? x2 - x1 : y2 - y1);
    c.strokeStyle = this.painter.ink.chain ?? "";
    c.fillStyle = this.painter.ink.chain ?? "";
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
}
