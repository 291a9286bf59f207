// @ts-check
"use strict";
// Suggestions while a name is typed. Without it the form finds what was typed.
(() => {
  const input = /** @type {HTMLInputElement | null} */ (document.getElementById("q"));
  const list = /** @type {HTMLUListElement | null} */ (document.getElementById("suggestions"));
  const follow = /** @type {HTMLElement | null} */ (document.querySelector("[data-follow]"));

  if (follow?.dataset.follow) {
    // What is told anew is shown anew; a reader who looks at something keeps their place.
    const stream = new EventSource(follow.dataset.follow);
    document.getElementById("following")?.removeAttribute("hidden");
    stream.addEventListener("changed", () => {
      stream.close();
      location.reload();
    });
    stream.addEventListener("over", () => stream.close());
  }

  if (!input || !list) return;
  /** @type {{name: string, kind: string, path: string}[]} */
  let found = [];
  let chosen = -1;
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let due;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  /** @param {number} at */
  const choose = (at) => {
    chosen = at;
    [...list.children].forEach((item, number) => {
      item.setAttribute("aria-selected", String(number === at));
      if (number === at) item.scrollIntoView({ block: "nearest" });
    });
    if (at >= 0) input.setAttribute("aria-activedescendant", `suggestion-${at}`);
    else input.removeAttribute("aria-activedescendant");
  };

  const show = () => {
    list.replaceChildren(...found.map((one, at) => {
      const item = document.createElement("li");
      item.id = `suggestion-${at}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      const [name, kind] = [document.createElement("bdi"), document.createElement("span")];
      name.textContent = one.name;
      kind.textContent = one.kind;
      kind.className = "dim";
      item.append(name, kind);
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        location.assign(one.path);
      });
      return item;
    }));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    choose(-1);
  };

  const ask = async () => {
    const typed = input.value.trim();
    const number = ++asked;
    if (typed === "") {
      close();
      return;
    }
    try {
      const reply = await fetch(`/suggest?q=${encodeURIComponent(typed)}`, { headers: { accept: "application/json" } });
      if (!reply.ok || number !== asked) return;
      found = await reply.json();
      show();
    } catch {
      // The form works without suggestions.
      close();
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(ask, 120);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") choose((chosen + 1) % found.length);
    else if (event.key === "ArrowUp") choose(chosen <= 0 ? found.length - 1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && found[chosen]) location.assign(found[chosen]?.path ?? "/");
    else return;
    event.preventDefault();
  });
})();
