// The charts follow four boxes. Their data are the tables in the page, which are also what can be downloaded.
const byId = (id) => document.getElementById(id);
const table = (name) => byId(`table-${name}`).textContent.trimStart();
const charts = JSON.parse(byId("charts").textContent);
const words = JSON.parse(byId("words").textContent);
const boxes = ["statistic", "layer", "head", "shown"].map(byId);

const draw = async (place) => {
  const chart = charts[place.dataset.chart];
  const data = chart.data.find((each) => each.name === place.dataset.table);
  Object.assign(data, { values: table(place.dataset.table), format: { type: "csv", parse: "auto" } });
  return (await vegaEmbed(place, chart, { mode: "vega", renderer: "svg", actions: false, defaultStyle: false })).view;
};
const views = await Promise.all([...document.querySelectorAll("[data-chart]")].map(draw));

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
