"use strict";
// The experiment's text with its form: each follows the other, and both are checked on the way.
(() => {
  const { post } = window.plimsoll;
  const { file } = document.querySelector(".editor").dataset;
  const text = document.getElementById("text");
  const numbers = document.getElementById("line-numbers");
  const fields = [...document.querySelectorAll("[data-path]")];
  const start = document.getElementById("start");
  const verdict = document.getElementById("verdict");
  const list = document.getElementById("mistakes");
  const plan = document.getElementById("plan");
  // A pause in typing; and one after which the machine is looked at as well.
  const PAUSE_MS = 300;
  const LONGER_MS = 900;
  let round = 0;
  let timers = [];
  let wrong = new Set();

  const element = (kind, content, className) => {
    const made = document.createElement(kind);
    if (className) made.className = className;
    made.textContent = content;
    return made;
  };

  const number = () => {
    const lines = text.value.split("\n").length;
    numbers.replaceChildren(...Array.from({ length: lines }, (_, place) =>
      element("span", `${place + 1}\n`, wrong.has(place + 1) ? "wrong" : "")));
    numbers.scrollTop = text.scrollTop;
  };
  text.addEventListener("scroll", () => { numbers.scrollTop = text.scrollTop; });

  const goTo = (line) => {
    const before = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const end = text.value.indexOf("\n", before);
    text.focus();
    text.setSelectionRange(before, end < 0 ? text.value.length : end);
    const height = text.scrollHeight / text.value.split("\n").length;
    text.scrollTop = Math.max(0, (line - 6) * height);
  };

  const showMistakes = (mistakes) => {
    list.replaceChildren(...mistakes.map((each) => {
      const item = document.createElement("li");
      if (each.line) {
        const link = element("button", each.where, "place");
        link.type = "button";
        link.addEventListener("click", () => goTo(each.line));
        item.append(link);
      } else if (each.where) {
        item.append(element("span", each.where, "place"));
      }
      item.append(element("span", each.message, "what"), element("span", each.remedy, "soft"));
      return item;
    }));
    wrong = new Set(mistakes.map((each) => each.line).filter(Boolean));
    number();
  };

  const showPlan = (planned) => {
    plan.replaceChildren();
    if (!planned) return;
    const facts = document.createElement("dl");
    facts.className = "pairs";
    for (const [name, value] of planned.facts) {
      facts.append(element("dt", name), element("dd", value));
    }
    for (const phase of planned.phases) {
      facts.append(element("dt", phase.name), element("dd", `${phase.trials} trials: ${phase.about}`));
    }
    plan.append(facts, ...planned.notes.map((note) => element("p", note, "caption")));
  };

  const showFields = (values) => {
    for (const field of fields) {
      if (field === document.activeElement) continue;
      field.value = values[field.dataset.path] ?? "";
    }
  };

  const check = async (deep) => {
    const mine = ++round;
    try {
      const found = await post("/experiments/check", { file, text: text.value, plan: deep });
      if (mine !== round) return;
      showFields(found.values);
      showMistakes(found.mistakes);
      start.disabled = found.mistakes.length > 0;
      const count = found.mistakes.length;
      verdict.className = count ? "mark fail" : deep ? "mark pass" : "mark none";
      verdict.textContent = count ? `${count} ${count === 1 ? "mistake" : "mistakes"}`
        : deep ? "Ready to run" : "No mistake in the text; looking at this machine…";
      showPlan(found.plan);
      if (!count && !deep) timers.push(setTimeout(() => check(true), LONGER_MS - PAUSE_MS));
    } catch (error) {
      if (mine !== round) return;
      verdict.className = "mark fail";
      verdict.textContent = "It cannot be checked";
      showMistakes(error.mistakes ?? [{ where: "", message: "The server does not answer.", remedy: "" }]);
    }
  };
  const later = (wait) => {
    timers.forEach(clearTimeout);
    timers = [setTimeout(() => check(false), wait)];
  };

  text.addEventListener("input", () => { number(); later(PAUSE_MS); });
  // Tab leaves the text, as on every page: YAML is indented with blanks.
  for (const field of fields) {
    field.addEventListener("change", async () => {
      try {
        const sent = { file, text: text.value, path: field.dataset.path, value: field.value };
        const { text: changed } = await post("/experiments/change", sent);
        text.value = changed;
        number();
        later(0);
      } catch (error) {
        showMistakes(error.mistakes ?? []);
      }
    });
  }

  document.getElementById("fields").addEventListener("submit", async (event) => {
    event.preventDefault();
    timers.forEach(clearTimeout);
    start.disabled = true;
    start.textContent = "Starting…";
    try {
      const sent = { file, text: text.value, tags: document.getElementById("tags").value };
      const { address } = await post("/experiments/start", sent);
      location.assign(address);
    } catch (error) {
      start.disabled = false;
      start.textContent = "Start the run";
      verdict.className = "mark fail";
      verdict.textContent = "It was not started";
      showMistakes(error.mistakes ?? [{ where: "", message: "The server does not answer.", remedy: "" }]);
    }
  });

  number();
  check(false);
})();
