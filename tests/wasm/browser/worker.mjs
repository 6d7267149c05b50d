// Runs console.mjs in a module worker, which answers one request at a time.
import { answer } from "./console.mjs";

self.onmessage = async ({ data }) => self.postMessage(await answer(data));
