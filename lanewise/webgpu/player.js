// WebGPU in a page or a worker: finds an adapter, opens a device, and plays the dispatches that recorder.c records.
// browser.py evaluates this text once and calls the resulting function with ENTRIES and VARIANTS of shaders.py, LIMITS
// of devices.py, and `note`, which is called once a read has waited NOTE_MILLISECONDS for new kernels. Then it calls
// the functions of the object that this returns. Buffers, pipelines and bind groups stay here, because each value that
// Python holds costs a proxy.
((ENTRIES, VARIANTS, LIMITS, note, NOTE_MILLISECONDS) => {
    // lw_dispatch of recorder.h, in words: kernel, entry, lw_sources and variant select a pipeline
    const DISPATCH_WORDS = 16;
    const PIPELINE_WORDS = 4;
    const GROUPS = 4;
    const BUFFERS = 8;
    const PARAMETER_BYTES = 256; // of a dispatch
    const BATCH = 64; // maximum number of dispatches in a batch
    const MAX_BIND_GROUPS = 4096; // kept for later dispatches with the same buffers
    const STAGING_BYTES = 1 << 20; // size of the buffer that reads of at most this size share
    const LOSS_MILLISECONDS = 1000; // a failed read waits as long for the reason of a loss
    const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render/i; // of adapters that do not say they are fallbacks

    // Calls a function with the bytes of a Python object, without a copy. They are valid only during the call, because
    // the memory of WebAssembly moves when it grows.
    function withBytes(object, use) {
        const view = object.getBuffer("u8");
        try {
            return use(view.data);
        } finally {
            view.release();
        }
    }

    function wordsOf(object) {
        return withBytes(object, (bytes) => new Uint32Array(bytes.slice().buffer)); // a copy is aligned to words
    }

    class Player {
        constructor(device) {
            this.device = device;
            this.lost = ""; // why the device is lost, "" while it is not
            this.maxGroups = device.limits.maxComputeWorkgroupsPerDimension;
            this.maxWorkgroupBytes = device.limits.maxComputeWorkgroupStorageSize;
            this.maxBuffer = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
            this.buffers = new Map();
            this.kernels = new Map();
            this.pipelines = new Map();
            this.layouts = new Map();
            this.bindGroups = new Map();
            this.checks = new Set(); // promises of error scopes
            this.isCompiling = false; // whether pipelines were created since the last read
            this.staging = undefined;
            this.encoder = undefined; // commands that are not submitted yet
            this.parameters = device.createBuffer({
                size: BATCH * PARAMETER_BYTES,
                usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
            });
            // bound where a dispatch has no buffer
            this.unread = device.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE });
            this.unwritten = device.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE });
            device.lost.then((info) => this.lose(info.message || `the reason is ${info.reason || "unknown"}`));
            device.onuncapturederror = (event) => {
                event.preventDefault(); // Python reports it
                this.lose(event.error.message);
            };
        }

        // An error that WebGPU reports late leaves an unknown number of buffers without their contents. As with a loss,
        // no later read may return them.
        lose(reason) {
            this.lost ||= reason;
        }

        refuseLoss() {
            if (this.lost) {
                throw new Error(this.lost);
            }
        }

        // Makes calls that may report an error of this kind. Returns the promise of its message, "" without an error.
        check(kind, make) {
            this.device.pushErrorScope(kind);
            let popped;
            try {
                make();
            } finally {
                popped = this.device.popErrorScope().then(
                    (error) => error?.message ?? "",
                    () => "", // the device was lost
                );
            }
            const done = popped.finally(() => this.checks.delete(done));
            this.checks.add(done);
            return done;
        }

        // Creates a buffer. If `awaited`, returns the promise of the message that the GPU has no memory left for it.
        create(number, size, awaited) {
            this.refuseLoss();
            const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
            const checked = this.check("out-of-memory", () => {
                this.buffers.set(number, this.device.createBuffer({ size, usage }));
            });
            if (awaited) {
                return checked.then((message) => {
                    if (message) {
                        this.destroy(number);
                    }
                    return message;
                });
            }
            checked.then((message) => message && this.lose(`out of memory when allocating ${size} bytes: ${message}`));
            return undefined;
        }

        destroy(number) {
            this.submit();
            this.bindGroups.clear(); // bind groups refer to buffers
            this.buffers.get(number).destroy();
            this.buffers.delete(number);
        }

        write(number, offset, data) {
            this.refuseLoss();
            this.submit();
            withBytes(data, (bytes) => this.device.queue.writeBuffer(this.buffers.get(number), offset, bytes));
        }

        // Copies bytes of a buffer to a mapped one, for finish(). The copy comes after all dispatches played so far.
        start(number, offset, size) {
            this.refuseLoss();
            const staging = this.takeStaging(size);
            this.encoder ??= this.device.createCommandEncoder();
            this.encoder.copyBufferToBuffer(this.buffers.get(number), offset, staging, 0, size);
            this.submit();
            return this.map(staging, size);
        }

        async map(staging, size) {
            const timer = this.isCompiling && setTimeout(note, NOTE_MILLISECONDS);
            this.isCompiling = false;
            try {
                await staging.mapAsync(GPUMapMode.READ, 0, size);
                await Promise.all(this.checks);
            } catch (error) {
                await this.waitForLoss();
                this.lose(error.message);
            }
            clearTimeout(timer);
            this.refuseLoss();
            return { staging, size };
        }

        // Copies the bytes to a Python object that has room for them, or for fewer.
        finish({ staging, size }, into) {
            withBytes(into, (bytes) => {
                bytes.set(new Uint8Array(staging.getMappedRange(0, size)).subarray(0, bytes.length));
            });
            staging.unmap();
            if (this.staging || staging.size > STAGING_BYTES) {
                staging.destroy();
            } else {
                this.staging = staging;
            }
        }

        takeStaging(size) {
            if (this.staging && size <= STAGING_BYTES) {
                const staging = this.staging;
                this.staging = undefined; // another read may start before this one ends
                return staging;
            }
            const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
            return this.device.createBuffer({ size: Math.max(size, STAGING_BYTES), usage });
        }

        // Reads of a lost device fail before the promise of the loss tells the reason.
        waitForLoss() {
            const limit = new Promise((resolve) => setTimeout(resolve, LOSS_MILLISECONDS));
            return Promise.race([this.device.lost.then(() => {}), limit]);
        }

        // A read waits for this scope: browsers may report an uncaptured error only after the mapping that follows.
        submit() {
            const { device, encoder } = this;
            if (encoder) {
                this.encoder = undefined;
                const checked = this.check("validation", () => device.queue.submit([encoder.finish()]));
                checked.then((message) => message && this.lose(`error when submitting work: ${message}`));
            }
        }

        // Encodes recorded dispatches. Submits a full batch at once, and any other with the read that most likely
        // follows, or in a microtask. If it does not know some of the kernels, returns these instead.
        play(dispatches, parameters) {
            this.refuseLoss();
            const words = wordsOf(dispatches);
            const unknown = this.unknownKernels(words);
            if (unknown.length > 0) {
                return unknown;
            }
            this.submit();
            withBytes(parameters, (bytes) => this.device.queue.writeBuffer(this.parameters, 0, bytes));
            const encoder = this.device.createCommandEncoder();
            const pass = encoder.beginComputePass();
            let current;
            for (let start = 0; start < words.length; start += DISPATCH_WORDS) {
                const { pipeline, kernel } = this.pipelineFor(words, start);
                if (pipeline !== current) {
                    pass.setPipeline(pipeline);
                    current = pipeline;
                }
                const offset = (start / DISPATCH_WORDS) * PARAMETER_BYTES;
                pass.setBindGroup(0, this.bindGroupFor(kernel, words, start + BUFFERS), [offset]);
                pass.dispatchWorkgroups(words[start + GROUPS], words[start + GROUPS + 1], words[start + GROUPS + 2]);
            }
            pass.end();
            this.encoder = encoder;
            if (words.length === BATCH * DISPATCH_WORDS) {
                this.submit();
            } else {
                queueMicrotask(() => this.submit());
            }
            return undefined;
        }

        unknownKernels(words) {
            const unknown = new Set();
            for (let start = 0; start < words.length; start += DISPATCH_WORDS) {
                if (!this.kernels.has(words[start])) {
                    unknown.add(words[start]);
                }
            }
            return [...unknown];
        }

        // Tells the player the WGSL module of a kernel, which is parsed once for all of its pipelines.
        define(index, name, code, inputs, outputs) {
            const known = ["lw_sources", ...VARIANTS].filter((constant) => code.includes(`override ${constant}:`));
            this.kernels.set(index, { name, code, inputs, outputs, known, module: undefined });
        }

        isDefined(index) {
            return this.kernels.has(index);
        }

        // Compiles the kernel of a chain in the background. Returns whether it has been compiled.
        prepare(index) {
            const kernel = this.kernels.get(index);
            if (!kernel.module) {
                const describe = () => this.describePipeline(kernel, "main", 0, 0);
                this.check("validation", () => {
                    this.device.createComputePipelineAsync(describe()).then(
                        (pipeline) => {
                            if (this.kernels.get(index) === kernel) { // it has not been discarded meanwhile
                                this.pipelines.set(`${index} 0 0 0`, { kernel, pipeline });
                            }
                        },
                        () => {}, // then its kernels go on running one by one
                    );
                });
            }
            return this.pipelines.has(`${index} 0 0 0`);
        }

        // Drops the kernel of a chain.
        discard(index) {
            this.kernels.delete(index);
            this.pipelines.delete(`${index} 0 0 0`);
        }

        pipelineFor(words, start) {
            const [index, entry, sources, variant] = words.subarray(start, start + PIPELINE_WORDS);
            const key = `${index} ${entry} ${sources} ${variant}`;
            let found = this.pipelines.get(key);
            if (!found) {
                const kernel = this.kernels.get(index);
                found = { kernel, pipeline: this.compile(kernel, ENTRIES[entry], sources, variant) };
                this.pipelines.set(key, found);
            }
            return found;
        }

        compile(kernel, entryPoint, sources, variant) {
            this.isCompiling = true;
            let pipeline;
            const checked = this.check("validation", () => {
                pipeline = this.device.createComputePipeline(
                    this.describePipeline(kernel, entryPoint, sources, variant),
                );
            });
            checked.then((message) => message && this.lose(`error when compiling ${kernel.name}: ${message}`));
            return pipeline;
        }

        describePipeline(kernel, entryPoint, sources, variant) {
            const values = kernel.known.map((name) => [name, name === "lw_sources" ? sources : variant]);
            kernel.module ??= this.device.createShaderModule({ label: kernel.name, code: kernel.code });
            return {
                label: kernel.name,
                layout: this.device.createPipelineLayout({ bindGroupLayouts: [this.layoutFor(kernel)] }),
                compute: { module: kernel.module, entryPoint, constants: Object.fromEntries(values) },
            };
        }

        // Returns the layout of the bindings of a kernel: inputs, outputs and parameters.
        layoutFor({ inputs, outputs }) {
            const key = `${inputs} ${outputs}`;
            if (!this.layouts.has(key)) {
                const buffers = [
                    ...Array(inputs).fill({ type: "read-only-storage" }),
                    ...Array(outputs).fill({ type: "storage" }),
                    { type: "uniform", hasDynamicOffset: true, minBindingSize: PARAMETER_BYTES },
                ];
                const visibility = GPUShaderStage.COMPUTE;
                const entries = buffers.map((buffer, binding) => ({ binding, visibility, buffer }));
                this.layouts.set(key, this.device.createBindGroupLayout({ entries }));
            }
            return this.layouts.get(key);
        }

        // Returns the bind group of the buffers whose numbers begin at `start`; 0 is no buffer.
        bindGroupFor(kernel, words, start) {
            const numbers = words.subarray(start, start + kernel.inputs + kernel.outputs);
            const key = `${kernel.inputs} ${kernel.outputs} ${numbers.join(" ")}`;
            let group = this.bindGroups.get(key);
            if (!group) {
                if (this.bindGroups.size >= MAX_BIND_GROUPS) {
                    this.bindGroups.clear();
                }
                const buffers = Array.from(numbers, (number, position) => this.bufferFor(number, position, kernel));
                const resources = [
                    ...buffers.map((buffer) => ({ buffer })),
                    { buffer: this.parameters, offset: 0, size: PARAMETER_BYTES },
                ];
                const entries = resources.map((resource, binding) => ({ binding, resource }));
                group = this.device.createBindGroup({ layout: this.layoutFor(kernel), entries });
                this.bindGroups.set(key, group);
            }
            return group;
        }

        bufferFor(number, position, { inputs }) {
            return number ? this.buffers.get(number) : position < inputs ? this.unread : this.unwritten;
        }

        close() {
            this.device.destroy();
        }
    }

    // Returns the best adapter. The fallback, which runs on the CPU, is for pages that ask for WebGPU by name.
    async function findAdapter() {
        const { gpu } = globalThis.navigator ?? {};
        return (
            (await gpu?.requestAdapter({ powerPreference: "high-performance" })) ??
            (await gpu?.requestAdapter({ forceFallbackAdapter: true })) ??
            undefined
        );
    }

    function describe(adapter) {
        const info = adapter.info ?? {};
        const name = info.description || [info.vendor, info.architecture].filter(Boolean).join(" ");
        const isFallback = info.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
        const software = isFallback || SOFTWARE.test(`${name} ${info.architecture}`);
        return {
            name: name || "WebGPU adapter",
            software,
            limits: LIMITS.map((limit) => adapter.limits[limit]),
            features: [...adapter.features],
        };
    }

    return {
        hasWebGpu: () => Boolean(globalThis.navigator?.gpu),

        // Returns what DeviceInfo says of the best adapter, or undefined without an adapter.
        async look() {
            const adapter = await findAdapter();
            return adapter && describe(adapter);
        },

        // Opens a device. An adapter gives only one, so each device gets a new adapter.
        async open() {
            const adapter = await findAdapter();
            if (!adapter) {
                throw new Error("the browser has no adapter any more");
            }
            const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = adapter.limits;
            const requiredLimits = { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize };
            return new Player(await adapter.requestDevice({ requiredLimits }));
        },
    };
});
