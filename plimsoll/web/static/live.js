"use strict";
// A run as it goes on: takes what the server sends, and counts the seconds in between.
(() => {
  const place = document.querySelector(".live");
  const at = (id) => document.getElementById(`live-${id}`);
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const QUANTILES = ["p50", "p99", "p99.9", "max"];
  // A trial that is silent for longer than its first intervals take.
  const SILENT_S = 4;
  let run = null;
  let points = [];
  let period = "";
  // By how much this browser's clock is ahead of the server's.
  let ahead_ms = 0;
  let announced = 0;

  const seconds = (s) => {
    const whole = Math.max(0, Math.round(s));
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
    return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  };
  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  // --- charts: the report's library, with data that grows
  const rows = {
    "live-rate": () => points.flatMap((p) => [
      { at: p.at, series: "sent", value: p.sent },
      { at: p.at, series: "received", value: p.received },
    ]).filter((row) => row.value !== null),
    "live-latency": () => points.flatMap((p) => QUANTILES
      .filter((name) => p.latency[name] > 0)
      .map((name) => ({ at: p.at, series: name, value: p.latency[name] }))),
    "live-losses": () => points.filter((p) => p.lost !== null)
      .map((p) => ({ at: p.at, series: "lost", value: Math.max(0, p.lost) })),
  };
  // By name: the view that is drawn, or null while it is being drawn.
  const views = new Map();
  const placeOf = (name) => document.getElementById(`chart-${name}`);
  const draw = async (name) => {
    views.set(name, null);
    const theme = dark.matches ? drawings.dark : drawings.light;
    const chart = { ...drawings.charts[name], datasets: { points: rows[name]() } };
    const drawn = await window.vegaEmbed(placeOf(name), chart, {
      ...drawings.options, config: theme, renderer: "svg", ast: true, actions: false,
    });
    views.set(name, drawn.view);
    placeOf(name).dataset.drawn = "";
    fill(name);
  };
  const fill = (name) => {
    const data = rows[name]();
    const view = views.get(name);
    if (!data.length) {
      // A trial of which nothing is known yet; its chart keeps its place.
      if (view) {
        view.finalize();
        views.delete(name);
        placeOf(name).replaceChildren();
      }
    } else if (view) {
      const [begin, end] = span();
      view.signal("time_begin", begin);
      view.signal("time_end", end);
      view.data("points", data).runAsync();
    } else if (view === undefined) {
      draw(name);
    }
  };
  // The whole trial, or of a long one the time of the points that are kept.
  const span = () => {
    const most = run.most_points;
    const last = points.at(-1).at;
    const planned = run.trial?.planned_s ?? 0;
    if (points.length < most && planned <= most) return [0, Math.max(last, planned, 1)];
    const begin = points.length < most ? 0 : points[0].at;
    return [begin, Math.max(last, begin + most)];
  };
  const fillAll = () => Object.keys(rows).forEach(fill);

  // --- the trial's clock
  const tick = () => {
    if (!run || run.state !== "running") return;
    const now = Date.now() - ahead_ms;
    const trial = run.trial;
    const elapsed = trial ? (now - trial.begun_ms) / 1000 : 0;
    const planned = trial?.planned_s ?? 0;
    const progress = at("progress");
    progress.value = planned > 0 ? Math.min(1, elapsed / planned) : 0;
    const parts = [];
    if (trial && planned > 0) {
      const left = planned - elapsed;
      parts.push(left > 0 ? `trial: ${seconds(left)} left` : "trial: draining and judging");
    }
    if (run.begun_ms !== null) {
      const ran = (now - run.begun_ms) / 1000;
      parts.push(`running for ${seconds(ran)}`);
      if (run.most_s !== null) {
        parts.push(ran > run.most_s ? "longer than planned"
          : `the run: ${seconds(run.least_s - ran)} to ${seconds(run.most_s - ran)} left by plan`);
      }
    }
    setText(at("left"), parts.join(" · ") || "\u00a0");
    const silent = trial !== null && elapsed > SILENT_S && elapsed < planned &&
      period !== `trial-${String(trial.number).padStart(4, "0")}`;
    at("quiet").classList.toggle("on", silent);
  };

  // --- what the server sends
  const showTrial = () => {
    const trial = run.trial;
    if (run.state !== "running") return;
    setText(at("phase"), trial ? `Trial ${trial.number}, ${trial.phase}` : "Between trials");
    setText(at("load"), trial ? trial.load : "-");
  };
  const cell = (text, numeric, mark) => {
    const found = document.createElement("td");
    if (numeric) found.className = "n";
    if (!mark) { found.textContent = text; return found; }
    const span = document.createElement("span");
    span.className = `mark ${mark}`;
    span.textContent = text;
    found.append(span);
    return found;
  };
  const addTrial = (trial) => {
    const body = at("trials");
    body.querySelector(".empty")?.remove();
    const row = document.createElement("tr");
    row.append(
      cell(trial.trial, true), cell(trial.phase), cell(trial.load_pps, true),
      cell(trial.offered_pps, true), cell(trial.sending_s, true), cell(trial.loss_ratio, true),
      cell(trial.p99_ns, true), cell(trial.verdict, false, trial.verdict), cell(trial.reason),
    );
    row.lastChild.className = "w";
    body.prepend(row);
    // Of many at once, as when the page opens, the last is enough.
    announced = trial;
  };
  const ended = () => {
    setText(at("phase"), `The run is ${run.state}`);
    setText(at("load"), run.state === "finished" ? "See its report" : "Stopped; can be resumed");
    setText(at("left"), "\u00a0");
    at("quiet").classList.remove("on");
    at("progress").value = 1;
    const stop = at("stop");
    const link = document.createElement("a");
    link.className = "button primary";
    link.id = "live-report";
    link.href = location.pathname;
    link.textContent = run.state === "finished" ? "Open the report" : "What it has found";
    stop.replaceWith(link);
    setText(at("connection"), "ended");
    document.querySelectorAll(".run-title .state").forEach((each) => {
      each.className = `state ${run.state}`;
      each.textContent = run.state;
    });
  };

  const take = (event) => {
    const news = JSON.parse(event.data);
    ahead_ms = Date.now() - news.now_ms;
    run = news;
    if (news.period !== period) { points = []; period = news.period; }
    if (news.points.length) points = points.filter((each) => each.at < news.points[0].at);
    points = [...points, ...news.points].slice(-news.most_points);
    news.trials.forEach(addTrial);
    window.plimsoll.label(document.querySelector("table.trials"));
    for (const each of document.querySelectorAll("[data-verdict]")) {
      setText(each, String(news.verdicts[each.dataset.verdict] ?? 0));
    }
    for (const each of document.querySelectorAll("[data-figure]")) {
      setText(each, news.figures[each.dataset.figure]);
    }
    if (announced) {
      const verdict = announced.verdict === "none" ? "ended" : announced.verdict;
      setText(at("news"), `Trial ${announced.trial}, ${announced.phase}, ${announced.load_pps}: ${verdict}`);
      announced = 0;
    }
    showTrial();
    fillAll();
    tick();
    if (run.state !== "running") { source.close(); ended(); }
  };

  const source = new EventSource(place.dataset.events);
  source.addEventListener("open", () => {
    // After an interruption everything is sent anew.
    points = [];
    period = "";
    const body = at("trials");
    if (!body.querySelector(".empty")) body.replaceChildren();
    setText(at("connection"), "live");
  });
  source.addEventListener("state", take);
  source.addEventListener("damaged", (event) => {
    source.close();
    setText(at("connection"), JSON.parse(event.data).message);
  });
  source.addEventListener("error", () => {
    // Closed for good: by a server that was started anew, which does not know this browser.
    setText(at("connection"), source.readyState === EventSource.CLOSED
      ? "the server no longer knows this browser; reload the page" : "the server does not answer; trying again");
  });

  dark.addEventListener("change", () => [...views.keys()].forEach(draw));
  setInterval(tick, still.matches ? 5000 : 1000);
})();
