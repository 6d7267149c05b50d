// Runs a WASI program that may access all files, and exits with its status: node wasi.mjs program.wasm arguments...
import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// Without this flag, V8 calls a long-running program's WASI functions directly, and a garbage collection during such a
// call crashes Node 20 to 22: https://github.com/nodejs/node/issues/53087.
setFlagsFromString("--no-turbo-fast-api-calls");

const args = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args, preopens: { "/": "/" }, returnOnExit: false });
const program = await WebAssembly.compile(await readFile(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
