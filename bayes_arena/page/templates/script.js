"use strict";
// Sorts tables by their columns and searches the first one. Without it the page says the same.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const order = [...body.rows];
  const key = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim();
    const number = parseFloat(text.replaceAll(",", "").replace("−", "-"));
    return { text, number, missing: text === "–" || text === "" };
  };
  heads.forEach((head, column) => {
    if (head.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("num");
      const was = head.getAttribute("aria-sort");
      const down = was ? was === "ascending" : numeric && !head.classList.contains("rank");
      const keys = new Map(order.map((row) => [row, key(row, column)]));
      const sorted = [...order].sort((one, two) => {
        const a = keys.get(one), b = keys.get(two);
        if (a.missing || b.missing) return a.missing - b.missing;
        const way = numeric ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true });
        return down ? -way : way;
      });
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sorted);
    });
  });
}
const search = document.querySelector(".search");
if (search) {
  const rows = [...document.querySelectorAll("#board tbody tr")];
  const input = search.querySelector("input"), status = search.querySelector("[role=status]");
  search.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.cells[1].textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    status.textContent = wanted ? `${shown} of ${rows.length}` : "";
  });
}
