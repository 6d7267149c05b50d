// Measures a library on WebGPU. Its module, gpu_<name>.mjs, has `open()`, which returns
//   settings        the library, its version, and how it is used
//   squares(data)   the sum of the squares of an array
//   adder(data)     { record(count), read() }: records `count` additions, y = y + x, that begin with y = x; reads y
//   chain(data)     a function that computes 15 elementwise operations and a sum of an array, and reads the result
// python() returns the same for a library in Python.
import { counters } from "./counters.mjs";

const SAMPLES = 7;
const CALLS = 320; // an addition takes jax-js longer in longer loops
const RUNS = 5;
const SEEN_TWICE = 2;
const PAUSE = 2000; // milliseconds; long enough to compile in the background what was seen twice
const TIMED = 10; // chains to a sample, because the clock of the page ticks every 0.1 ms

const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

// Returns nanoseconds.
async function timed(work) {
    const began = performance.now();
    await work();
    return (performance.now() - began) * 1e6;
}

// Runs the program gpu_<name>.py in a Pyodide, and returns its functions, which may wait for the GPU.
export async function python(pyodide, source) {
    await pyodide.runPythonAsync(source);
    function call(name) {
        const called = pyodide.globals.get(name);
        return (...given) => called.callPromising(...given);
    }
    return {
        squares: call("squares"),
        async adder() {
            await call("prepare")();
            const [calls, sums] = pyodide.globals.get("ADDITIONS").toJs();
            return { record: call("record"), read: async () => [await call("read")()], calls, sums };
        },
        chain: () => call("chain"),
        facts: async () => JSON.parse(await call("facts")()),
    };
}

export async function measured(open) {
    let library;
    let number;
    const first = await timed(async () => {
        library = await open();
        number = await library.squares(Float32Array.of(1, 2, 3, 4));
    });
    const results = [number];

    const adder = await library.adder(Float32Array.of(1, 2, 3, 4));
    const calls = adder.calls ?? CALLS;
    await adder.record(calls);
    await adder.read();
    const recorded = [];
    for (let i = 0; i < SAMPLES; i++) {
        recorded.push((await timed(() => adder.record(calls))) / calls);
        results.push(sumOf(await adder.read()) / (adder.sums ?? calls + 1));
    }

    const chain = await library.chain(Float32Array.from({ length: 1000 }, (_, i) => i));
    const runs = [];
    for (let i = 0; i < RUNS; i++) {
        if (i === SEEN_TWICE) {
            await new Promise((resolve) => setTimeout(resolve, PAUSE));
        }
        const before = { ...counters };
        results.push(await chain());
        runs.push(Object.fromEntries(Object.entries(counters).map(([key, value]) => [key, value - before[key]])));
    }
    const chained = [];
    for (let i = 0; i < SAMPLES; i++) {
        const taken = await timed(async () => {
            for (let run = 0; run < TIMED; run++) {
                await chain();
            }
        });
        chained.push(taken / TIMED);
    }
    const facts = (await library.facts?.()) ?? { settings: library.settings };
    return JSON.stringify({ ...facts, first, recorded, results, runs, chained });
}
