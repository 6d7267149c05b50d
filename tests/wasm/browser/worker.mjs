// The console in a module worker, one question at a time.
import { answer } from "./console.mjs";

self.onmessage = async ({ data }) => self.postMessage(await answer(data));
