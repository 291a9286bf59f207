// @ts-check
"use strict";
// What the picture is drawn with: the colours of the style sheet, hatching, signs that are drawn once, and texts as far as there is room.

class Pen {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** How much of the picture the canvas shows. */
    this.tall = 0;
    this.scale = 1;
    /** Widths of texts that were measured. @type {Map<string, number>} */
    this.widths = new Map();
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

  /** @param {string} text @param {number} x @param {number} y */
  halo(text, x, y) {
    const { context: c } = this;
    c.strokeStyle = this.ink.track ?? "";
    c.lineWidth = 3;
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
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
}
