// jax-js with its WASM backend: every operation is compiled, and every call waits for its result. It has one thread,
// or if the page is cross-origin isolated as many as the browser says it has processors, for which see page.mjs.
import { defaultDevice, init, jit, lax, nn, numpy as np } from "/npm/@jax-js/jax/dist/index.js";

export const VERSION = "0.1.25"; // as in npm.txt; the package does not export its version

const swapHeads = (x) => np.swapaxes(x, 1, 2);
const FUNCTIONS = {
    matmul: () => (a, b) => np.matmul(a, b),
    conv2d: () => (x, weight, bias) => lax.conv(x, weight, [1, 1], "SAME").add(bias.reshape([1, -1, 1, 1])),
    add: () => (a, b) => np.add(a, b),
    relu: () => (x) => nn.relu(x),
    exp: () => (x) => np.exp(x),
    sigmoid: () => (x) => nn.sigmoid(x),
    tanh: () => (x) => np.tanh(x),
    gelu: ({ approximate }) => (x) => nn.gelu(x, { approximate: approximate === "tanh" }),
    softmax: () => (x) => nn.softmax(x, -1),
    layer_norm: () => (x, weight, bias) => nn.standardize(x, -1, { epsilon: 1e-5 }).mul(weight).add(bias),
    scaled_dot_product_attention: ({ is_causal }) => (query, key, value) => {
        const operands = [query, key, value].map(swapHeads);
        return swapHeads(nn.dotProductAttention(...operands, { isCausal: is_causal }));
    },
    sum: ({ axis }) => (x) => np.sum(x, axis ?? null),
};

export async function open(threads) {
    await init("wasm");
    defaultDevice("wasm");
    return {
        settings: `jax-js ${VERSION}, wasm, jit, threads: ${threads}`,
        async make(operation, inputs, keywords) {
            if (FUNCTIONS[operation] === undefined) {
                return null;
            }
            const compiled = jit(FUNCTIONS[operation](keywords));
            const arrays = inputs.map(({ data, shape }) => np.array(data).reshape(shape));
            const once = () => compiled(...arrays.map((array) => array.ref));
            return {
                async run(count) {
                    for (let i = 0; i < count; i++) {
                        const result = await once().blockUntilReady();
                        result.dispose();
                    }
                },
                result: () => once().data(),
                free: () => arrays.forEach((array) => array.dispose()),
            };
        },
    };
}
