// Returns what a page has against it for people with a keyboard, a screen reader or weak eyes, as a list of sentences.
(() => {
  const found = [];
  const show = (element) => element.outerHTML.slice(0, 120);
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title) found.push("the page has no title");
  for (const landmark of ["main", "header", "footer"]) {
    if (all(landmark).length !== 1) found.push(`expected one ${landmark}, got ${all(landmark).length}`);
  }
  if (all("h1").length !== 1) found.push(`expected one h1, got ${all("h1").length}`);
  let level = 0;
  for (const heading of all("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) found.push(`the heading '${heading.textContent}' of level ${next} follows one of level ${level}`);
    level = next;
  }

  const ids = all("[id]").map((element) => element.id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) found.push(`two elements have the id ${id}`);
  for (const element of all("[aria-labelledby], [aria-describedby]")) {
    const id = element.getAttribute("aria-labelledby") || element.getAttribute("aria-describedby");
    if (!document.getElementById(id)) found.push(`nothing has the id ${id}, which ${show(element)} refers to`);
  }

  for (const input of all("input:not([type=hidden]), select, textarea")) {
    if (input.labels.length === 0 && !input.ariaLabel) found.push(`no label: ${show(input)}`);
  }
  for (const control of all("a[href], button, summary")) {
    if (!(control.textContent.trim() || control.ariaLabel)) found.push(`no name: ${show(control)}`);
    // A person who speaks to the computer says what is visible.
    const isNamedOtherwise = control.ariaLabel && !control.ariaLabel.toLowerCase().includes(control.textContent.trim().toLowerCase());
    if (isNamedOtherwise) found.push(`the name does not contain the visible text: ${show(control)}`);
  }
  for (const table of all("table")) {
    if (!table.caption) found.push(`no caption: ${show(table)}`);
    for (const cell of table.querySelectorAll("th")) if (!cell.scope) found.push(`no scope: ${show(cell)}`);
    for (const row of table.tBodies[0].rows) {
      if (!row.querySelector("th[scope=row]")) found.push(`a row without head: ${show(row)}`);
      if (row.cells.length !== table.tHead.rows[0].cells.length) found.push(`a row of another length: ${show(row)}`);
    }
  }
  for (const image of all("svg")) {
    if (image.getAttribute("role") !== "img" || !image.querySelector("title")) found.push(`no text: ${show(image)}`);
  }
  for (const scrolling of all("*").filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "auto")) {
    if (scrolling.tabIndex < 0) found.push(`not reachable with the keyboard, but it scrolls: ${show(scrolling)}`);
  }

  // Contrast as WCAG 2.1 defines it.
  const channels = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((c) => {
      const s = c / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      const parts = channels(color);
      if (parts.length === 3 || parts[3] > 0) return color;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
  };
  let texts = 0;
  for (const element of all("body *")) {
    const hasText = Array.from(element.childNodes).some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!hasText || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const one = luminance(element instanceof SVGElement ? style.fill : style.color), other = luminance(background(element));
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24;
    ++texts;
    if (!(contrast >= (isLarge ? 3 : 4.5))) found.push(`contrast ${contrast.toFixed(2)}: ${show(element)}`);
  }
  if (texts < 3) found.push(`expected texts whose contrast can be checked, got ${texts}`);
  return found;
})()
