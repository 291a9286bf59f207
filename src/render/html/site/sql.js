// @ts-check
"use strict";
// Completion of names in the editor, and keys. Without it the form runs what was typed.
(() => {
  const area = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("statement"));
  const list = /** @type {HTMLUListElement | null} */ (document.getElementById("completions"));
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("editor"));
  if (!area || !list || !form) return;
  for (const element of document.querySelectorAll(".needs-script")) element.removeAttribute("hidden");

  /** @typedef {{name: string, type: string, meaning: string}} Column */
  /** @typedef {{name: string, meaning: string, is_function: boolean, columns: Column[]}} Table */
  /** @typedef {{text: string, kind: string, insert: string}} Word */

  const KEYWORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "ON", "AS", "AND", "OR", "NOT",
    "IN", "LIKE", "ILIKE", "BETWEEN", "IS NULL", "IS NOT NULL", "DISTINCT", "HAVING", "WITH", "UNION ALL", "CASE", "WHEN", "THEN",
    "ELSE", "END", "DESC", "ASC", "NULLS LAST", "INTERVAL", "DESCRIBE", "EXPLAIN"];

  /** @type {Table[]} */
  let tables = [];
  /** @type {string[]} */
  let functions = [];
  /** @type {Promise<void> | undefined} */
  let loading;
  const load = () => {
    loading ??= (async () => {
      const reply = await fetch("/sql/catalogue", { headers: { accept: "application/json" } });
      if (!reply.ok) return;
      const catalogue = await reply.json();
      tables = catalogue.tables;
      functions = catalogue.functions;
      document.getElementById("catalogue")?.replaceChildren(...tables.map(shown));
    })().catch(() => { loading = undefined; });
    return loading;
  };

  /** @param {string} name @param {string} text @param {string} [type] */
  const line = (name, text, type) => {
    const row = document.createElement("div");
    const [dt, dd, code] = [document.createElement("dt"), document.createElement("dd"), document.createElement("code")];
    code.textContent = name;
    dt.append(code);
    dd.textContent = type ? `${type}: ${text}` : text;
    row.append(dt, dd);
    return row;
  };
  /** @param {Table} table */
  const shown = (table) => {
    const details = document.createElement("details");
    const [summary, code, columns] = [document.createElement("summary"), document.createElement("code"), document.createElement("dl")];
    code.textContent = table.is_function ? `${table.name}('NAME')` : table.name;
    summary.append(code, ` ${table.meaning}`);
    columns.append(...table.columns.map((column) => line(column.name, column.meaning, column.type)));
    details.append(summary, columns);
    return details;
  };

  /** @type {Word[]} */
  let words = [];
  let chosen = 0;
  let begin = 0;

  const close = () => { list.hidden = true; };
  /** @param {number} at */
  const choose = (at) => {
    chosen = at;
    [...list.children].forEach((item, number) => {
      item.setAttribute("aria-selected", String(number === at));
      if (number === at) item.scrollIntoView({ block: "nearest" });
    });
  };
  const take = () => {
    const word = words[chosen];
    if (!word) return;
    const end = area.selectionStart;
    area.setRangeText(word.insert, begin, end, "end");
    close();
    area.focus();
  };

  /** @param {boolean} forced */
  const complete = async (forced) => {
    await load();
    const before = area.value.slice(0, area.selectionStart);
    const typed = /[\w.]*$/.exec(before)?.[0] ?? "";
    const [owner, part] = typed.includes(".") ? typed.split(/\.(?=\w*$)/) : ["", typed];
    begin = area.selectionStart - (part ?? "").length;
    const prefix = (part ?? "").toLowerCase();
    const quotes = before.split("'").length - 1;
    if (quotes % 2 === 1 || (!forced && prefix.length < 2 && !owner)) {
      close();
      return;
    }
    const lower = area.value.toLowerCase();
    const named = tables.filter((table) => new RegExp(`\\b${table.name}\\b`).test(lower));
    const alias = new RegExp(`\\b(\\w+)(?:\\([^)]*\\))?\\s+(?:as\\s+)?${owner?.toLowerCase()}\\b`).exec(lower)?.[1];
    const of = owner ? tables.filter((table) => table.name === owner.toLowerCase() || table.name === alias) : named.length ? named : [];
    /** @type {Word[]} */
    const all = of.flatMap((table) => table.columns.map((column) => ({ text: column.name, kind: `${table.name} · ${column.type}`, insert: column.name })));
    if (!owner) {
      all.push(...tables.map((table) => ({ text: table.name, kind: "table", insert: table.is_function ? `${table.name}('` : table.name })));
      all.push(...KEYWORDS.map((word) => ({ text: word, kind: "", insert: word })));
      if (prefix.length > 1) all.push(...functions.map((name) => ({ text: name, kind: "function", insert: `${name}(` })));
    }
    const seen = new Set();
    words = all.filter((word) => {
      const fits = word.text.toLowerCase().startsWith(prefix) && word.text.toLowerCase() !== prefix && !seen.has(word.text);
      if (fits) seen.add(word.text);
      return fits;
    }).slice(0, 12);
    list.replaceChildren(...words.map((word, at) => {
      const item = document.createElement("li");
      const [name, kind] = [document.createElement("code"), document.createElement("span")];
      name.textContent = word.text;
      kind.textContent = word.kind;
      kind.className = "dim";
      item.setAttribute("role", "option");
      item.append(name, kind);
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        choose(at);
        take();
      });
      return item;
    }));
    list.hidden = words.length === 0;
    choose(0);
  };

  area.addEventListener("input", () => { void complete(false); });
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void complete(true);
      return;
    }
    if (list.hidden) return;
    if (event.key === "ArrowDown") choose((chosen + 1) % words.length);
    else if (event.key === "ArrowUp") choose(chosen === 0 ? words.length - 1 : chosen - 1);
    else if (event.key === "Tab" || event.key === "Enter") take();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  document.getElementById("tables")?.addEventListener("toggle", () => { void load(); });
})();
