"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const config = { responsive: true, displaylogo: false, displayModeBar: false };
const plain = {
  margin: { l: 52, r: 10, t: 24, b: 36 }, font: { family: "system-ui, sans-serif", size: 11, color: "#1a1a1a" },
  paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: "closest",
};
const axis = { gridcolor: "#e8e8e8", zerolinecolor: "#bbb", automargin: true };
function draw(id, figure) {
  const layout = Object.assign({}, plain, figure.layout);
  layout.xaxis = Object.assign({}, axis, layout.xaxis);
  layout.yaxis = Object.assign({}, axis, layout.yaxis);
  Plotly.react(id, figure.data, layout, config);
}
for (const [id, figure] of Object.entries(data.figures)) draw(id, figure);

const torques = data.torques;
const quantities = [["q", 1], ["qd", 1], ["qdd", 1], ["tau", torques.length]];
function history(activity) {
  const curves = data.histories[activity];
  curves.joints.forEach((joint, j) => {
    let next = 0;
    quantities.forEach(([name, count], k) => {
      const lines = [];
      for (let i = 0; i < count; i++, next++) {
        const [label, color] = count === 1 ? ["", "#0072b2"] : torques[i];
        lines.push({ type: "scatter", mode: "lines", name: label, x: curves.t, y: joint[next], line: { color, width: 1.4 } });
      }
      const title = data.units[j][k];
      draw(`history-${j}-${name}`, {
        data: lines,
        layout: { height: 170, showlegend: false, margin: { l: 44, r: 6, t: 6, b: 30 }, yaxis: { title: { text: title, standoff: 4 } }, xaxis: { title: { text: "s", standoff: 2 } } },
      });
    });
  });
}
const choose = document.getElementById("activity");
if (choose) {
  choose.addEventListener("change", () => history(choose.value));
  history(choose.value);
}
document.documentElement.dataset.ready = "yes";
