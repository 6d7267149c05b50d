// Runs one Pyodide instance, in a page or in a worker. tests/wasm/console.py tells it to start, then to run programs.
// Each request is answered with {result} or {error}; a program's result is JSON, as under Node (node_runner.mjs).
let pyodide;
const printed = []; // output of the current program, which error messages include

const calls = {
    // index: URL of a distribution's folder; packages: names in that distribution or URLs of wheels, in loading order
    async start({ index, packages }) {
        const { loadPyodide } = await import(`${index}pyodide.mjs`);
        const print = (line) => printed.push(line);
        pyodide = await loadPyodide({ indexURL: index, env: { HOME: "/home/pyodide" }, stdout: print, stderr: print });
        const failures = [];
        for (const name of packages) {
            await pyodide.loadPackage(name, {
                messageCallback: () => {},
                errorCallback: (message) => failures.push(message), // loadPackage reports failures and does not throw
            });
        }
        if (failures.length > 0) {
            throw new Error(failures.join("\n"));
        }
        return pyodide.version;
    },

    // mounts: {path in Pyodide: URL of a tar file}, unpacked before the program runs
    async run({ source, filename, mounts }) {
        for (const [inside, url] of Object.entries(mounts)) {
            const response = await fetch(url);
            if (!response.ok) {
                throw new Error(`${url}: HTTP status ${response.status}`);
            }
            pyodide.unpackArchive(await response.arrayBuffer(), "tar", { extractDir: inside });
        }
        const globals = pyodide.runPython("{'__name__': '__main__'}"); // each program has its own globals
        try {
            const result = await pyodide.runPythonAsync(source, { globals, filename });
            const text = pyodide.pyimport("json").dumps(result);
            result?.destroy?.();
            return text;
        } finally {
            globals.destroy();
        }
    },
};

export async function answer({ call, ...argument }) {
    printed.length = 0;
    try {
        return { result: await calls[call](argument) };
    } catch (error) {
        const text = error?.name === "PythonError" ? error.message : (error?.stack ?? error);
        return { error: [String(text).trim(), ...printed.slice(-40)].join("\n") };
    }
}
