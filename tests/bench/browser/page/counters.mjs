// Counts what the libraries in the page ask of WebGPU. gpu.mjs imports this before any library. Every submission
// counts, also one that only copies a result for reading.
export const counters = { dispatches: 0, submissions: 0, reads: 0 };

function count(prototype, method, counter, counts = () => true) {
    const original = prototype[method];
    prototype[method] = function (...given) {
        if (counts(...given)) {
            counters[counter]++;
        }
        return original.apply(this, given);
    };
}

if (globalThis.GPUQueue) {
    count(GPUComputePassEncoder.prototype, "dispatchWorkgroups", "dispatches");
    count(GPUComputePassEncoder.prototype, "dispatchWorkgroupsIndirect", "dispatches");
    count(GPUQueue.prototype, "submit", "submissions");
    count(GPUBuffer.prototype, "mapAsync", "reads", (mode) => (mode & GPUMapMode.READ) !== 0);
}
