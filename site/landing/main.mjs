// The landing page: starts and stops the benchmark's worker, and shows what it reports, or the result in a link.
import { Chart } from "./chart.mjs";
import {
    CONTESTANTS,
    WORKS,
    contestants,
    digits,
    duration,
    fromFragment,
    isResult,
    label,
    newReport,
    rate,
    ratio,
    times,
    toFragment,
} from "./results.mjs";

const SILENCE = 90_000; // milliseconds without a message, after which the worker counts as dead
const LOADING_SHARE = 0.25; // of the progress bar, for the steps before the measurement
const $ = (id) => document.getElementById(id);
const STEPS = {
    python: "Loading Python.",
    numpy: "Loading NumPy.",
    lanewise: "Loading Lanewise.",
    detect: "Looking for SIMD and WebGPU.",
    measure: "Measuring.",
};
const ADVICE = {
    failed: "Check the connection and try again. If it fails again, reload the page, or use a current browser.",
    dead: "The browser may have ended it to save memory. Close other tabs and try again.",
    left: "Stay on the page while it measures, and try again.",
    stopped: "The results so far are shown below, and the page’s address holds them.",
    early: "Nothing had been measured yet.",
};
const WHAT_TO_DO = {
    simd128: "Current releases of Chromium, Firefox and Safari have SIMD, on x86 if the processor has SSE4.1.",
    relaxed_simd: "SIMD128 is used in its place. Current releases of Chromium and Firefox have relaxed SIMD.",
    wgpu:
        "Use a current Chromium, Edge, Firefox or Safari on a machine with a GPU. In Chromium on Linux, it may have " +
        "to be turned on at chrome://flags, as “Unsafe WebGPU Support” and “Vulkan”.",
};

let worker = null;
let watchdog = 0;
let report = null; // what the page shows
let measuring = null; // {work, contestant} that are measured now
let finished = 0; // measurements, of `expected`, which is known once the worker has reported what is available
let expected = 1;
let charts = [];

function url(path) {
    return new URL(path, document.baseURI).href;
}

async function readConfig() {
    const response = await fetch(url("config.json"));
    if (!response.ok) {
        throw new Error(`config.json: HTTP status ${response.status}`);
    }
    return response.json();
}

// ---- the run

async function start() {
    stop();
    report = newReport(navigator);
    [measuring, finished] = [null, 0];
    showProblem();
    clearCopied();
    showStep(null);
    history.replaceState(null, "", location.pathname + location.search);
    $("run").textContent = "Stop";
    say("Starting.");
    const started = (worker = new Worker(url("worker.mjs"), { type: "module" }));
    draw();
    started.onmessage = ({ data }) => started === worker && receive(data);
    started.onerror = (event) => {
        event.preventDefault();
        if (started === worker) {
            fail(`The benchmark’s worker stopped${event.message ? `: ${event.message}` : "."}`, ADVICE.failed);
        }
    };
    expectMessage();
    try {
        const { pyodide, wheel } = await readConfig();
        const index = url(pyodide.endsWith("/") ? pyodide : `${pyodide}/`);
        started.postMessage({ pyodide: index, wheel: url(`wheels/${wheel}`), bench: url("bench.py") });
    } catch (error) {
        if (started === worker) {
            fail(`The page’s settings could not be loaded: ${error.message}`, ADVICE.failed);
        }
    }
}

function stop() {
    clearTimeout(watchdog);
    worker?.terminate();
    worker = null;
    measuring = null;
}

function expectMessage() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
        fail(`The benchmark’s worker has not answered for ${SILENCE / 1000} seconds.`, ADVICE.dead);
    }, SILENCE);
}

function receive(message) {
    expectMessage();
    const { type, work, contestant, ...rest } = message;
    if (document.hidden) {
        report.background = true;
    }
    if (type === "step") {
        say(STEPS[message.step]);
        showStep(message.step);
        draw();
    } else if (type === "facts") {
        const { lanewise, numpy, pyodide, adapter, missing, workers } = message;
        Object.assign(report, { lanewise, numpy, pyodide, adapter, missing, workers });
        expected = WORKS.flatMap((work) => contestants(work, report)).filter((each) => !missing[each]).length;
        draw();
    } else if (type === "measuring") {
        if (measuring?.work !== work) {
            say(`Measuring: ${WORKS.find(({ name }) => name === work).title}.`);
        }
        measuring = { work, contestant };
        draw();
    } else if (type === "result" || type === "failure") {
        const outcome = type === "failure" ? { failure: rest.message } : rest;
        (report.results[work] ??= {})[contestant] = outcome;
        finished += 1;
        keepInAddress();
        draw();
    } else if (type === "done") {
        finish();
    } else if (type === "failed") {
        fail(`${STEPS[message.step].replace(/\.$/, "")} failed: ${message.message}`, ADVICE.failed);
    }
}

