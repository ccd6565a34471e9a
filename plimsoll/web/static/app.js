"use strict";
// What every page does: rows as cards on a telephone, buttons that post, forms that need ticks.
(() => {
  // Sends JSON; gives JSON, or throws its mistake.
  const post = async (address, sent = {}, options = {}) => {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
      ...options,
    });
    const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
    if (answer.ok && isJson) return answer.json();
    const mistakes = isJson ? (await answer.json()).mistakes : null;
    throw Object.assign(new Error("refused"), {
      mistakes: mistakes ?? [{ where: "", message: await answer.text(), remedy: "" }],
    });
  };
  window.plimsoll = { post };

  // On a telephone each row is a card, on which every figure follows its column's head.
  const label = (table) => {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const row of table.tBodies[0]?.rows ?? []) {
      [...row.cells].forEach((cell, place) => { cell.dataset.label = heads[place] ?? ""; });
    }
  };
  window.plimsoll.label = label;
  document.querySelectorAll("table.cards").forEach(label);

  const complain = (button, text) => {
    const place = button.parentElement;
    const old = place.querySelector(".complaint");
    const said = old ?? document.createElement("p");
    said.className = "complaint mark fail";
    said.setAttribute("role", "alert");
    said.textContent = text;
    if (!old) place.append(said);
  };

  for (const button of document.querySelectorAll("[data-post]")) {
    button.addEventListener("click", async () => {
      if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) return;
      const before = button.textContent;
      button.disabled = true;
      button.textContent = `${button.dataset.waits}…`;
      try {
        const { address } = await post(button.dataset.post);
        if (button.id !== "live-stop") location.assign(address);
      } catch (error) {
        button.disabled = false;
        button.textContent = before;
        const [first] = error.mistakes ?? [{ message: "The server does not answer.", remedy: "" }];
        complain(button, `${first.message} ${first.remedy}`);
      }
    });
  }

  // What is done with ticked runs needs so many ticks.
  const ticked = document.getElementById("runs-form");
  if (ticked) {
    const update = () => {
      const count = ticked.querySelectorAll('input[name="run"]:checked').length;
      for (const button of ticked.querySelectorAll("[data-needs]")) {
        button.disabled = count < Number(button.dataset.needs);
      }
    };
    ticked.addEventListener("change", update);
    window.addEventListener("pageshow", update);
    update();
  }
})();
