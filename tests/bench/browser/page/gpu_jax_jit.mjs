import { jit } from "/npm/@jax-js/jax/dist/index.js";
import { opened } from "./gpu_jax.mjs";

export const open = () => opened("jit", jit);