function finish() {
    stop();
    report.complete = true;
    $("run").textContent = "Run again";
    say(`Done.${remarks()}`);
    keepInAddress();
    draw();
}

/** Puts the report into the page's address, so that it survives a reload. */
function keepInAddress() {
    history.replaceState(null, "", toFragment(report));
}

/** Returns sentences about what limits the report, each with a space before it, or "". */
function remarks() {
    const stopped = report.complete ? "" : " The measurement was stopped before its end.";
    const slowed = report.background ? " The page was in the background at times, where browsers slow it down." : "";
    return stopped + slowed;
}

function fail(what, advice) {
    stop();
    $("run").textContent = "Try again";
    say("Stopped.");
    showProblem(what, advice);
    draw();
}

function hasResults() {
    return Object.keys(report.results).length > 0;
}

/** Returns the fastest backend at the 512 × 512 matrix product and its speed relative to NumPy's, or null if that is
 * not above 1. */
function best() {
    const outcomes = report?.results["matmul-512"] ?? {};
    const ranked = CONTESTANTS.slice(1)
        .map((contestant) => ({ contestant, factor: ratio(outcomes, contestant) ?? 0 }))
        .sort((one, other) => other.factor - one.factor);
    return ranked[0].factor > 1 ? ranked[0] : null;
}

// ---- what the page shows

function say(text) {
    if ($("status").textContent !== text) {
        $("status").textContent = text;
    }
}

function showProblem(what = "", advice = "") {
    $("problem").hidden = !what;
    $("problem").querySelector(".what").textContent = what;
    $("problem").querySelector(".advice").textContent = advice;
}

function showStep(step) {
    const names = Object.keys(STEPS);
    const current = names.indexOf(step);
    document.querySelectorAll("#steps li").forEach((item, i) => {
        item.classList.toggle("done", i < current);
        item.toggleAttribute("aria-current", false);
        if (i === current) {
            item.setAttribute("aria-current", "step");
        }
    });
}

function draw() {
    const loaded = document.querySelectorAll("#steps li.done").length / (Object.keys(STEPS).length - 1);
    $("steps").hidden = $("progress").hidden = !worker;
    $("progress").value = LOADING_SHARE * loaded + (1 - LOADING_SHARE) * (finished / expected);
    charts.forEach((chart) => chart.draw(report, measuring?.work === chart.work.name ? measuring.contestant : null));
    const known = Boolean(report?.lanewise);
    $("facts").hidden = !known;
    const fastest = report?.complete ? best() : null;
    $("best").hidden = !fastest;
    if (fastest) {
        $("best").querySelector("strong").textContent = times(fastest.factor);
        $("best").querySelector("span").textContent =
            `as fast as NumPy, with ${label(fastest.contestant, report)}, at the 512\u00a0×\u00a0512 matrix product.`;
    }
    const sharable = known && hasResults() && !worker;
    document.querySelectorAll(".share").forEach((each) => (each.hidden = !sharable));
    if (known) {
        drawFacts();
        drawNumbers();
    }
}

function drawFacts() {
    const features = ["simd128", "relaxed_simd", "wgpu", ...(report.workers ? ["workers"] : [])];
    const items = features.map((contestant) => {
        const reason = report.missing[contestant];
        const item = document.createElement("li");
        const name = document.createElement("strong");
        const detail = document.createElement("span");
        name.textContent = `${label(contestant)}: ${reason ? "not in this browser" : "yes"}`;
        detail.textContent = reason ? `${sentence(reason)} ${WHAT_TO_DO[contestant]}` : describe(contestant);
        item.classList.toggle("present", !reason);
        item.append(name, detail);
        return item;
    });
    $("facts").querySelector("ul").replaceChildren(...items);
    const { browser, logicalProcessors: count, date, lanewise, numpy, pyodide } = report;
    const processors = count ? `${count} logical processor${count > 1 ? "s" : ""}` : "";
    const machine = [browser, processors, `Lanewise ${lanewise}`, `NumPy ${numpy}`, `Pyodide ${pyodide}`, date];
    $("machine").textContent = machine.filter(Boolean).join(" · ");
}

