// @ts-check
"use strict";
// Numbers in little room.

class Numbers {
  /** How many, in little room. @param {number} count */
  static counted(count) { return count > 999 ? `${Math.round(count / 100) / 10}k` : String(count); }

  /** Two values in as many digits as tell them apart. @param {number} least @param {number} most @param {string} [unit] @returns {[string, string]} */
  static pair(least, most, unit) {
    /** @type {[string, string]} */
    const few = [Numbers.number(least, unit), Numbers.number(most, unit)];
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
