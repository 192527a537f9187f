// Keeps the parts of a page that are marked data-live up to date. Without this script the pages show the same, as of
// when they were loaded.
"use strict";

(() => {
  if (document.body.dataset.livePage !== "yes") return;

  const kPause = 700;           // ms between two refreshes
  const kWithoutEvents = 15000; // ms, where no stream of events is to be had

  let running = false, wanted = false;

  // Takes over what the viewer did to the old part: opened details, the focus and how far a table is scrolled.
  function keepState(before, after) {
    for (const details of before.querySelectorAll("details[id]")) {
      const now = after.querySelector("#" + CSS.escape(details.id));
      if (now) now.open = details.open;
    }
  }

  function pathTo(root, element) {
    const path = [];
    for (; element !== root; element = element.parentElement) {
      path.unshift(Array.prototype.indexOf.call(element.parentElement.children, element));
    }
    return path;
  }

  function replacePart(before, after) {
    if (before.innerHTML === after.innerHTML) return;
    const focused = before.contains(document.activeElement) ? pathTo(before, document.activeElement) : null;
    const label = focused && document.activeElement.getAttribute("aria-label");
    const scrolled = Array.from(before.querySelectorAll(".table"), (table) => table.scrollLeft);
    keepState(before, after);
    before.replaceWith(after);
    after.querySelectorAll(".table").forEach((table, i) => { table.scrollLeft = scrolled[i] || 0; });
    if (!focused) return;
    const same = focused.reduce((element, i) => element && element.children[i], after);
    if (same && same.getAttribute("aria-label") === label) same.focus({preventScroll: true});
  }

  async function refresh() {
    const response = await fetch(location.href, {credentials: "same-origin", cache: "no-store"});
    if (response.redirected) return location.reload();
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const before of document.querySelectorAll("[data-live][id]")) {
      const after = page.getElementById(before.id);
      if (after) replacePart(before, document.adoptNode(after));
    }
    for (const before of document.querySelectorAll("[data-live-text][id]")) {
      const after = page.getElementById(before.id);
      if (after && before.textContent !== after.textContent) before.textContent = after.textContent;
    }
  }

  async function refreshSoon() {
    wanted = true;
    if (running || document.hidden) return;
    running = true;
    while (wanted) {
      wanted = false;
      try {
        await refresh();
      } catch {
        // The tracker does not answer; the next event tries again.
      }
      await new Promise((resolve) => setTimeout(resolve, kPause));
    }
    running = false;
  }

  let timer = 0;
  const events = new EventSource("/events");
  for (const name of ["change", "tick"]) events.addEventListener(name, refreshSoon);
  events.addEventListener("end", () => { events.close(); location.reload(); });
  events.addEventListener("open", () => { clearInterval(timer); timer = 0; });
  events.addEventListener("error", () => { if (!timer) timer = setInterval(refreshSoon, kWithoutEvents); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && wanted) refreshSoon(); });
})();
