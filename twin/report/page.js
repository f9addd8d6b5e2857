(() => {
  "use strict";
  const root = document.documentElement;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const touch = matchMedia("(pointer: coarse)").matches; // there a drag scrolls the page
  // named one by one: nothing on this page may send data away, whatever buttons plotly grows
  const buttons = ["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"];
  const config = { responsive: true, displaylogo: false, modeBarButtons: [buttons], plotlyServerURL: "" };
  const place = (key) => document.getElementById(`chart-${key}`);

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  name();

  const waiting = Object.entries(charts);
  const drawNext = () => { // one at a time, so that the page shows and scrolls meanwhile
    const [key, figure] = waiting.shift() ?? [];
    if (key === undefined) {
      root.dataset.drawn = "yes";
      return;
    }
    Plotly.newPlot(place(key), figure.data, { ...figure.layout, dragmode: touch ? false : "zoom" }, config)
      .then(() => setTimeout(drawNext));
  };
  setTimeout(drawNext);

  const PAPER_PX = 660;
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((details) => { details.open = true; });
    Object.keys(charts).forEach((key) => Plotly.relayout(place(key), { width: PAPER_PX }));
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => { details.open = false; });
    Object.keys(charts).forEach((key) => Plotly.relayout(place(key), { width: null, autosize: true }));
  });
})();
