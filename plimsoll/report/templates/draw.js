"use strict";
// Draws each chart when it comes into view, the others while the browser idles, so that a page of
// hours opens at once; draws all again when the reader's light or dark changes.
(() => {
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const places = [...document.querySelectorAll(".chart")];
  const drawn = new Set();
  const folded = (place) => place.closest("details:not([open])") !== null;

  // The library lies in the page gzipped; the page's policy knows its hash, and lets it run.
  // Pages of a server have loaded it as a script of its own.
  const library = window.vegaEmbed ? Promise.resolve() : (async () => {
    const packed = atob(document.getElementById("library").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  })();

  // As many columns as the longest name leaves room for: what does not fit would be cut off.
  const columnsOf = (chart, width) => {
    const domains = JSON.stringify(chart).match(/"domain":\["[^\]]*\]/g) ?? [];
    const names = domains.flatMap((text) => JSON.parse(`{${text}}`).domain);
    const longest = Math.max(0, ...names.map((name) => String(name).length));
    return Math.max(1, Math.floor((width - 80) / (7 * longest + 28)));
  };

  const draw = async (place) => {
    drawn.add(place);
    await library;
    const name = place.id.slice("chart-".length);
    const theme = dark.matches ? drawings.dark : drawings.light;
    const chart = drawings.charts[name];
    const legend = { ...theme.legend, columns: columnsOf(chart, place.clientWidth) };
    await window.vegaEmbed(place, chart, {
      config: { ...theme, legend },
      renderer: "svg",
      // Interpret expressions instead of compiling them: the page may not evaluate code.
      ast: true,
      downloadFileName: name,
      actions: { export: true, source: false, compiled: false, editor: false },
      ...drawings.options,
    });
    place.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
    place.dataset.drawn = "";
  };

  // On a telephone each row is a card, on which every figure follows its column's head.
  for (const table of document.querySelectorAll("table.cards")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, place) => { cell.dataset.label = heads[place]; });
    }
  }

  const ensure = (place) => (drawn.has(place) ? undefined : draw(place));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) ensure(entry.target);
  }, { rootMargin: "300px" });
  places.forEach((place) => seen.observe(place));

  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  const drawRest = async () => {
    const next = places.find((place) => !drawn.has(place) && !folded(place));
    if (!next) return;
    await draw(next);
    idle(drawRest);
  };
  window.addEventListener("load", () => idle(drawRest));
  dark.addEventListener("change", () => [...drawn].forEach(draw));

  // A link to something folded opens it.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) {
      each.open = true;
    }
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
