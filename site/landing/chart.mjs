// The bar chart of one workload: a bar for the rate of each contestant, so longer bars are faster. Drawn as SVG at the
// width of its container, so that text keeps its size; in narrow containers, the text of a bar is above the bar.
import { CONTESTANTS, contestants, digits, label, rate, ratio, times } from "./results.mjs";

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 460; // pixels
const BAR = 12; // pixels, the height of a bar
const RATIO = 62; // pixels, the width of the ratios
const WIDE = { row: 30, names: 116, values: 140, middle: 15 };
const SMALL = { row: 42, names: 0, values: 0, middle: 32 };

function element(name, parent, attributes = {}) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
        made.setAttribute(key, value);
    }
    parent.append(made);
    return made;
}

export class Chart {
    constructor(work, parent) {
        this.work = work;
        this.figure = document.createElement("figure");
        this.figure.dataset.work = work.name;
        const caption = document.createElement("figcaption");
        const title = document.createElement("strong");
        title.textContent = work.title;
        const unit = document.createElement("span");
        unit.textContent = work.unit;
        caption.append(title, unit);
        this.svg = document.createElementNS(SVG, "svg");
        this.svg.setAttribute("role", "img");
        this.note = document.createElement("p");
        this.figure.append(caption, this.svg, this.note);
        parent.append(this.figure);
        this.rule = element("line", this.svg, { class: "rule" });
        this.rows = Object.fromEntries(CONTESTANTS.map((contestant) => [contestant, this.addRow(contestant)]));
    }

    addRow(contestant) {
        const group = element("g", this.svg, { class: `row ${contestant}` });
        return {
            group,
            track: element("rect", group, { class: "track", height: 1 }),
            bar: element("rect", group, { class: "bar", height: BAR, rx: 2 }),
            name: element("text", group, { class: "name" }),
            value: element("text", group, { class: "value", "text-anchor": "end" }),
            ratio: element("text", group, { class: "ratio", "text-anchor": "end" }),
        };
    }

    /** Shows a report. `measuring` is the contestant that is measured now. */
    draw(report, measuring) {
        const width = Math.floor(this.svg.clientWidth || this.figure.clientWidth);
        const layout = width < NARROW ? SMALL : WIDE;
        const outcomes = report?.results[this.work.name] ?? {};
        const shown = contestants(this.work, report);
        const rates = shown.map((each) => (outcomes[each]?.nanoseconds ? rate(this.work, outcomes[each]) : 0));
        const fastest = Math.max(...rates);
        const room = width - layout.names - layout.values;
        const height = layout.row * shown.length;
        this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        this.svg.setAttribute("height", height);
        const length = (value) => (value > 0 ? Math.max(2, (room * value) / fastest) : 0);
        const groups = shown.map((each) => this.rows[each].group);
        if (this.svg.childElementCount !== 1 + groups.length) {
            this.svg.replaceChildren(this.rule, ...groups);
        }
        shown.forEach((contestant, i) => {
            const state = this.text(report, outcomes[contestant], contestant, measuring);
            this.place(this.rows[contestant], layout, width, i * layout.row, length(rates[i]), state);
        });
        this.rule.toggleAttribute("hidden", !rates[0] || layout === SMALL);
        const x = Math.round(layout.names + length(rates[0])) + 0.5;
        Object.entries({ x1: x, x2: x, y1: 4, y2: height - 4 }).forEach((each) => this.rule.setAttribute(...each));
        this.svg.setAttribute("aria-label", this.summary(report, outcomes));
        this.note.textContent = this.verdict(report, outcomes);
        this.figure.classList.toggle("differs", this.disagreeing(outcomes).length > 0);
    }

    text(report, outcome, contestant, measuring) {
        const name = label(contestant, report);
        const software = contestant === "wgpu" && Boolean(report?.adapter?.software);
        if (outcome?.nanoseconds) {
            const factor = contestant === "numpy" ? undefined : ratio(report.results[this.work.name], contestant);
            const value = digits(rate(this.work, outcome));
            return { name, software, kind: "measured", value, ratio: factor ? times(factor) : "" };
        }
        if (outcome?.failure) {
            return { name, software, kind: "absent", value: "failed", ratio: "" };
        }
        if (report?.missing[contestant]) {
            return { name, software, kind: "absent", value: "not available", ratio: "" };
        }
        return { name, software, kind: "pending", value: contestant === measuring ? "measuring…" : "", ratio: "" };
    }

    place(row, layout, width, top, length, state) {
        const baseline = layout === SMALL ? top + 20 : top + layout.middle + 4.5;
        const middle = top + layout.middle;
        const set = (node, attributes) => {
            Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
        };
        row.group.dataset.state = state.kind;
        row.group.classList.toggle("software", state.software);
        set(row.track, { x: layout.names, y: middle - 0.5, width: width - layout.names - layout.values });
        set(row.bar, { x: layout.names, y: middle - BAR / 2 });
        row.bar.style.width = `${length.toFixed(1)}px`;
        set(row.name, { x: 0, y: baseline });
        // words, such as "not available", also take up the column of the ratio
        set(row.value, { x: state.kind === "measured" ? width - RATIO : width, y: baseline });
        set(row.ratio, { x: width, y: baseline });
        row.name.textContent = state.name;
        row.value.textContent = state.value;
        row.ratio.textContent = state.ratio;
    }

    disagreeing(outcomes) {
        return CONTESTANTS.filter((each) => outcomes[each]?.agrees === false);
    }

    verdict(report, outcomes) {
        const names = (list) => list.map((each) => label(each, report)).join(", ");
        const differing = this.disagreeing(outcomes);
        if (differing.length > 0) {
            return `The answers of ${names(differing)} differ from NumPy’s by more than the tolerance.`;
        }
        const failed = CONTESTANTS.filter((each) => outcomes[each]?.failure);
        if (failed.length > 0) {
            return `${names(failed.slice(0, 1))} failed: ${outcomes[failed[0]].failure}`;
        }
        const judged = CONTESTANTS.filter((each) => outcomes[each]?.agrees);
        if (judged.length === 0) {
            return "";
        }
        return this.work.name === "digits"
            ? "Every backend reads all 540 digits as NumPy does."
            : "The answers agree with NumPy’s in float64.";
    }

    summary(report, outcomes) {
        const said = contestants(this.work, report).map((each) => {
            const { name, kind, value, ratio } = this.text(report, outcomes[each], each);
            if (kind === "measured") {
                return `${name} ${value} ${this.work.unit}${ratio ? `, ${ratio} NumPy` : ""}`;
            }
            return kind === "pending" ? "" : `${name} ${value}`;
        }).filter(Boolean);
        return `${this.work.title}: ${said.join("; ") || "not measured yet"}`;
    }
}
