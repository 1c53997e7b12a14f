// Filters the board by what competitors have in common.
const filters = document.querySelector(".filters");
if (filters) {
  const rows = [...document.querySelectorAll("#board tbody tr")];
  const heads = [...document.querySelectorAll("#board thead tr > *")];
  const selects = [...filters.querySelectorAll("select")].map((select) => {
    return { select, column: heads.findIndex((head) => head.dataset.fact === select.dataset.fact) };
  });
  filters.hidden = false;
  filters.addEventListener("input", () => {
    const chosen = selects.filter(({ select }) => select.value);
    let shown = 0;
    for (const row of rows) {
      const fits = chosen.every(({ select, column }) => row.cells[column].textContent === select.value);
      row.classList.toggle("filtered", !fits);
      shown += fits;
    }
    filters.querySelector("[role=status]").textContent = chosen.length ? `${shown} of ${rows.length}` : "";
  });
}
