"use strict";
// Draws every chart in the reader's own light or dark, and again when that changes.
(() => {
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const draw = () => {
    for (const [name, chart] of Object.entries(drawings.charts)) {
      if (chart === null) continue;
      window.vegaEmbed(document.getElementById(`chart-${name}`), chart, {
        config: dark.matches ? drawings.dark : drawings.light,
        renderer: "svg",
        // Interpret expressions instead of compiling them: the page may not evaluate code.
        ast: true,
        downloadFileName: name,
        actions: { export: true, source: false, compiled: false, editor: false },
      });
    }
  };

  dark.addEventListener("change", draw);
  draw();
})();
