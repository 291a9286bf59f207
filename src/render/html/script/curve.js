// @ts-check
"use strict";
// Curves below the lanes: what was measured, its limit, and when checkpoints were saved.

class CurvePainter {
  /** @param {Painter} painter */
  constructor(painter) { this.painter = painter; }

  /** @param {Row} row */
  draw(row) {
    const { context: c, view } = this.painter;
    const curve = this.painter.model.curves[row.curve];
    if (!curve) return;
    const [top, bottom] = [row.track - 19, row.track + 19];
    // One value beyond each edge, so that the line goes on.
    const near = curve.points.filter(([at], number) => {
      const [before, after] = [curve.points[number - 1]?.[0] ?? at, curve.points[number + 1]?.[0] ?? at];
      return after >= view.from && before <= view.to;
    });
    const values = near.flatMap(([, value]) => (value === null ? [] : [value]));
    if (!values.length) {
      c.fillStyle = this.painter.ink.dim ?? "";
      // A run that hangs reports nothing any more: what it reported last is what there is to see.
      const last = curve.points.filter(([at, value]) => at < view.from && value !== null).pop();
      const known = last && last[1] !== null ? `; the last before: ${Numbers.number(last[1], curve.unit)} at ${Times.full(last[0])}` : "";
      c.fillText(this.painter.cut(`nothing in this stretch of time${known}`, view.width - 12), 6, row.track + 0.5);
      return;
    }
    let [least, most] = [Math.min(...values), Math.max(...values)];
    if (curve.zero) least = Math.min(0, least);
    if (curve.limit !== null) most = Math.max(most, curve.limit);
    const constant = most - least < 1e-12;
    if (constant) { least -= Math.abs(least) * 0.1 + 0.5; most += Math.abs(most) * 0.1 + 0.5; }
    /** @param {number} value */
    const y = (value) => bottom - ((value - least) / (most - least)) * (bottom - top);
    c.strokeStyle = this.painter.ink.curve ?? "";
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
      c.strokeStyle = this.painter.ink.error ?? "";
      c.lineWidth = 1.25;
      c.setLineDash([5, 4]);
      c.beginPath();
      c.moveTo(0, y(curve.limit));
      c.lineTo(view.width, y(curve.limit));
      c.stroke();
      c.setLineDash([]);
    }
    if (near.length < 40) {
      c.fillStyle = this.painter.ink.curve ?? "";
      for (const [at, value] of near) {
        if (value === null) continue;
        c.beginPath();
        c.arc(view.x(at), y(value), 2.25, 0, 7);
        c.fill();
      }
    }
    for (const [at] of this.painter.model.saves) {
      const x = view.x(at);
      if (x < 0 || x > view.width) continue;
      c.fillStyle = this.painter.ink.good ?? "";
      c.beginPath();
      c.moveTo(x, bottom + 4);
      c.lineTo(x + 5, bottom + 12);
      c.lineTo(x - 5, bottom + 12);
      c.closePath();
      c.fill();
    }
    c.fillStyle = this.painter.ink.dim ?? "";
    if (constant) {
      this.painter.halo(Numbers.number(values[0] ?? 0, curve.unit), 5, row.track - 10);
    } else {
      const [low, high] = Numbers.pair(least, most, curve.unit);
      this.painter.halo(high, 5, row.track - 26);
      this.painter.halo(low, 5, row.track + 27);
    }
    const cursor = this.painter.cursor;
    if (cursor === null) return;
    const at = view.at(cursor);
    const before = near.filter(([time, value]) => time <= at && value !== null).pop();
    if (!before || before[1] === null) return;
    c.fillStyle = this.painter.ink.text ?? "";
    this.painter.halo(Numbers.number(before[1], curve.unit), Math.min(view.width - 60, cursor + 6), Math.max(top + 4, Math.min(bottom - 4, y(before[1]) - 9)));
  }
}
