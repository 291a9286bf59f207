// @ts-check
"use strict";
// What the picture is drawn from, and which stretch of time it shows.

/**
 * @typedef {{group: number, label: string, note: string, folded: number, members: [string, string][]}} Lane
 * @typedef {{lane: number, member: number, from: number, to: number, kind: string, text: string}} Bar
 * @typedef {{lane: number, member: number, from: number, to: number, kind: string, row: number, count: number, chain: boolean, text: string}} Mark
 * @typedef {{number: number, lane: number, at: number, aside: boolean, text: string}} Step
 * @typedef {{title: string, unit: string, of: string, zero: boolean, limit: number | null, points: [number, number | null][]}} Curve
 * @typedef {{
 *   origin: number, zone: string, window: [number, number], whole: [number, number], root: [number, number] | null,
 *   groups: {key: string, title: string}[], lanes: Lane[], bars: Bar[], marks: Mark[], steps: Step[], curves: Curve[],
 *   saves: [number, number][],
 * }} Model
 */

/** @returns {Model | null} */
const readModel = () => {
  const text = document.getElementById("model")?.textContent;
  if (!text) return null;
  const raw = JSON.parse(text);
  return {
    ...raw,
    lanes: raw.lanes.map((/** @type {any[]} */ [group, label, note, folded, members]) => ({ group, label, note, folded, members })),
    bars: raw.bars.map((/** @type {any[]} */ [lane, member, from, to, kind, text]) => ({ lane, member, from, to, kind, text })),
    marks: raw.marks.map((/** @type {any[]} */ [lane, member, from, to, kind, row, count, chain, text]) => ({
      lane, member, from, to, kind, row, count, chain: chain === 1, text,
    })),
    steps: raw.steps.map((/** @type {any[]} */ [number, lane, at, aside, text]) => ({ number, lane, at, aside: aside === 1, text })),
    curves: raw.curves.map((/** @type {any[]} */ [title, unit, of, zero, limit, points]) => ({ title, unit, of, zero: zero === 1, limit, points })),
  };
};

/** The stretch of time that is shown. */
class View {
  /** @param {Model} model */
  constructor(model) {
    this.first = { from: model.window[0], to: model.window[1] };
    this.whole = { from: Math.min(model.whole[0], this.first.from), to: Math.max(model.whole[1], this.first.to) };
    this.from = this.first.from;
    this.to = this.first.to;
    this.width = 800;
  }

  get length() { return this.to - this.from; }

  /** @param {number} at */
  x(at) { return Math.max(-30000, Math.min(30000, ((at - this.from) / (this.to - this.from)) * this.width)); }

  /** @param {number} x */
  at(x) { return this.from + (x / this.width) * (this.to - this.from); }

  /** @param {number} from @param {number} to */
  set(from, to) {
    const all = this.whole.to - this.whole.from;
    const length = Math.max(20, Math.min(all * 1.2 + 60000, to - from));
    const middle = (from + to) / 2;
    // Something of what there is stays in sight.
    const [least, most] = [this.whole.from - length * 0.45, this.whole.to + length * 0.45];
    const held = Math.max(least + length * 0.05, Math.min(most - length * 0.05, middle));
    this.from = held - length / 2;
    this.to = held + length / 2;
  }

  /** @param {number} factor @param {number} [at] */
  zoom(factor, at = (this.from + this.to) / 2) {
    const all = this.whole.to - this.whole.from;
    const length = Math.max(20, Math.min(all * 1.2 + 60000, this.length * factor));
    const real = length / this.length;
    this.set(at - (at - this.from) * real, at + (this.to - at) * real);
  }

  /** @param {number} part of what is shown */
  move(part) { this.set(this.from + part * this.length, this.to + part * this.length); }

  reset() { this.set(this.first.from, this.first.to); }

  all() { this.set(this.whole.from, this.whole.to); }

  /** Brings a moment into sight. @param {number} at */
  show(at) {
    const edge = this.length * 0.08;
    if (at < this.from + edge || at > this.to - edge) this.set(at - this.length / 2, at + this.length / 2);
  }
}

/** Steps between two marks of the axis, in milliseconds. */
const AXIS_STEPS = [1, 5, 10, 50, 100, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5,
  216e5, 432e5, 864e5, 1728e5, 6048e5, 2592e6, 31536e6];

/** Where the axis is marked: on full units of the zone that is shown. @param {View} view */
const axisMarks = (view) => {
  const most = Math.max(2, view.width / 96);
  const step = AXIS_STEPS.find((one) => view.length / one <= most) ?? view.length / most;
  const shift = Times.state.zone === "root" ? -Times.state.root : (Times.state.origin + Times.shift(view.from)) % step;
  const places = [];
  for (let at = Math.ceil((view.from + shift) / step) * step - shift; at <= view.to && places.length < 80; at += step) places.push(at);
  return { step, places };
};
