// TensorFlow.js with its WebGPU backend. By default, the backend computes arrays of less than 1000 elements on the CPU;
// WEBGPU_CPU_FORWARD turns that off, because the work here stands for arrays of any size.
import { script } from "./script.mjs";

export async function open() {
    await script("/npm/@tensorflow/tfjs-core/dist/tf-core.min.js");
    await script("/npm/@tensorflow/tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js");
    tf.enableProdMode();
    tf.env().set("WEBGPU_CPU_FORWARD", false);
    if (!(await tf.setBackend("webgpu"))) {
        throw new Error("no WebGPU backend");
    }
    async function value(computed) {
        const [number] = await computed.data();
        computed.dispose();
        return number;
    }
    return {
        settings: `tfjs ${tf.version_core}`,
        squares(data) {
            const x = tf.tensor(data);
            return value(tf.tidy(() => tf.sum(tf.mul(x, x))));
        },
        adder(data) {
            const x = tf.tensor(data);
            let y;
            return {
                record(count) {
                    y = tf.clone(x);
                    for (let i = 0; i < count; i++) {
                        const before = y;
                        y = tf.add(before, x);
                        before.dispose();
                    }
                },
                async read() {
                    const values = await y.data();
                    y.dispose();
                    return values;
                },
            };
        },
        chain(data) {
            const x = tf.tensor(data);
            function compute() {
                let y = x;
                for (let i = 0; i < 5; i++) {
                    y = tf.relu(tf.add(tf.mul(y, 0.5), 1));
                }
                return tf.sum(y);
            }
            return () => value(tf.tidy(compute));
        },
    };
}
