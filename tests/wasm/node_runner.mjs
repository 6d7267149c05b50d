// Runs Python programs in a Pyodide under Node: reads requests from standard input, one line of JSON each, and answers
// each with a line {"result": ...} or {"error": "..."}. The programs' own output goes to standard error. Ends when
// standard input does, and after an error that is not Python's.
//
// A request: {
//   pyodide:     folder of the distribution; this, packages and environment are those of the first request,
//   program:     path of a Python file; the value of its last expression, converted to JSON, is the result,
//   packages:    names in the distribution or paths of wheels, installed before the program runs, in this order,
//   mounts:      {path in Pyodide: folder of this machine}, read and written in place,
//   environment: {name: value}
// }
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

let pyodide;
const mounted = new Map(); // path in Pyodide -> folder

async function start(request) {
    const folder = resolve(request.pyodide);
    const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
    const toStandardError = (line) => console.error(line);
    pyodide = await loadPyodide({
        indexURL: `${folder}/`,
        env: { HOME: "/home/pyodide", ...request.environment },
        stdout: toStandardError,
        stderr: toStandardError,
    });
    const failures = [];
    for (const name of request.packages ?? []) {
        const location = name.endsWith(".whl") ? pathToFileURL(resolve(name)).href : name;
        await pyodide.loadPackage(location, {
            messageCallback: () => {},
            errorCallback: (message) => failures.push(message), // loadPackage reports failures and does not throw
        });
    }
    if (failures.length > 0) {
        throw new Error(failures.join("\n"));
    }
}

function mount(inside, outside) {
    if (mounted.get(inside) !== outside) {
        if (mounted.has(inside)) {
            pyodide.FS.unmount(inside);
        }
        pyodide.mountNodeFS(inside, outside);
        mounted.set(inside, outside);
    }
}

async function run(request) {
    if (pyodide === undefined) {
        await start(request);
    }
    for (const [inside, outside] of Object.entries(request.mounts ?? {})) {
        mount(inside, resolve(outside));
    }
    const source = readFileSync(request.program, "utf8");
    const globals = pyodide.runPython("{'__name__': '__main__'}"); // each program has its own globals
    try {
        const result = await pyodide.runPythonAsync(source, { globals, filename: request.program });
        const text = pyodide.pyimport("json").dumps(result);
        result?.destroy?.();
        return text;
    } finally {
        globals.destroy();
    }
}

// Returns once the last byte is written, because writing to a pipe is asynchronous.
function answer(line) {
    return new Promise((written) => process.stdout.write(`${line}\n`, written));
}

// Kills the process, because process.exit would wait for the threads that compile WebAssembly, which can deadlock
// (https://github.com/nodejs/node/issues/54918).
function end() {
    process.kill(process.pid, "SIGKILL");
}

function failure(error) {
    const text = error?.name === "PythonError" ? error.message : (error?.stack ?? error);
    return JSON.stringify({ error: String(text).trim() });
}

// a trap in WebAssembly does not reject the promise awaited below
process.on("uncaughtException", (error) => answer(failure(error)).then(end));
for await (const line of createInterface({ input: process.stdin })) {
    try {
        await answer(`{"result": ${await run(JSON.parse(line))}}`);
    } catch (error) {
        await answer(failure(error));
        if (error?.name !== "PythonError") {
            break;
        }
    }
}
end();
