// Runs a Python program in Pyodide under Node: reads a request from standard input, prints {"result": ...} or
// {"error": "..."} as one line of JSON. The program's own output goes to standard error.
//
// A request: {
//   pyodide:     folder of the distribution,
//   program:     path of a Python file; the value of its last expression, converted to JSON, is the result,
//   packages:    names in the distribution or paths of wheels, installed before the program runs, in this order,
//   mounts:      {path in Pyodide: folder of this machine}, read and written in place,
//   environment: {name: value}
// }
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

async function run(request) {
    const folder = resolve(request.pyodide);
    const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
    const toStandardError = (line) => console.error(line);
    const pyodide = await loadPyodide({
        indexURL: `${folder}/`,
        env: { HOME: "/home/pyodide", ...request.environment },
        stdout: toStandardError,
        stderr: toStandardError,
    });
    for (const [inside, outside] of Object.entries(request.mounts ?? {})) {
        pyodide.mountNodeFS(inside, resolve(outside));
    }
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
    const source = readFileSync(request.program, "utf8");
    const result = await pyodide.runPythonAsync(source, { filename: request.program });
    return pyodide.pyimport("json").dumps(result);
}

// Ends the process once the last byte is written, because writing to a pipe is asynchronous. Kills it, because
// process.exit would wait for the threads that compile WebAssembly, which can deadlock
// (https://github.com/nodejs/node/issues/54918).
function answer(line) {
    process.stdout.write(`${line}\n`, () => process.kill(process.pid, "SIGKILL"));
}

function fail(error) {
    const text = error?.name === "PythonError" ? error.message : (error?.stack ?? error);
    answer(JSON.stringify({ error: String(text).trim() }));
}

process.on("uncaughtException", fail); // a trap in WebAssembly does not reject the promise awaited below
try {
    answer(`{"result": ${await run(JSON.parse(readFileSync(0, "utf8")))}}`);
} catch (error) {
    fail(error);
}
