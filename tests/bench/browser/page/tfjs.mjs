// TensorFlow.js with its WASM backend, whose kernels have finished when a call returns.
import { script } from "./script.mjs";

const nhwc = (x) => tf.transpose(x, [0, 2, 3, 1]);

function layerNorm(x, weight, bias) {
    const { mean, variance } = tf.moments(x, -1, true);
    const scale = tf.rsqrt(tf.add(variance, 1e-5));
    return tf.add(tf.mul(tf.mul(tf.sub(x, mean), scale), weight), bias);
}

function gelu(x, { approximate }) {
    if (approximate === "tanh") {
        const inner = tf.mul(tf.add(tf.mul(tf.square(x), 0.044715), 1), x);
        return tf.mul(tf.mul(tf.add(tf.tanh(tf.mul(inner, Math.sqrt(2 / Math.PI))), 1), x), 0.5);
    }
    return tf.mul(tf.mul(tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1), x), 0.5);
}

// How each operation is computed from its input tensors; `prepare` and `finish` are not timed.
const FUNCTIONS = {
    matmul: { call: (a, b) => tf.matMul(a, b) },
    conv2d: {
        prepare: (x, weight, bias) => [nhwc(x), tf.transpose(weight, [2, 3, 1, 0]), bias],
        call: (x, filter, bias) => tf.fused.conv2d({ x, filter, bias, strides: 1, pad: "same" }),
        finish: (result) => tf.transpose(result, [0, 3, 1, 2]),
    },
    add: { call: (a, b) => tf.add(a, b) },
    relu: { call: (x) => tf.relu(x) },
    exp: { call: (x) => tf.exp(x) },
    sigmoid: { call: (x) => tf.sigmoid(x) },
    tanh: { call: (x) => tf.tanh(x) },
    gelu: { call: (x, keywords) => tf.tidy(() => gelu(x, keywords)) },
    softmax: { call: (x) => tf.softmax(x) },
    layer_norm: { call: (x, weight, bias) => tf.tidy(() => layerNorm(x, weight, bias)) },
    sum: { call: (x, { axis }) => tf.sum(x, axis) },
};

export async function open() {
    await script("/npm/@tensorflow/tfjs-core/dist/tf-core.min.js");
    await script("/npm/@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js");
    tf.enableProdMode();
    tf.wasm.setWasmPaths("/npm/@tensorflow/tfjs-backend-wasm/dist/");
    if (!(await tf.setBackend("wasm"))) {
        throw new Error("no WASM backend");
    }
    return {
        settings: `tfjs ${tf.version_core}, wasm${(await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT")) ? ", SIMD" : ""}`,
        async make(operation, inputs, keywords) {
            const work = FUNCTIONS[operation];
            if (work === undefined) {
                return null;
            }
            let tensors = inputs.map(({ data, shape }) => tf.tensor(data, shape));
            tensors = work.prepare?.(...tensors) ?? tensors;
            const once = () => work.call(...tensors, keywords);
            return {
                async run(count) {
                    for (let i = 0; i < count; i++) {
                        once().dispose();
                    }
                },
                result: () => (work.finish ?? ((result) => result))(once()).data(),
                free: () => tf.dispose(tensors),
            };
        },
    };
}
