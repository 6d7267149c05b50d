// The page, or the web worker, that everything is measured in. It loads Pyodide with the wheel and this benchmark's
// Python files, the peers (other libraries), and the modules of limits.c. chromium_page.py calls the functions of the
// global object `lanewise`. Everything is timed by lanewise/costs/timing.py, except imports and what gpu.mjs measures.
import { measured, python } from "./gpu.mjs";
import { loadPyodide } from "/pyodide/pyodide.mjs";

const PROGRAMS = "/checkout"; // where the benchmark's Python files are unpacked
const LIMIT = 300e3; // milliseconds for all measurements of a library on WebGPU

async function pyodideWith(packages) {
    const pyodide = await loadPyodide({ indexURL: "/pyodide/", stdout: console.log, stderr: console.log });
    const failures = [];
    await pyodide.loadPackage(packages, {
        messageCallback: () => {},
        errorCallback: (message) => failures.push(message), // loadPackage reports failures and does not throw
        checkIntegrity: true,
    });
    if (failures.length > 0) {
        throw new Error(failures.join("\n"));
    }
    return pyodide;
}

// Starts a new Pyodide, installs a package there, and returns the milliseconds that its first import takes.
async function importTime(location, name) {
    const pyodide = await pyodideWith([location]);
    return pyodide.runPython(`
from time import perf_counter
began = perf_counter()
import ${name}
(perf_counter() - began) * 1e3
`);
}

// Throws if the result does not come in time, because Playwright would wait forever.
function limited(work) {
    const late = (_, reject) => setTimeout(() => reject(new Error(`no result within ${LIMIT / 1000} s`)), LIMIT);
    return Promise.race([work, new Promise(late)]);
}

// Measures a library on WebGPU. One in Python gets a new Pyodide with the packages that it needs; others need none.
async function measureGpu(name, packages) {
    if (packages.length === 0) {
        return limited(measured(async () => (await import(`./gpu_${name}.mjs`)).open()));
    }
    const pyodide = await pyodideWith(packages);
    const source = await (await fetch(`/page/gpu_${name}.py`)).text();
    return limited(measured(() => python(pyodide, source)));
}

// Loads the peers (other libraries) of these names, which may use so many threads. One that cannot start gets a
// `failure`: why it is not timed.
async function opened(names, threads) {
    Object.defineProperty(navigator, "hardwareConcurrency", { value: threads }); // the number of workers of jax-js
    const result = {};
    for (const name of names) {
        try {
            result[name] = await (await import(`/page/${name}.mjs`)).open(threads);
        } catch (error) {
            result[name] = { failure: `it cannot start here: ${error?.message ?? error}` };
        }
    }
    return result;
}

async function limits(urls) {
    const result = {};
    for (const [name, url] of Object.entries(urls)) {
        const bytes = await (await fetch(url)).arrayBuffer();
        if (WebAssembly.validate(bytes)) {
            result[name] = (await WebAssembly.instantiate(bytes)).instance.exports;
        }
    }
    return result;
}

// Loads Pyodide, the wheel, the peers and the modules of limits.c, starts threads if there are to be several, and
// returns what describe() in inside.py returns.
async function start({ wheel, programs, packages, peers, limitUrls, threads }) {
    const pyodide = await pyodideWith([...packages, wheel]);
    pyodide.unpackArchive(await (await fetch(programs)).arrayBuffer(), "zip", { extractDir: PROGRAMS });
    pyodide.runPython(`import sys; sys.path.insert(0, "${PROGRAMS}")`);
    await pyodide.pyimport("lanewise").init_threads(threads);
    pyodide.registerJsModule("lanewise_page", {
        peers: await opened(peers, threads),
        limits: await limits(limitUrls),
    });
    const source = await (await fetch("/page/inside.py")).text();
    pyodide.runPython(source, { filename: "inside.py" });
    for (const name of ["describe", "limits", "measure", "cell"]) {
        const call = pyodide.globals.get(name);
        lanewise[name] = (request) => call.callPromising(JSON.stringify(request ?? null));
    }
    return lanewise.describe();
}

globalThis.lanewise = { start, importTime, measureGpu };
