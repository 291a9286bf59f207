// @ts-check
"use strict";
// The list of records: search, filters, and one record by itself with what finds it again.

const Records = (() => {
  /** @param {string} id */
  const byId = (id) => document.getElementById(id);

  const rows = [.../** @type {NodeListOf<HTMLTableRowElement>} */ (document.querySelectorAll("table.rows tbody tr[id]"))].map((element) => ({
    element,
    number: Number(element.id.slice(1)),
    lane: element.dataset.lane ?? "",
    weight: element.dataset.weight ?? "info",
    by: (element.dataset.by ?? "").split(" "),
    text: (element.textContent ?? "").toLowerCase(),
    kept: true,
  }));
  const numbers = new Map(rows.map((row) => [row.number, row]));

  const find = /** @type {HTMLInputElement | null} */ (byId("find"));
  const lane = /** @type {HTMLSelectElement | null} */ (byId("lane"));
  const source = /** @type {HTMLSelectElement | null} */ (byId("source"));
  const weight = /** @type {HTMLSelectElement | null} */ (byId("weight"));
  const found = byId("found");

  /** @type {(() => void)[]} */
  const listeners = [];
  const asked = () => ({
    text: (find?.value ?? "").trim().toLowerCase(), lane: lane?.value ?? "", source: source?.value ?? "", weight: weight?.value ?? "",
  });
  /** @param {string} own */
  const heavy = (own) => {
    const wanted = weight?.value ?? "";
    return wanted === "" || own === "error" || own === "death" || (wanted === "warning" && own === "warning");
  };

  const filter = () => {
    const { text, lane, source, weight } = asked();
    let kept = 0;
    for (const row of rows) {
      row.kept = (!lane || row.lane === lane) && (!source || row.by.includes(source)) && heavy(row.weight) && (!text || row.text.includes(text));
      row.element.hidden = !row.kept;
      if (row.kept) kept += 1;
    }
    const narrowed = text || lane || source || weight;
    if (found) found.textContent = narrowed ? `${kept} of ${rows.length} records` : "";
    const details = /** @type {HTMLDetailsElement | null} */ (document.querySelector("details.timeline"));
    if (details && text) details.open = true;
    for (const listener of listeners) listener();
  };

  /** @param {Element} element */
  const openFor = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
  };
  const openTarget = () => {
    const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    if (!target) return;
    openFor(target);
    target.scrollIntoView({ block: "nearest" });
  };

  const picked = byId("picked");

  /** Records that came with the page. @type {{left_out: number, rows: Record<string, [string, number | null]>, texts: string[]} | null} */
  const brought = JSON.parse(byId("records")?.textContent || "null");
  const without = byId("without-records");
  if (brought && brought.left_out > 0 && without) {
    const [count, are, them] = brought.left_out === 1 ? ["1 row", "is", "it"] : [`${brought.left_out.toLocaleString("en")} rows`, "are", "them"];
    without.textContent = ` The records behind ${count} far from the chain ${are} left out of this file; the statement beside ${them} finds ${them}.`;
    without.hidden = false;
  }

  /** @param {string} label @param {(Node | string)[]} content */
  const line = (label, content) => {
    const part = document.createElement("div");
    const [name, value] = [document.createElement("dt"), document.createElement("dd")];
    name.textContent = label;
    value.append(...content);
    part.append(name, value);
    return part;
  };

  /** @param {string[]} ids */
  const statement = (ids) =>
    `SELECT * FROM events WHERE id ${ids.length === 1 ? `= '${ids[0]}'` : `IN (${ids.map((id) => `'${id}'`).join(", ")})`}`;

  /** @param {string} sql */
  const finder = (sql) => {
    const code = document.createElement("code");
    code.textContent = sql;
    const parts = [/** @type {Node} */ (code)];
    if (picked?.dataset.sql !== undefined) {
      const link = document.createElement("a");
      link.href = `/sql?q=${encodeURIComponent(sql)}`;
      link.textContent = "Run it";
      link.className = "run";
      parts.push(link);
    }
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy";
    copy.addEventListener("click", () => {
      navigator.clipboard?.writeText(sql).then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Select and copy it"; });
    });
    parts.push(copy);
    return parts;
  };

  /** Ids as the program makes them; nothing else goes into a statement. @param {string | undefined} ids */
  const idsOf = (ids) => (ids ?? "").split(" ").filter((id) => /^[0-9a-zA-Z_-]{1,80}$/.test(id));

  /** @param {Element | null | undefined} cell */
  const copied = (cell) => [...(cell?.childNodes ?? [])].map((node) => node.cloneNode(true));

  /** A record's own text, open: it is what was asked for. @param {string} text */
  const opened = (text) => {
    const details = document.createElement("details");
    details.open = true;
    const [summary, pre] = [document.createElement("summary"), document.createElement("pre")];
    summary.textContent = "The record as it was read";
    pre.tabIndex = 0;
    pre.textContent = text;
    details.append(summary, pre);
    return details;
  };
  /** @param {string} text */
  const remark = (text) => {
    const said = document.createElement("p");
    said.className = "dim";
    said.textContent = text;
    return said;
  };
  /** @param {string} place */
  const readFrom = (place) => {
    const code = document.createElement("code");
    const own = document.createElement("bdi");
    own.textContent = place;
    code.append(own);
    return line("Read from", [code]);
  };
  const NO_TEXT = "The record has no text of its own, or none that you may see.";

  /** Fills in what the service tells of a record. @param {string} id @param {number} at @param {HTMLElement} list @param {HTMLElement} place */
  const fetched = async (id, at, list, place) => {
    place.replaceChildren(remark("The record is being read …"));
    try {
      const when = Number.isFinite(at) ? `?at=${Math.round(at)}` : "";
      const reply = await fetch(`${picked?.dataset.records}${encodeURIComponent(id)}${when}`, { headers: { accept: "application/json" } });
      const told = await reply.json();
      if (!reply.ok) throw new Error(told.detail ?? told.title);
      if (told.place) list.lastElementChild?.before(readFrom(told.place));
      place.replaceChildren(told.raw ? opened(told.raw) : remark(NO_TEXT));
    } catch (error) {
      place.replaceChildren(remark(`The record could not be read: ${error instanceof Error && error.message ? error.message : "the service does not answer"}.`));
    }
  };

  /**
   * Shows one record, or some words where there is none.
   * @param {{row: number, text: string, at: number, to: number, count: number, lane: string}} what
   * @param {boolean} focus
   */
  const pick = (what, focus) => {
    if (!picked) return;
    for (const old of document.querySelectorAll("tr.picked")) old.classList.remove("picked");
    const row = numbers.get(what.row)?.element;
    row?.classList.add("picked");
    const head = document.createElement("div");
    head.className = "picked-head";
    const title = document.createElement("h3");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => { picked.replaceChildren(); row?.classList.remove("picked"); byId("canvas")?.focus(); });
    const list = document.createElement("dl");
    const [time, , of, said, by] = row ? [...row.cells] : [];
    if (said) title.append(...copied(said)); else title.textContent = what.text;
    head.append(title, close);
    const wide = what.to - what.at;
    /** @type {(Node | string)[]} */
    const when = time ? copied(time) : [Times.full(what.at)];
    if (wide >= 1000) when.push(` (or up to ${Times.length(wide)} later)`);
    if (Times.state.rooted) when.push(` · ${Times.distance(what.at - Times.state.root)} from the root cause`);
    list.append(line("Time", when));
    list.append(line("Of", of ? copied(of) : [what.lane]));
    if (by && by.textContent) list.append(line("Seen by", copied(by)));
    if (what.count > 1) list.append(line("Stands for", [`${what.count} records; the first is shown`]));
    const ids = idsOf(row?.dataset.ids);
    const record = ids.map((id) => byId(`e-${id}`)).find((one) => one);
    if (record) {
      const place = [...record.querySelectorAll("dl > div")].find((one) => one.querySelector("dt")?.textContent === "Read from");
      if (place) list.append(line("Read from", copied(place.querySelector("dd"))));
    }
    if (ids.length) list.append(line("SQL", finder(statement(ids))));
    const own = document.createElement("div");
    own.className = "own-record";
    picked.replaceChildren(head, list, own);
    const kept = record ? undefined : brought?.rows[what.row];
    if (record) {
      const text = record.querySelector("details pre")?.textContent;
      own.append(text ? opened(text) : remark(NO_TEXT));
    } else if (kept) {
      const [place, number] = kept;
      if (place) list.lastElementChild?.before(readFrom(place));
      const text = number === null ? undefined : brought?.texts[number];
      own.append(text ? opened(text) : remark(NO_TEXT));
    } else if (ids[0] && picked.dataset.records) {
      void fetched(ids[0], Times.state.origin + what.at, list, own);
    } else if (ids.length) {
      own.append(remark("The record itself is left out of this file, which keeps those nearest to the chain; the statement finds it."));
    }
    const links = document.createElement("p");
    links.className = "dim links";
    /** @param {string} to @param {string} text */
    const link = (to, text) => {
      const made = document.createElement("a");
      made.href = `#${to}`;
      made.textContent = text;
      made.addEventListener("click", () => { const target = byId(to); if (target) openFor(target); });
      links.append(made);
    };
    if (record) link(record.id, "Among the evidence");
    if (row) link(row.id, "In the list");
    if (links.childNodes.length) picked.append(links);
    if (focus) {
      title.tabIndex = -1;
      title.focus();
    }
  };

  addEventListener("hashchange", openTarget);
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) if (!details.closest(".record")) details.open = true;
  });
  byId("controls")?.removeAttribute("hidden");
  for (const element of document.querySelectorAll(".needs-script")) element.removeAttribute("hidden");
  for (const control of [find, lane, source, weight]) control?.addEventListener("input", filter);
  byId("controls")?.addEventListener("submit", (event) => event.preventDefault());
  openTarget();

  return {
    asked, heavy, pick, numbers, find,
    /** @param {() => void} listener */
    onFilter: (listener) => { listeners.push(listener); },
  };
})();
