// The front end of the digit pad in 03-digits.ipynb, an anywidget: a square to draw in, the 8 x 8 pixels that the
// network reads, and a bar for the probability of each digit.
//
// The model has three traits. `strokes`, which this file writes and Python reads: a list of strokes, each a list of
// x0, y0, x1, y1, ... from 0 to 1. `pixels` (64 numbers from 0 to 1) and `probabilities` (10 numbers), which Python
// writes.

const SVG = "http://www.w3.org/2000/svg";
const CELLS = 8;
const NEAR = 0.01; // points closer than this to the last one are left out

// Colors are the notebook's, so that the pad is readable in light and in dark themes.
const STYLE = `
.digit-pad { display: flex; flex-wrap: wrap; gap: 1.25rem; align-items: flex-start; font: inherit; padding: 0.25rem }
.digit-pad svg { border: 1px solid; border-radius: 4px; color: inherit; box-sizing: border-box }
.digit-pad .paper { width: 224px; height: 224px; touch-action: none; cursor: crosshair }
.digit-pad .paper:focus-visible, .digit-pad button:focus-visible { outline: 2px solid; outline-offset: 2px }
.digit-pad .seen { width: 96px; height: 96px; display: block; margin-bottom: 0.75rem }
.digit-pad button { font: inherit; color: inherit; background: none; border: 1px solid; border-radius: 4px;
  padding: 0.2rem 0.8rem; cursor: pointer }
.digit-pad ol { list-style: none; margin: 0; padding: 0; display: grid; gap: 4px }
.digit-pad li { display: grid; grid-template-columns: 1.2em 160px; align-items: center; line-height: 1.1 }
.digit-pad .bar { height: 10px; background: currentColor; opacity: 0.55; border-radius: 2px; min-width: 1px }
.digit-pad .best { font-weight: bold }
.digit-pad .best .bar { opacity: 1 }
.digit-pad output { display: block; flex-basis: 100%; min-height: 1.4em }
`;

function element(name, attributes = {}, children = []) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function line(stroke) {
  const points = stroke.length === 2 ? [...stroke, ...stroke] : stroke; // a dot is a line of no length
  return shape("polyline", {
    points: points.join(" "),
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 0.06,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });
}

function render({ model, el }) {
  const paper = shape("svg", {
    class: "paper",
    viewBox: "0 0 1 1",
    role: "img",
    tabindex: 0,
    "aria-label": "Paper: draw a digit with the mouse, a pen or a finger. Escape clears it.",
  });
  const seen = shape("svg", {
    class: "seen",
    viewBox: `0 0 ${CELLS} ${CELLS}`,
    role: "img",
    "aria-label": "The 8 by 8 pixels that the network reads",
    "shape-rendering": "crispEdges",
  });
  const cells = Array.from({ length: CELLS * CELLS }, (_, index) =>
    shape("rect", {
      x: index % CELLS,
      y: Math.floor(index / CELLS),
      width: 1,
      height: 1,
      fill: "currentColor",
      "fill-opacity": 0,
    }),
  );
  seen.append(...cells);
  const clear = element("button", { type: "button" }, ["Clear"]);
  const bars = Array.from({ length: 10 }, () => element("div", { class: "bar" }));
  const rows = bars.map((bar, digit) => element("li", {}, [element("span", {}, [String(digit)]), bar]));
  const answer = element("output", { "aria-live": "polite" });
  el.append(
    element("style", {}, [STYLE]),
    element("div", { class: "digit-pad" }, [
      answer,
      paper,
      element("div", {}, [seen, clear]),
      element("ol", { "aria-hidden": "true" }, rows),
    ]),
  );

  let strokes = [];
  let isDrawing = false;
  let frame = 0;

  function draw() {
    paper.replaceChildren(...strokes.map(line));
  }

  // At most one message a frame. Python classifies the digit while it is drawn, and is not sent every mouse move.
  function send() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      model.set("strokes", strokes.map((stroke) => [...stroke]));
      model.save_changes();
    });
  }

  function add(event, stroke) {
    const box = paper.getBoundingClientRect();
    const inside = (value) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;
    const x = inside((event.clientX - box.left) / box.width);
    const y = inside((event.clientY - box.top) / box.height);
    const [lastX, lastY] = stroke.slice(-2);
    if (stroke.length && Math.hypot(x - lastX, y - lastY) < NEAR) return;
    stroke.push(x, y);
    draw();
    send();
  }

  function erase() {
    strokes = [];
    draw();
    send();
  }

  function begin(event) {
    if (event.button) return;
    event.preventDefault();
    paper.setPointerCapture(event.pointerId);
    isDrawing = true;
    strokes = [...strokes, []];
    add(event, strokes.at(-1));
  }

  function go(event) {
    if (isDrawing) add(event, strokes.at(-1));
  }

  function end() {
    isDrawing = false;
  }

  function showStrokes() {
    if (isDrawing) return;
    strokes = model.get("strokes").map((stroke) => [...stroke]);
    draw();
  }

  function showPixels() {
    model.get("pixels").forEach((ink, index) => cells[index].setAttribute("fill-opacity", ink));
  }

  function showProbabilities() {
    const probabilities = model.get("probabilities");
    const isEmpty = !probabilities.some((each) => each > 0);
    const best = isEmpty ? -1 : probabilities.indexOf(Math.max(...probabilities));
    rows.forEach((row, digit) => {
      row.classList.toggle("best", digit === best);
      bars[digit].style.width = `${probabilities[digit] * 100}%`;
    });
    answer.textContent = isEmpty
      ? "Draw a digit."
      : `This is a ${best}, with probability ${(probabilities[best] * 100).toFixed(0)}%.`;
  }

  paper.addEventListener("pointerdown", begin);
  paper.addEventListener("pointermove", go);
  paper.addEventListener("pointerup", end);
  paper.addEventListener("pointercancel", end);
  paper.addEventListener("keydown", (event) => {
    if (event.key === "Escape") erase();
  });
  clear.addEventListener("click", erase);
  const shown = { strokes: showStrokes, pixels: showPixels, probabilities: showProbabilities };
  for (const [trait, show] of Object.entries(shown)) {
    model.on(`change:${trait}`, show);
    show();
  }
  return () => {
    cancelAnimationFrame(frame);
    for (const [trait, show] of Object.entries(shown)) model.off(`change:${trait}`, show);
  };
}

export default { render };
