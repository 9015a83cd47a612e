(() => {
  "use strict";
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => document.querySelectorAll("section > details").forEach((d) => { d.open = true; }));
  document.querySelectorAll("table[data-heat]").forEach((table) => {
    const body = table.tBodies[0];
    const readout = table.closest("section").querySelectorAll("[data-readout]")[
      [...document.querySelectorAll("table[data-heat]")].indexOf(table)];
    const name = (row) => body.rows[row].cells[0].textContent;
    const say = (cell) => {
      if (!cell || !cell.dataset.s) return;
      const row = cell.parentElement.sectionRowIndex, column = cell.cellIndex - 2;
      readout.textContent = row === column ? name(row)
        : `${name(row)} and ${name(column)}: ${cell.dataset.s} of labels differ`;
    };
    table.tabIndex = 0;
    let at = [0, 0];
    const mark = () => {
      table.querySelectorAll(".at").forEach((cell) => cell.classList.remove("at"));
      const cell = body.rows[at[0]].cells[at[1] + 2];
      cell.classList.add("at");
      say(cell);
    };
    table.addEventListener("pointerover", (event) => say(event.target.closest("td")));
    table.addEventListener("focus", mark);
    table.addEventListener("blur", () => table.querySelectorAll(".at").forEach((cell) => cell.classList.remove("at")));
    table.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      at = at.map((value, axis) => Math.min(Math.max(value + step[axis], 0), body.rows.length - 1));
      mark();
    });
  });
})();
