// @ts-check
"use strict";
// What each line of the picture shows at one moment, in words: states and since when, or the value of a curve.

class Lines {
  /** @param {Model} model @param {View} view @param {Layout} layout */
  constructor(model, view, layout) {
    this.model = model;
    this.view = view;
    this.layout = layout;
    /** The line that is told. @type {Row | null} */
    this.row = null;
    /** The moment that is told. */
    this.at = 0;
  }

  /** Lines that show something. */
  all() { return this.layout.rows.filter((row) => row.kind === "lane" || row.kind === "member" || row.kind === "curve"); }

  /** Goes to the next line, at the moment of what is chosen. @param {number} way @param {Mark | Step | null} chosen */
  step(way, chosen) {
    const all = this.all();
    if (!this.row) {
      const { view, model } = this;
      this.at = chosen ? ("at" in chosen ? chosen.at : chosen.from) : model.root ? model.root[0] : (view.from + view.to) / 2;
      view.show(this.at);
      this.row = (way > 0 ? all[0] : all[all.length - 1]) ?? null;
      return;
    }
    this.row = all[Math.max(0, Math.min(all.length - 1, all.indexOf(this.row) + way))] ?? null;
  }

  /** Finds the line again after the rows were laid out anew. */
  find() {
    const was = this.row;
    if (!was) return;
    this.row = this.all().find((row) => row.kind === was.kind && row.lane === was.lane && row.member === was.member && row.curve === was.curve) ?? null;
  }

  /** The line at a height, for whoever points at it; whether there is one. @param {number} y @param {number} at */
  point(y, at) {
    const row = this.layout.at(y);
    if (!row || !this.all().includes(row)) return false;
    this.row = row;
    this.at = at;
    return true;
  }

  /** The moment stays in sight. */
  keep() {
    const { view } = this;
    if (this.at < view.from || this.at > view.to) this.at = (view.from + view.to) / 2;
  }

  /** Goes to where the line changes next. @param {number} way */
  change(way) {
    const { row, view } = this;
    if (!row) return;
    const places = this.places(row).filter((at) => (way > 0 ? at > this.at + 0.5 : at < this.at - 0.5));
    if (!places.length) return;
    this.at = way > 0 ? Math.min(...places) : Math.max(...places);
    view.show(this.at);
  }

  /** Where a line changes. @param {Row} row */
  places(row) {
    const { whole } = this.view;
    if (row.kind === "curve") return (this.model.curves[row.curve]?.points ?? []).flatMap(([at, value]) => (value === null ? [] : [at]));
    return this.bars(row).flatMap((bar) => [bar.from, bar.to]).filter((at) => at >= whole.from && at <= whole.to);
  }

  /** The states of a line; of a folded one those of all that it stands for. @param {Row} row */
  bars(row) {
    const folded = row.kind === "lane" && (this.model.lanes[row.lane]?.folded ?? 0) > 0;
    return this.model.bars.filter((bar) => bar.lane === row.lane && (folded || bar.member === row.member));
  }

  /** What the line shows. @returns {{head: string, text: string}} */
  told() {
    const { row } = this;
    if (!row) return { head: "", text: "" };
    const head = row.note ? `${row.label} · ${row.note}` : row.label;
    return { head, text: row.kind === "curve" ? this.value(row) : this.states(row) };
  }

  /** @param {Row} row */
  value(row) {
    const curve = this.model.curves[row.curve];
    const last = curve?.points.filter(([at]) => at <= this.at + 0.5).pop();
    if (!curve || !last || last[1] === null) return "no value at this time";
    const limit = curve.limit === null ? "" : `, limit ${Numbers.number(curve.limit, curve.unit)}`;
    const unit = curve.unit && curve.unit !== "bytes" ? ` ${curve.unit}` : "";
    return `${Numbers.number(last[1], curve.unit)}${unit}${limit}, measured at ${Times.full(last[0])}`;
  }

  /** @param {Row} row */
  states(row) {
    const now = this.bars(row).filter((bar) => bar.from <= this.at + 0.5 && bar.to >= this.at - 0.5);
    // Where one ends and another begins, the one that begins is meant.
    const begun = now.filter((bar) => bar.to > this.at + 0.5);
    const shown = begun.length ? begun : now;
    if (!shown.length) return "no state is known at this time";
    /** @type {Map<string, number>} */
    const many = new Map();
    for (const bar of shown) many.set(bar.text, (many.get(bar.text) ?? 0) + 1);
    if (shown.some((bar) => bar.member !== row.member)) return [...many].map(([text, count]) => `${count.toLocaleString("en")} ${text}`).join("; ");
    const { whole } = this.view;
    return shown.map((bar) => {
      const since = bar.from > whole.from ? ` since ${Times.full(bar.from)}` : "";
      const until = bar.to < whole.to ? ` until ${Times.full(bar.to)}` : "";
      return `${bar.text}${since}${until}`;
    }).join("; ");
  }
}
