// @ts-check
"use strict";
// Which lanes stand where: headings, lanes, what folded lanes hold, and curves.

/**
 * @typedef {{
 *   kind: "group" | "lane" | "member" | "rest" | "curve", group: number, lane: number, member: number, curve: number,
 *   y: number, height: number, track: number, thick: number, band: number, label: string, note: string,
 * }} Row
 */

class Layout {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Folded lanes that are open. @type {Set<number>} */
    this.open = new Set();
    /** Groups that are shut; the last one stands for the curves. @type {Set<number>} */
    this.shut = new Set();
    /** The one group that is shown, if only one is. */
    this.only = "";
    this.narrow = false;
    /** @type {Row[]} */
    this.rows = [];
    this.height = 0;
    /** Lanes with steps have a band for them. */
    this.stepped = new Set(model.steps.map((step) => step.lane));
    /** @type {Map<string, Row>} */
    this.places = new Map();
  }

  /** @param {boolean} narrow */
  make(narrow) {
    this.narrow = narrow;
    this.rows = [];
    this.places.clear();
    let y = 0;
    const label = narrow ? 19 : 0;
    /** @param {Partial<Row> & {kind: Row["kind"]}} row @param {number} height */
    const add = (row, height) => {
      const band = row.kind === "lane" && this.stepped.has(row.lane ?? -1) ? 26 : 0;
      const whole = height + band + (row.kind === "group" ? 0 : label);
      const made = {
        group: -1, lane: -1, member: -1, curve: -1, label: "", note: "", ...row,
        y, height: whole, thick: 16, band: band ? y + label + 13 : 0, track: y + label + band + height / 2,
      };
      this.rows.push(made);
      if (made.lane >= 0) this.places.set(`${made.lane}/${made.member}`, made);
      y += whole;
    };
    this.model.groups.forEach((group, at) => {
      const lanes = this.model.lanes.map((lane, number) => ({ lane, number })).filter(({ lane }) => lane.group === at);
      if (!lanes.length || (this.only && group.key !== this.only)) return;
      add({ kind: "group", group: at, label: group.title, note: String(lanes.length) }, 30);
      if (this.shut.has(at)) return;
      for (const { lane, number } of lanes) {
        add({ kind: "lane", group: at, lane: number, label: lane.label, note: lane.note }, narrow ? 26 : 34);
        if (!this.open.has(number)) continue;
        lane.members.forEach(([name, note], member) => add({ kind: "member", group: at, lane: number, member, label: name, note }, 22));
        const left = lane.folded - lane.members.length;
        if (left > 0) add({ kind: "rest", group: at, label: `${left.toLocaleString("en")} more in the list below` }, 22);
      }
    });
    if (this.model.curves.length && !this.only) {
      add({ kind: "group", group: this.model.groups.length, label: "Measurements", note: String(this.model.curves.length) }, 30);
      if (!this.shut.has(this.model.groups.length)) {
        this.model.curves.forEach((curve, at) => {
          // Numbers of bytes have units of their own.
          const words = [curve.of, curve.unit].filter((word) => word !== "" && word !== "bytes");
          add({ kind: "curve", group: this.model.groups.length, curve: at, label: curve.title, note: words.join(" · ") }, 76);
        });
      }
    }
    this.height = y + 6;
  }

  /** Where something of a lane is drawn. @param {number} lane @param {number} member */
  place(lane, member) { return this.places.get(`${lane}/${member}`); }

  /** @param {number} y */
  at(y) { return this.rows.find((row) => y >= row.y && y < row.y + row.height); }
}
