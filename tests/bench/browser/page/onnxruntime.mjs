// Runs operations in ONNX Runtime Web, with its WASM provider. Each operation is a model of one node in its own
// session. Weights, and the second matrix of a product, are constants of the model, so that the session
// may repack them. Each run copies the other inputs and the result; the API offers no way to avoid that.
import * as ort from "/npm/onnxruntime-web/dist/ort.wasm.min.mjs";
import { graph } from "./onnx.mjs";

const PLAIN = { matmul: "MatMul", add: "Add", relu: "Relu", exp: "Exp", sigmoid: "Sigmoid", tanh: "Tanh" };
const ROWS = { axis: -1 };

function node(operation, keywords) {
    if (PLAIN[operation] !== undefined) {
        return { type: PLAIN[operation], attributes: {} };
    }
    switch (operation) {
        case "conv2d":
            return { type: "Conv", attributes: { pads: Array(4).fill(keywords.padding) } };
        case "scaled_dot_product_attention":
            return { type: "Attention", attributes: { is_causal: Number(keywords.is_causal) } };
        case "gelu":
            return { type: "Gelu", attributes: { approximate: keywords.approximate ?? "none" } };
        case "softmax":
            return { type: "Softmax", attributes: ROWS };
        case "layer_norm":
            return { type: "LayerNormalization", attributes: ROWS };
        case "sum":
            return { type: "ReduceSum", attributes: { keepdims: 0 }, axes: keywords.axis };
    }
    return null;
}

const WEIGHTED = new Set(["matmul", "conv2d", "layer_norm"]);

export async function open(threads) {
    ort.env.wasm.numThreads = threads;
    ort.env.wasm.wasmPaths = "/npm/onnxruntime-web/dist/";
    return {
        settings: `onnxruntime-web ${ort.env.versions.web}, wasm, threads: ${threads}`,
        async make(operation, inputs, keywords) {
            const described = node(operation, keywords);
            if (described === null) {
                return null;
            }
            const fed = WEIGHTED.has(operation) ? 1 : inputs.length;
            const named = inputs.map((input, i) => ({ ...input, name: `x${i}` }));
            if (described.axes !== undefined) {
                named.push({ name: "axes", shape: [1], data: BigInt64Array.of(BigInt(described.axes)) });
            }
            const only = { ...described, inputs: named.map(({ name }) => name), output: "y" };
            const bytes = graph([only], named.slice(0, fed), named.slice(fed), "y");
            const session = await ort.InferenceSession.create(bytes, {
                executionProviders: ["wasm"],
                graphOptimizationLevel: "all",
            });
            const feeds = {};
            inputs.slice(0, fed).forEach(({ data, shape }, i) => {
                feeds[`x${i}`] = new ort.Tensor("float32", data, shape);
            });
            return {
                async run(count) {
                    for (let i = 0; i < count; i++) {
                        await session.run(feeds);
                    }
                },
                result: async () => (await session.run(feeds)).y.data,
                free: () => session.release(),
            };
        },
    };
}
