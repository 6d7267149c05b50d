// Loads Pyodide, NumPy and Lanewise, and runs bench.py, in a module worker of the landing page. The page starts it with
// {pyodide, wheel, bench}, absolute URLs, and gets messages: {type: "step", step} when a step begins, the events of
// bench.py, and {type: "failed", step, message} at the first error, after which the worker is of no use.
let step = "python";

function begin(name) {
    step = name;
    self.postMessage({ type: "step", step: name });
}

async function text(url) {
    const response = await fetch(url);
    if (!response.ok) {
        throw new Error(`${url}: HTTP status ${response.status}`);
    }
    return response.text();
}

// Calls an asynchronous function, and throws if a request of it fails: loadPyodide() never settles if its WebAssembly
// module cannot be fetched.
async function rejectOnFailedFetch(call) {
    const fetch = self.fetch;
    const failure = new Promise((_, reject) => {
        self.fetch = async (resource, ...options) => {
            try {
                const response = await fetch(resource, ...options);
                if (!response.ok) {
                    throw new Error(`${response.url}: HTTP status ${response.status}`);
                }
                return response;
            } catch (error) {
                reject(error);
                throw error;
            }
        };
    });
    try {
        return await Promise.race([call(), failure]);
    } finally {
        self.fetch = fetch;
    }
}

// loadPackage() reports failures to a callback and does not throw.
async function load(pyodide, name) {
    const failures = [];
    await pyodide.loadPackage(name, {
        messageCallback: () => {},
        errorCallback: (message) => failures.push(message),
    });
    if (failures.length > 0) {
        throw new Error(failures.join("; "));
    }
}

async function run({ pyodide: index, wheel, bench }) {
    const ignoreOutput = () => {};
    begin("python");
    const source = text(bench);
    source.catch(() => {}); // awaited below
    const { loadPyodide, version } = await import(`${index}pyodide.mjs`);
    const options = { indexURL: index, stdout: ignoreOutput, stderr: ignoreOutput };
    const pyodide = await rejectOnFailedFetch(() => loadPyodide(options));
    begin("numpy");
    await load(pyodide, "numpy");
    begin("lanewise");
    await load(pyodide, wheel);
    pyodide.FS.writeFile("bench.py", await source);
    begin("detect");
    const { dumps } = pyodide.pyimport("json");
    const report = (event) => {
        const message = JSON.parse(dumps(event)); // toJs() would make undefined of None, which JSON leaves out
        if (message.type === "facts") {
            message.pyodide = version;
        }
        self.postMessage(message);
        if (message.type === "facts") {
            begin("measure");
        }
    };
    await pyodide.pyimport("bench").run(report, navigator.hardwareConcurrency ?? 1);
}

self.onmessage = async ({ data }) => {
    try {
        await run(data);
    } catch (error) {
        const lines = String(error?.message ?? error)
            .trim()
            .split("\n");
        self.postMessage({ type: "failed", step, message: lines.at(-1) });
    }
};
