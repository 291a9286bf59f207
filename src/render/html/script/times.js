// @ts-check
"use strict";
// Times as the reader wants them: as they were written, in another zone, or from the root.
// Everything here reads nothing but the page itself.

const Times = (() => {
  /** @param {number} n @param {number} [digits] */
  const padded = (n, digits = 2) => String(n).padStart(digits, "0");

  /** @type {{element: HTMLTimeElement, written: string}[]} */
  const all = [];
  /** @param {ParentNode} within */
  const collect = (within) => {
    for (const element of within.querySelectorAll("time")) all.push({ element, written: element.textContent ?? "" });
  };

  /** @type {(() => void)[]} */
  const listeners = [];
  /** Whether a root is known: times from it mean nothing otherwise. */
  const state = { zone: "", written: "UTC", origin: 0, root: 0, rooted: false };

  /** @type {Map<string, Intl.DateTimeFormat | null>} */
  const formats = new Map();
  /** @param {string} zone */
  const format = (zone) => {
    const known = formats.get(zone);
    if (known !== undefined) return known;
    /** @type {Intl.DateTimeFormat | null} */
    let made = null;
    try {
      made = new Intl.DateTimeFormat("en-GB", {
        timeZone: zone === "local" ? undefined : zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
        hour: "2-digit", minute: "2-digit", second: "2-digit",
      });
    } catch { /* a zone that this browser does not know is shown in UTC */ }
    formats.set(zone, made);
    return made;
  };

  const zoneName = () => (state.zone === "" || state.zone === "root" ? state.written : state.zone === "utc" ? "UTC" : state.zone);

  /** Day and time of day in the zone that is chosen. @param {number} at milliseconds since 1970 */
  const parts = (at) => {
    const made = format(zoneName()) ?? format("UTC");
    const found = { year: "", month: "", day: "", hour: "", minute: "", second: "" };
    for (const { type, value } of made?.formatToParts(new Date(at)) ?? []) {
      if (type in found) found[/** @type {keyof typeof found} */ (type)] = value;
    }
    return { day: `${found.year}-${found.month}-${found.day}`, clock: `${found.hour}:${found.minute}:${found.second}` };
  };

  /** @param {number} ms */
  const distance = (ms) => {
    const sign = ms < 0 ? "−" : "+";
    const s = Math.abs(ms) / 1000;
    if (s < 60) return `${sign}${Number(s.toFixed(s < 10 ? 2 : 1))}s`;
    const whole = Math.floor(s);
    const [h, m] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
    if (whole >= 172800) return `${sign}${Math.floor(whole / 86400)}d${padded(h % 24)}h`;
    return h > 0 ? `${sign}${h}h${padded(m)}m` : `${sign}${m}m${padded(whole % 60)}s`;
  };

  /** How long something is: `1 h 5 min`. @param {number} ms */
  const length = (ms) => {
    const s = Math.max(0, ms / 1000);
    if (s < 1) return `${Math.round(ms)} ms`;
    if (s < 60) return `${Number(s.toFixed(1))} s`;
    const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
    if (d > 0) return h ? `${d} d ${h} h` : `${d} d`;
    if (h > 0) return m ? `${h} h ${m} min` : `${h} h`;
    return Math.floor(s % 60) ? `${m} min ${Math.floor(s % 60)} s` : `${m} min`;
  };

  /** The whole time of a place in the picture. @param {number} at milliseconds from the origin */
  const full = (at) => {
    if (state.zone === "root") return distance(at - state.root);
    const { day, clock } = parts(state.origin + at);
    return `${day} ${clock}${zoneName() === "UTC" ? "Z" : ""}`;
  };

  /** A label of the axis. @param {number} at @param {number} step */
  const label = (at, step) => {
    if (state.zone === "root") return distance(at - state.root);
    const { day, clock } = parts(state.origin + at);
    if (step >= 432e5) return day;
    if (step >= 6e4) return clock.slice(0, 5);
    const millis = step < 1000 ? `.${padded((((state.origin + at) % 1000) + 1000) % 1000, 3)}` : "";
    return clock + millis;
  };

  /** How far the zone is from UTC then. @param {number} at milliseconds from the origin */
  const shift = (at) => {
    const { day, clock } = parts(state.origin + at);
    const local = Date.parse(`${day}T${clock}Z`);
    return Number.isNaN(local) ? 0 : local - Math.floor((state.origin + at) / 1000) * 1000;
  };

  const show = () => {
    for (const { element, written } of all) {
      const at = new Date(element.dateTime).getTime();
      element.textContent = state.zone === "" || Number.isNaN(at) ? written : full(at - state.origin);
    }
    for (const listener of listeners) listener();
  };

  const chooser = /** @type {HTMLSelectElement | null} */ (document.getElementById("zone"));
  const fill = () => {
    if (!chooser || chooser.querySelector("optgroup")) return;
    const names = typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [];
    const group = document.createElement("optgroup");
    group.label = "other zones";
    for (const name of names) {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = name.replace(/_/g, " ");
      group.append(option);
    }
    chooser.append(group);
  };
  chooser?.addEventListener("pointerdown", fill);
  chooser?.addEventListener("focus", fill);
  chooser?.addEventListener("change", () => { state.zone = chooser.value; show(); });

  collect(document);
  return {
    state, full, label, shift, distance, length, zoneName,
    /** @param {() => void} listener */
    onChange: (listener) => { listeners.push(listener); },
  };
})();
