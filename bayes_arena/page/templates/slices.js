// Makes tabs of what else are parts that open: left and right arrows, Home and End choose one.
document.querySelectorAll(".tabs").forEach((group, number) => {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", group.dataset.label);
  const panels = [...group.querySelectorAll("details")].map((part, place) => {
    const panel = document.createElement("div"), tab = document.createElement("button");
    const [name, ...content] = part.children, heading = document.createElement("h4");
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.id = `tab-${number}-${place}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.textContent = heading.textContent = name.textContent;
    panel.append(heading, ...content);
    part.replaceWith(panel);
    list.append(tab);
    return panel;
  });
  const tabs = [...list.children];
  const choose = (chosen) => tabs.forEach((tab, place) => {
    const isChosen = place === chosen;
    tab.setAttribute("aria-selected", isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    panels[place].hidden = !isChosen;
  });
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(place));
    tab.addEventListener("keydown", (event) => {
      const n = tabs.length;
      const next = { ArrowRight: (place + 1) % n, ArrowLeft: (place + n - 1) % n, Home: 0, End: n - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(next);
      tabs[next].focus();
    });
  });
  group.prepend(list);
  choose(0);
});
