// On a page that is cross-origin isolated, the kernel's messages (coincident 1) wait by Atomics.waitAsync for memory to
// change, and take the result's value to be a promise. It is a string if the memory changed before the call, as it may
// on a busy machine: the kernel then never answers. This makes a promise of that string.
if (typeof Atomics.waitAsync === "function") {
    const waitAsync = Atomics.waitAsync;
    Atomics.waitAsync = (...operands) => {
        const { value } = waitAsync(...operands);
        return { async: true, value: Promise.resolve(value) };
    };
}
