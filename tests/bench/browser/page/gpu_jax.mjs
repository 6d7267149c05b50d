// jax-js with its WebGPU backend: plain eager code here, and compiled by jit() in gpu_jax_jit.mjs.
import { defaultDevice, init, nn, numpy as np } from "/npm/@jax-js/jax/dist/index.js";
import { VERSION } from "./jax.mjs";

export async function opened(mode, compiled) {
    const devices = await init("webgpu");
    if (!devices.includes("webgpu")) {
        throw new Error("no WebGPU backend");
    }
    defaultDevice("webgpu");
    const value = async (computed) => (await computed.data())[0];
    const add = compiled((y, x) => np.add(y, x));
    const sumOfSquares = compiled((x) => np.sum(np.multiply(x.ref, x)));
    const fifteen = compiled((x) => {
        let y = x;
        for (let i = 0; i < 5; i++) {
            y = nn.relu(y.mul(0.5).add(1));
        }
        return np.sum(y);
    });
    return {
        settings: `jax-js ${VERSION}, ${mode}`,
        squares: (data) => value(sumOfSquares(np.array(data))),
        adder(data) {
            const x = np.array(data);
            let y;
            return {
                record(count) {
                    y = x.ref;
                    for (let i = 0; i < count; i++) {
                        y = add(y, x.ref);
                    }
                },
                read: () => y.data(),
            };
        },
        chain(data) {
            const x = np.array(data);
            return () => value(fifteen(x.ref));
        },
    };
}

export const open = () => opened("eager", (call) => call);
