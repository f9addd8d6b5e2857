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

  // Small multiples: as many columns as there is room for; the axes of all are labelled once, at the edges.
  const axis = (letter, number) => `${letter}axis${number ? number + 1 : ""}`;
  const columnsIn = (grid, width) => {
    const room = width - grid.margins[0] + grid.gaps[0];
    return Math.max(1, Math.min(grid.panels, Math.floor(room / (grid.least + grid.gaps[0]))));
  };
  const arranged = (key, width) => {
    const layout = charts[key].layout;
    const grid = layout.meta;
    const columns = columnsIn(grid, width);
    const rows = Math.ceil(grid.panels / columns);
    const inner = [width - grid.margins[0], rows * grid.panel + (rows - 1) * grid.gaps[1]];
    const panel = (inner[0] - (columns - 1) * grid.gaps[0]) / columns;
    const [entries, widest] = grid.legend;
    const legend = entries && 10 + 20 * Math.ceil(entries / Math.max(1, Math.floor((width - 16) / widest)));
    const found = { "margin.t": grid.margins[1] + legend };
    found.height = inner[1] + found["margin.t"] + grid.margins[2];
    for (let number = 0; number < grid.panels; number += 1) {
      const column = number % columns, row = Math.floor(number / columns);
      const left = column * (panel + grid.gaps[0]);
      const bottom = (rows - 1 - row) * (grid.panel + grid.gaps[1]);
      const x = axis("x", number), y = axis("y", number);
      found[`${x}.domain`] = [left / inner[0], Math.min(1, (left + panel) / inner[0])];
      found[`${y}.domain`] = [bottom / inner[1], Math.min(1, (bottom + grid.panel) / inner[1])];
      const isEdge = { [x]: grid.shared === "y" || number + columns >= grid.panels, [y]: grid.shared === "x" || !column };
      Object.entries(isEdge).forEach(([name, isShown]) => {
        found[`${name}.showticklabels`] = isShown;
        found[`${name}.title.text`] = (isShown && layout[name].title?.text) || "";
      });
    }
    place(key).dataset.columns = columns;
    place(key).style.minHeight = `${found.height}px`;
    return found;
  };
  const isGrid = (key) => charts[key].layout.meta !== undefined;
  const laidOut = (key) => {
    const layout = { ...charts[key].layout, dragmode: touch ? false : "zoom" };
    if (!isGrid(key)) return layout;
    Object.entries(arranged(key, place(key).clientWidth)).forEach(([name, value]) => {
      const [first, second, third] = name.split(".");
      if (second === undefined) layout[first] = value;
      else if (third === undefined) layout[first] = { ...layout[first], [second]: value };
      else layout[first] = { ...layout[first], [second]: { ...layout[first][second], [third]: value } };
    });
    return layout;
  };
  const sized = (key, width) => ({ width, ...(isGrid(key) ? arranged(key, width ?? place(key).clientWidth) : {}) });

  const waiting = Object.entries(charts);
  const drawNext = () => { // one at a time, so that the page shows and scrolls meanwhile
    const [key, figure] = waiting.shift() ?? [];
    if (key === undefined) {
      root.dataset.drawn = "yes";
      return;
    }
    Plotly.newPlot(place(key), figure.data, laidOut(key), config)
      .then(() => setTimeout(drawNext));
  };
  setTimeout(drawNext);

  let resized = 0;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => {
      if (root.dataset.drawn !== "yes") return;
      Object.keys(charts).filter(isGrid).forEach((key) => {
        const { columns } = place(key).dataset;
        if (Number(columns) !== columnsIn(charts[key].layout.meta, place(key).clientWidth)) {
          Plotly.relayout(place(key), arranged(key, place(key).clientWidth));
        }
      });
    }, 200);
  });

  const PAPER_PX = 660;
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((details) => { details.open = true; });
    Object.keys(charts).forEach((key) => Plotly.relayout(place(key), sized(key, PAPER_PX)));
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => { details.open = false; });
    Object.keys(charts).forEach((key) => Plotly.relayout(place(key), { ...sized(key, null), autosize: true }));
  });
})();
