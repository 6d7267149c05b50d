// ONNX Runtime Web with its WebGPU provider, which runs graphs: an addition is a session with a graph of one node, the
// operations of a chain are one graph. Arrays stay on the GPU ("IO binding" in its documentation), except a result that
// is read.
import * as ort from "/npm/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs";
import { graph } from "./onnx.mjs";

function session(nodes, inputs, output, length, constants, location) {
    const fed = inputs.map((name) => ({ name, shape: [length] }));
    return ort.InferenceSession.create(graph(nodes, fed, constants, output), {
        executionProviders: ["webgpu"],
        graphOptimizationLevel: "all",
        preferredOutputLocation: location,
    });
}

async function onGpu(data) {
    const device = await ort.env.webgpu.device;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: Math.ceil(data.byteLength / 16) * 16, usage });
    device.queue.writeBuffer(buffer, 0, data);
    return ort.Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims: [data.length] });
}

const node = (type, inputs, output, attributes = {}) => ({ type, inputs, output, attributes });

export async function open() {
    ort.env.wasm.numThreads = 1;
    return {
        settings: `onnxruntime-web ${ort.env.versions.web}, sessions with graphs`,
        async squares(data) {
            const nodes = [
                node("Mul", ["x", "x"], "squared"),
                node("ReduceSum", ["squared"], "y", { keepdims: 0 }),
            ];
            const run = await session(nodes, ["x"], "y", data.length, [], "cpu");
            return (await run.run({ x: new ort.Tensor("float32", data) })).y.data[0];
        },
        async adder(data) {
            const nodes = [node("Add", ["y", "x"], "sum")];
            const run = await session(nodes, ["y", "x"], "sum", data.length, [], "gpu-buffer");
            const x = await onGpu(data);
            let y;
            return {
                async record(count) {
                    y = x;
                    for (let i = 0; i < count; i++) {
                        const before = y;
                        y = (await run.run({ y: before, x })).sum;
                        if (before !== x) {
                            before.dispose();
                        }
                    }
                },
                read: () => y.getData(true),
            };
        },
        async chain(data) {
            const nodes = [];
            let y = "x";
            for (let i = 0; i < 5; i++) {
                nodes.push(node("Mul", [y, "half"], `scaled${i}`));
                nodes.push(node("Add", [`scaled${i}`, "one"], `shifted${i}`));
                nodes.push(node("Relu", [`shifted${i}`], `kept${i}`));
                y = `kept${i}`;
            }
            nodes.push(node("ReduceSum", [y], "y", { keepdims: 0 }));
            const constants = [
                { name: "half", shape: [], data: Float32Array.of(0.5) },
                { name: "one", shape: [], data: Float32Array.of(1) },
            ];
            const run = await session(nodes, ["x"], "y", data.length, constants, "cpu");
            const feeds = { x: await onGpu(data) };
            return async () => (await run.run(feeds)).y.data[0];
        },
    };
}