function sentence(text) {
    const trimmed = text.trim().replace(/\.$/, "");
    return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`;
}

function describe(contestant) {
    if (contestant === "workers") {
        return `${report.workers} of them share a matrix product, on the fastest backend of the CPU.`;
    }
    if (contestant !== "wgpu") {
        return contestant === "simd128" ? "128 bits: four float32 at once." : "Adds fused multiply-add to SIMD128.";
    }
    const { name, software } = report.adapter ?? { name: "", software: false };
    const adapter = name ? `Adapter: ${name}` : "The browser does not name the adapter";
    return software
        ? `${adapter}. This is a software adapter: it runs on the CPU, so its times say nothing about GPUs.`
        : `${adapter}.`;
}

function drawNumbers() {
    const columns = $("numbers").tHead.rows[0].cells.length;
    const groups = WORKS.filter((work) => report.results[work.name]).map((work) => {
        const group = document.createElement("tbody");
        const rows = CONTESTANTS.filter((each) => report.results[work.name][each]).map((each) => numbers(work, each));
        const title = addHeading(group.insertRow(), "rowgroup", work.title);
        title.colSpan = columns;
        for (const [name, ...cells] of rows) {
            const row = group.insertRow();
            addHeading(row, "row", name);
            cells.forEach((cell) => (row.insertCell().textContent = cell));
            row.lastChild.colSpan = 1 + columns - row.cells.length;
        }
        return group;
    });
    $("numbers").replaceChildren($("numbers").tHead, ...groups);
}

function addHeading(row, scope, text) {
    const heading = document.createElement("th");
    heading.scope = scope;
    heading.textContent = text;
    row.append(heading);
    return heading;
}

/** Returns the texts of the cells of a row of the table. */
function numbers(work, contestant) {
    const outcome = report.results[work.name][contestant];
    const factor = ratio(report.results[work.name], contestant);
    return outcome.failure
        ? [label(contestant, report), `failed: ${outcome.failure}`]
        : [
              label(contestant, report),
              duration(outcome.nanoseconds),
              `${digits(rate(work, outcome))} ${work.unit}`,
              factor ? times(factor) : "",
              work.name === "digits" ? `${outcome.error / 2} of ${work.amount} differ` : digits(outcome.error),
          ];
}

// ---- sharing

function asJson() {
    return JSON.stringify(report, null, 2);
}

function link() {
    return location.origin + location.pathname + toFragment(report);
}

function clearCopied() {
    $("copied").textContent = "";
    $("manual").hidden = true;
}

async function copy(text, what) {
    clearCopied();
    try {
        await navigator.clipboard.writeText(text);
        $("copied").textContent = `${what} copied.`;
    } catch {
        $("manual").hidden = false;
        $("manual-text").value = text;
        $("manual-text").focus();
        $("manual-text").select();
    }
}

/** Shows the result in the page's fragment, if there is one. */
function openFragment() {
    if (!isResult(location.hash) || worker) {
        return;
    }
    try {
        report = fromFragment(location.hash);
        showProblem();
        say(`A result from a link, measured on ${report.date} in ${report.browser}.${remarks()}`);
        $("run").textContent = "Measure this browser";
    } catch (error) {
        report = null;
        say("Not measured yet.");
        $("run").textContent = "Run the benchmark";
        showProblem(error.message, "Copy the whole link again, or measure this browser.");
    }
    draw();
}

function linkToSource(config) {
    const [user, pages] = location.hostname.split(/\.(?=github\.io$)/);
    const guess = pages ? `https://github.com/${user}/${location.pathname.split("/")[1] || location.hostname}` : "";
    const source = config.source || guess;
    $("source").hidden = !source;
    $("source").href = source;
}

async function showConfig() {
    try {
        const config = await readConfig();
        linkToSource(config);
        $("install-wheel").textContent = `%pip install ${url(`wheels/${config.wheel}`)}`;
        const revision = config.revision ? `, revision ${config.revision.slice(0, 7)}` : "";
        $("version").textContent = `This is version ${config.version}${revision}.`;
    } catch {
        linkToSource({}); // start() reports the failure if it matters
    }
}

charts = WORKS.map((work) => new Chart(work, $("charts")));
$("charts").append($("summary")); // fills the grid
new ResizeObserver(draw).observe($("charts"));
$("run").disabled = false;
$("run").addEventListener("click", () => {
    if (worker) {
        fail("The benchmark was stopped.", hasResults() ? ADVICE.stopped : ADVICE.early);
    } else {
        start();
    }
});
$("measure").addEventListener("click", () => {
    $("run").focus({ preventScroll: true });
    if (!worker) {
        start();
    }
});
$("copy-link").addEventListener("click", () => copy(link(), "Link"));
$("copy-json").addEventListener("click", () => copy(asJson(), "JSON"));
addEventListener("hashchange", openFragment);
addEventListener("pagehide", () => {
    if (worker) {
        fail("The benchmark stopped because you left the page.", ADVICE.left);
    }
});
draw();
openFragment();
showConfig();
