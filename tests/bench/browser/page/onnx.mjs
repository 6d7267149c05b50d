// Writes ONNX models as protocol buffers (onnx.proto, IR 9, opset 23). Field numbers are those of onnx.proto.
const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE = { int: 2, string: 3, ints: 7 };
const encoder = new TextEncoder();

function varint(value) {
    const bytes = [];
    let remaining = BigInt.asUintN(64, BigInt(value));
    while (remaining > 127n) {
        bytes.push(Number(remaining & 127n) | 128);
        remaining >>= 7n;
    }
    return [...bytes, Number(remaining)];
}

function joined(parts) {
    const result = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
        result.set(part, at);
        at += part.length;
    }
    return result;
}

const number = (field, value) => Uint8Array.from([...varint(field << 3), ...varint(value)]);

function message(field, ...parts) {
    const content = joined(parts);
    return joined([varint((field << 3) | 2), varint(content.length), content]);
}

const text = (field, value) => message(field, encoder.encode(value));

function attribute([name, value]) {
    const head = text(1, name);
    if (typeof value === "string") {
        return message(5, head, text(4, value), number(20, ATTRIBUTE.string));
    }
    if (Array.isArray(value)) {
        return message(5, head, ...value.map((item) => number(8, item)), number(20, ATTRIBUTE.ints));
    }
    return message(5, head, number(3, value), number(20, ATTRIBUTE.int));
}

function tensor(name, type, shape, bytes) {
    return message(5, ...shape.map((extent) => number(1, extent)), number(2, type), text(8, name), message(9, bytes));
}

function value(field, name, shape) {
    const dimensions = shape === null ? [] : [message(2, ...shape.map((extent) => message(1, number(1, extent))))];
    return message(field, text(1, name), message(2, message(1, number(1, FLOAT), ...dimensions)));
}

const bytesOf = ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

// Returns the bytes of a model. Nodes have a type, names of inputs, the name of their output, and attributes; inputs of
// the model a name and a shape; constants also data. All numbers are float32, except constants that are BigInt64Array.
export function graph(nodes, inputs, constants, output) {
    const content = [
        ...nodes.map(({ type, inputs, output, attributes }) =>
            message(
                1,
                ...inputs.map((name) => text(1, name)),
                text(2, output),
                text(4, type),
                ...Object.entries(attributes).map(attribute),
            ),
        ),
        text(2, "graph"),
        ...constants.map((constant) => {
            const type = constant.data instanceof BigInt64Array ? INT64 : FLOAT;
            return tensor(constant.name, type, constant.shape, bytesOf(constant));
        }),
        ...inputs.map(({ name, shape }) => value(11, name, shape)),
        value(12, output, null),
    ];
    return joined([number(1, 9), message(7, ...content), message(8, text(1, ""), number(2, 23))]);
}
