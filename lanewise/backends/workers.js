// Threads in a browser: web workers that run kernels on a memory of their own, because Pyodide's cannot be shared.
// workers.py evaluates this text, and calls the resulting function with the text, which is also what workers run.
//
// Each worker instantiates the same kernel libraries on the shared memory, with its own stack and table, but at the
// same bases: addresses and indices of functions mean the same in all of them. Pyodide's thread copies a call with its
// operands to the shared memory and wakes worker 0, the leader, which runs the kernel. Where the kernel calls
// context->run, all workers claim tasks. Then the result is copied back.
//
// The memory has control words, the call (shared_call of workers.c), the data of the libraries, stacks, and from there
// on operands, followed by what the kernels allocate.
((source) => {
    // Control words. Those that several threads write often are 64 bytes apart.
    const CALL = 0; // number of the latest call
    const DONE = 16; // number of the latest call that has ended
    const RUN = 32; // number of the run << 8 | CLOSED once all tasks are claimed | number of helpers that work on it
    const NEXT = 48; // the next task to claim
    const [COUNT, TASK, ARGUMENT] = [64, 65, 66]; // of the tasks
    const STATUS = 67; // an lw_status, or TRAP
    const TOP = 68; // where memory is free
    const CLOSED = 128;
    const [OK, INTERRUPTED, NO_MEMORY, TRAP] = [0, 1, 2, -1];

    // Words of shared_call: scalars, and the first words of its arrays
    const [KERNEL, INPUTS, OPERANDS, PATIENCE, CONTEXT, TASK_CONTEXT] = [0, 1, 2, 3, 4, 5];
    const [LAYOUT, PARAMETERS, SIZE] = [6, 7, 8];
    const [ADDRESSES, BEGINS, BYTES] = [9, 14, 19];

    const CALL_ADDRESS = 1024; // of shared_call
    const FIRST_DATA = 8192; // of the libraries
    const STACK_BYTES = 1 << 20;
    const PAGE = 1 << 16;
    const SPIN_MILLISECONDS = 0.05; // about the time in which a sleeping worker wakes up
    const SLICE_MILLISECONDS = 50; // between two checks for Ctrl-C
    const [SERIAL, RUNNING, FINISHED, LOST] = [0, 1, 2, 3]; // what step() returns

    let memory;
    let control;
    const load = (word) => Atomics.load(control, word);
    const store = (word, value) => Atomics.store(control, word, value);
    const notify = (word) => Atomics.notify(control, word);
    const align = (bytes) => (bytes + 63) & ~63;

    function use(shared) {
        memory = shared;
        control = new Int32Array(memory.buffer, 0, FIRST_DATA / 4);
    }

    // Grows the memory to at least `end` bytes. Returns whether that was possible.
    function reserve(end) {
        try {
            memory.grow(Math.max(Math.ceil(end / PAGE) - memory.grow(0), 0));
            return true;
        } catch {
            return false;
        }
    }

    // Runs in a worker, until it is terminated.
    function work({ memory, libraries, number, stackTop, tableSize }) {
        use(memory);
        const called = (word) => control[CALL_ADDRESS / 4 + word];
        const table = new WebAssembly.Table({ element: "anyfunc", initial: tableSize });
        const stack = new WebAssembly.Global({ value: "i32", mutable: true }, stackTop);
        let call = 0;
        let runs = 0;
        let blocks = []; // memory that this worker has allocated during `call`: {address, size, isFree}

        function begin(latest) {
            if (latest !== call) {
                call = latest;
                blocks = [];
            }
        }

        const fail = (status) => Atomics.compareExchange(control, STATUS, OK, status);

        // Without memory, kernels may sum in another order, so the call has to run elsewhere.
        function allocate(context, bytes) {
            let block = blocks.find(({ size, isFree }) => isFree && size >= bytes);
            if (!block) {
                const size = align(bytes);
                block = { address: Atomics.add(control, TOP, size), size };
                if (!reserve(block.address + size)) {
                    fail(NO_MEMORY);
                    return 0;
                }
                blocks.push(block);
            }
            block.isFree = false;
            return block.address;
        }

        function release(context, address) {
            blocks.find((block) => block.address === address).isFree = true;
        }

        function caught(run) {
            const before = stack.value;
            try {
                return run();
            } catch {
                stack.value = before;
                return TRAP;
            }
        }

        function claimTasks() {
            begin(load(CALL));
            const [task, argument, count] = [table.get(load(TASK)), load(ARGUMENT), load(COUNT)];
            const context = CALL_ADDRESS + called(TASK_CONTEXT);
            for (let index; load(STATUS) === OK && (index = Atomics.add(control, NEXT, 1)) < count; ) {
                fail(caught(() => task(context, BigInt(index), argument)));
            }
        }

        // Waits while a word has this value: spins, then sleeps.
        function wait(word, value) {
            for (const end = performance.now() + SPIN_MILLISECONDS; performance.now() < end; ) {
                if (load(word) !== value) {
                    return;
                }
            }
            Atomics.wait(control, word, value);
        }

        // context->run, which the leader calls
        function run(context, count, task, argument) {
            store(COUNT, Number(count));
            store(TASK, task);
            store(ARGUMENT, argument);
            store(NEXT, 0);
            runs = (runs + 1) & 0xffffff;
            store(RUN, runs << 8);
            notify(RUN);
            claimTasks();
            Atomics.or(control, RUN, CLOSED); // no helper joins from now on
            for (let value; (value = load(RUN)) & (CLOSED - 1); ) {
                wait(RUN, value);
            }
            return load(STATUS);
        }

        function lead() {
            const kernels = tables.map((address) => new Int32Array(memory.buffer, address + called(KERNEL), 1)[0]);
            const kernel = table.get(kernels.find(Boolean));
            const part = (word) => CALL_ADDRESS + called(word);
            const inputs = CALL_ADDRESS + 4 * ADDRESSES;
            const outputs = inputs + 4 * called(INPUTS);
            return caught(() => kernel(part(CONTEXT), part(LAYOUT), inputs, outputs, part(PARAMETERS)));
        }

        // Only functions of a module fit in a table, so this one imports functions of the types (i32, i64, i32, i32) ->
        // i32, (i32, i32) -> i32 and (i32, i32) -> (), and exports them.
        const bytes = [
            ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 20, 3, 96, 4, 127, 126, 127, 127, 1, 127, 96, 2, 127, 127, 1, 127],
            ...[96, 2, 127, 127, 0, 2, 19, 3, 1, 101, 1, 97, 0, 0, 1, 101, 1, 98, 0, 1, 1, 101, 1, 99, 0, 2],
            ...[7, 13, 3, 1, 97, 0, 0, 1, 98, 0, 1, 1, 99, 0, 2],
        ];
        const instantiate = (module, imports) => new WebAssembly.Instance(module, imports).exports;
        const functions = instantiate(new WebAssembly.Module(new Uint8Array(bytes)), {
            e: { a: run, b: allocate, c: release },
        });
        ["a", "b", "c"].forEach((name, i) => table.set(i + 1, functions[name]));
        const constant = (value) => new WebAssembly.Global({ value: "i32" }, value);
        const tables = libraries.map(({ module, data, functions }) => {
            const env = { memory, __indirect_function_table: table, __stack_pointer: stack };
            const exports = instantiate(module, {
                env: { ...env, __memory_base: constant(data), __table_base: constant(functions) },
            });
            exports.__wasm_apply_data_relocs?.();
            return data + exports.lanewise_kernels.value;
        });
        postMessage("ready");

        while (number === 0) {
            Atomics.wait(control, CALL, call);
            if (load(CALL) !== call) {
                begin(load(CALL));
                fail(lead());
                store(DONE, call);
                notify(DONE);
            }
        }
        for (;;) {
            const value = load(RUN);
            if (value & CLOSED || value >> 8 === runs) {
                wait(RUN, value);
            } else if (Atomics.compareExchange(control, RUN, value, value + 1) === value) {
                runs = value >> 8;
                claimTasks();
                if (Atomics.sub(control, RUN, 1) & CLOSED) {
                    notify(RUN);
                }
            }
        }
    }

    // Returns the bytes of a library that imports a shared memory of at most `maximum` pages where it imported an
    // unshared one, and the sizes of its data and of its part of the table.
    function share(bytes, maximum) {
        let at;
        const read = () => {
            for (let value = 0, shift = 0; ; shift += 7) {
                value |= (bytes[at] & 127) << shift;
                if (bytes[at++] < 128) {
                    return value;
                }
            }
        };
        const encode = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...encode(value >>> 7)]);
        const text = new TextDecoder("latin1").decode(bytes.subarray(0, 4096));
        at = text.indexOf("\x08dylink.0\x01") + 11; // WASM_DYLINK_MEM_INFO, whose length is one byte
        const [data, , functions] = [read(), read(), read()];
        for (at = 8; bytes[at] !== 2; ) {
            at++;
            const size = read();
            at += size;
        }
        const section = ++at;
        const size = read();
        const [begin, end] = [at, at + size];
        const memory = text.indexOf("\x03env\x06memory\x02", begin) + 12;
        at = memory;
        const [flags, minimum] = [read(), read()];
        if (flags & 1) {
            read();
        }
        const limits = [3, ...encode(minimum), ...encode(maximum)]; // 3: shared, has a maximum
        const parts = [
            ...[bytes.subarray(0, section), encode(memory - begin + limits.length + end - at)],
            ...[bytes.subarray(begin, memory), limits, bytes.subarray(at)],
        ];
        return { bytes: new Blob(parts.map((part) => new Uint8Array(part))), data, functions };
    }

    // Starts workers. `files` are kernel libraries, each of which replaces kernels of those that follow. `anchor` is an
    // object with a buffer in Pyodide's memory.
    async function start(files, count, maximum, anchor) {
        let [data, functions] = [FIRST_DATA, 4]; // run, allocate and release are 1, 2 and 3
        const libraries = [];
        for (const file of files) {
            const shared = share(file, maximum);
            const module = await WebAssembly.compile(await shared.bytes.arrayBuffer());
            libraries.push({ module, data, functions });
            data += align(shared.data);
            functions += shared.functions;
        }
        const stacks = Math.ceil(data / PAGE) * PAGE;
        const first = stacks + count * STACK_BYTES; // address of the first operand
        use(new WebAssembly.Memory({ initial: first / PAGE, maximum, shared: true }));
        store(RUN, CLOSED);

        const url = URL.createObjectURL(new Blob([`(${source.trim().replace(/;$/, "")})()`]));
        const blocks = typeof document === "undefined"; // whether this thread may wait for memory
        const pool = { blocks, lost: "", memory, workers: [] };
        pool.end = () => {
            pool.lost ||= "they were ended";
            pool.workers.forEach((worker) => worker.terminate());
        };
        const starts = Array.from({ length: count }, (_, number) => {
            const worker = new Worker(url);
            pool.workers.push(worker);
            const stackTop = stacks + (number + 1) * STACK_BYTES;
            worker.postMessage({ memory, libraries, number, stackTop, tableSize: functions });
            return new Promise((resolve, reject) => {
                worker.onmessage = resolve;
                worker.onerror = (event) => {
                    event.preventDefault();
                    pool.lost ||= event.message || "one did not start";
                    reject(new Error(pool.lost));
                };
            });
        });
        try {
            await Promise.all(starts);
        } catch (error) {
            pool.end();
            throw error;
        } finally {
            URL.revokeObjectURL(url);
        }

        let heap; // Pyodide's memory
        let call = 0;
        let isAwaited = false; // whether its caller has not yet seen how it ended
        let progress; // of the call when it was last seen to advance, and the time of that
        let since;

        // Copies a call to the shared memory and begins it. Returns false if the memory is too small, or if it still
        // has the previous call, which has not ended, or whose caller waits for another task of Python.
        function begin(words) {
            const places = [];
            let top = first;
            for (let i = 0; i < words[OPERANDS]; i++) {
                places.push(top + (words[BEGINS + i] % 64)); // the same alignment
                top = align(places[i] + words[BYTES + i]);
            }
            if (isAwaited || load(DONE) !== call || !reserve(top)) {
                return false;
            }
            const shared = new Uint8Array(memory.buffer);
            const copy = new Uint32Array(memory.buffer, CALL_ADDRESS, words[SIZE] / 4);
            copy.set(new Uint32Array(words.buffer, words.byteOffset, copy.length));
            for (let i = 0; i < words[OPERANDS]; i++) {
                if (words[BYTES + i] > 0) {
                    copy[ADDRESSES + i] += places[i] - words[BEGINS + i];
                }
                if (i < words[INPUTS]) {
                    shared.set(new Uint8Array(words.buffer, words[BEGINS + i], words[BYTES + i]), places[i]);
                }
            }
            copy.set([1, 2, 3], words[CONTEXT] / 4);
            copy.set([0, 2, 3], words[TASK_CONTEXT] / 4);
            store(STATUS, OK);
            store(TOP, top);
            since = performance.now();
            call = (call + 1) | 0;
            isAwaited = true;
            store(CALL, call);
            notify(CALL);
            notify(RUN); // helpers spin until the leader has tasks; woken by it, they might wait for its processor
            return true;
        }

        // Returns RUNNING, FINISHED, SERIAL or LOST. When the call has ended, copies the result back.
        function look(words) {
            if (pool.lost) {
                return LOST;
            }
            if (load(DONE) === call) {
                isAwaited = false;
                if (load(STATUS) !== OK) {
                    return SERIAL;
                }
                const out = words[INPUTS];
                const from = control[CALL_ADDRESS / 4 + ADDRESSES + out];
                const result = new Uint8Array(memory.buffer, from, words[BYTES + out]);
                new Uint8Array(words.buffer).set(result, words[ADDRESSES + out]);
                return FINISHED;
            }
            const now = `${load(RUN)} ${load(NEXT)}`;
            if (progress !== now) {
                [progress, since] = [now, performance.now()];
            } else if (performance.now() - since > words[PATIENCE]) {
                pool.lost = "they did not answer";
            }
            return RUNNING;
        }

        // Begins a call, or goes on with it. `address` is that of shared_call.
        pool.step = (address, isNew) => {
            if (!heap?.byteLength) { // it has grown, which detached the former buffer
                const view = anchor.getBuffer();
                heap = view.data.buffer;
                view.release();
            }
            const words = new Uint32Array(heap, address, 64);
            if (isNew && !pool.lost && !begin(words)) {
                return SERIAL;
            }
            if (blocks) {
                Atomics.wait(control, DONE, call - 1, SLICE_MILLISECONDS);
            }
            return look(words);
        };
        pool.wait = () => Promise.resolve(Atomics.waitAsync(control, DONE, call - 1, SLICE_MILLISECONDS).value);
        pool.cancel = () => {
            isAwaited = false;
            Atomics.compareExchange(control, STATUS, OK, INTERRUPTED);
        };
        return pool;
    }

    if (source) {
        return start;
    }
    onmessage = ({ data }) => work(data);
});
