// Runs the console in a module worker, which answers one question at a time.
import { answer } from "./console.mjs";

self.onmessage = async ({ data }) => self.postMessage(await answer(data));
