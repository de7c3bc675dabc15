// The charts follow four boxes. Their data are the tables in the page, which are also what can be downloaded.
const byId = (id) => document.getElementById(id);
const table = (name) => byId(`table-${name}`).textContent.trimStart();
const charts = JSON.parse(byId("charts").textContent);
const words = JSON.parse(byId("words").textContent);
const boxes = ["statistic", "layer", "head", "shown"].map(byId);

const views = [...document.querySelectorAll("[data-chart]")].map((place) => {
  const view = new vega.View(vega.parse(charts[place.dataset.chart]), { renderer: "svg", container: place });
  return view.data(place.dataset.table, vega.read(table(place.dataset.table), { type: "csv", parse: "auto" }));
});

function show() {
  for (const view of views) {
    for (const box of boxes) view.signal(box.id, box.id === "statistic" ? box.value : Number(box.value));
    view.runAsync();
  }
  const [layer, head] = [byId("layer").value, byId("head").value];
  byId("chosen").textContent = `Layer ${layer}, head ${head}`;
  for (const cell of document.querySelectorAll("[data-of]")) cell.textContent = words[`${layer}-${head}`][cell.dataset.of];
}

for (const box of boxes) box.addEventListener("change", show);
views[0].addEventListener("click", (event, item) => {
  if (item?.datum?.head === undefined) return;
  [byId("layer").value, byId("head").value] = [item.datum.layer, item.datum.head];
  show();
});
for (const link of document.querySelectorAll("[data-csv]")) {
  link.href = URL.createObjectURL(new Blob([table(link.dataset.csv)], { type: "text/csv" }));
}
show();
