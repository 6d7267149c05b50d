// What is measured and how a result is written: pure functions, without the page.

// amount: what one call computes, in the unit; it takes `nanoseconds`, so the rate is amount / nanoseconds * 1e9
// threaded: whether web workers share it
export const WORKS = [
    { name: "matmul-256", title: "matmul, 256 × 256", unit: "GFLOP/s", amount: (2 * 256 ** 3) / 1e9, threaded: true },
    { name: "matmul-512", title: "matmul, 512 × 512", unit: "GFLOP/s", amount: (2 * 512 ** 3) / 1e9, threaded: true },
    { name: "exp", title: "exp, 1,000,000 numbers", unit: "million/s", amount: 1 },
    { name: "softmax", title: "softmax, 1000 × 1000", unit: "million/s", amount: 1 },
    { name: "digits", title: "Handwritten digits", unit: "images/s", amount: 540 },
];
const VERSION = 3; // of the fragment; a change of WORKS or COLUMNS needs a new one
// What has a column in fragments: the first version that has it and, if later ones do not, the last
const COLUMNS = { numpy: [1], scalar: [1, 2], simd128: [1], relaxed_simd: [1], workers: [2], wgpu: [1] };
export const CONTESTANTS = columns(VERSION);
const LABELS = {
    numpy: "NumPy",
    simd128: "SIMD128",
    relaxed_simd: "Relaxed SIMD",
    workers: "Web workers",
    wgpu: "WebGPU",
};
const PREFIX = "#result=";
const MAX_TEXT = 300; // characters of a text in a fragment; longer ones are cut
const CHECKSUM_DIGITS = 8; // hexadecimal, before the data

function columns(version) {
    const isColumn = ([, [first, last = version]]) => first <= version && version <= last;
    return Object.entries(COLUMNS)
        .filter(isColumn)
        .map(([name]) => name);
}

/** Returns the contestants of a work. Web workers are one if the page was cross-origin isolated. */
export function contestants(work, report) {
    return CONTESTANTS.filter((each) => each !== "workers" || (work.threaded && report?.workers > 0));
}

export function label(contestant, report) {
    if (contestant === "workers" && report?.workers) {
        return `${report.workers} workers`;
    }
    return contestant === "wgpu" && report?.adapter?.software ? "WebGPU (CPU)" : LABELS[contestant];
}

export function rate(work, outcome) {
    return (work.amount / outcome.nanoseconds) * 1e9;
}

export function ratio(outcomes, contestant) {
    const base = outcomes?.numpy?.nanoseconds;
    const own = outcomes?.[contestant]?.nanoseconds;
    return base && own ? base / own : undefined;
}

/** Formats with three significant digits, at most two of them decimals: 0.12, 1.23, 12.3, 123, 12,300. */
export function digits(value) {
    const rounded = Number(value.toPrecision(3));
    const places = rounded >= 100 ? 0 : rounded >= 10 ? 1 : 2;
    return rounded.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** Formats with two significant digits and without decimals from 10 on: 0.42×, 3.1×, 31×, 312×. */
export function times(value) {
    const places = value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2;
    return `${value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })}×`;
}

export function duration(nanoseconds) {
    const [size, unit] = nanoseconds < 999.5e3 ? [1e3, "µs"] : nanoseconds < 999.5e6 ? [1e6, "ms"] : [1e9, "s"];
    return `${digits(nanoseconds / size)} ${unit}`;
}

/** Names browser and operating system, from what the browser says about itself. */
export function describeBrowser({ userAgent, userAgentData }) {
    const brands = userAgentData?.brands ?? [];
    const brand = brands.find(({ brand }) => !/not.?a.?brand|^Chromium$/i.test(brand)) ?? brands.at(-1);
    const known = [
        [/Firefox\/(\d+)/, "Firefox"],
        [/Edg\/(\d+)/, "Edge"],
        [/(?:HeadlessChrome|Chrome)\/(\d+)/, "Chromium"],
        [/Version\/(\d+[.\d]*).*Safari/, "Safari"],
    ];
    const found = known.map(([pattern, name]) => [name, pattern.exec(userAgent)?.[1]]).find(([, version]) => version);
    const systems = [
        [/Android/, "Android"],
        [/iPhone|iPad/, "iOS"],
        [/Windows/, "Windows"],
        [/Mac OS/, "macOS"],
        [/CrOS/, "ChromeOS"],
        [/Linux/, "Linux"],
    ];
    const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1];
    const named = brand && !/^(not|headless)/i.test(brand.brand) ? [brand.brand, brand.version] : found;
    return [named ? named.join(" ") : "unknown browser", system].filter(Boolean).join(" on ");
}

/** Returns a report without results, for the events of a run to fill in. */
export function newReport(browser) {
    return {
        date: new Date().toISOString().slice(0, 10),
        browser: describeBrowser(browser),
        userAgent: browser.userAgent,
        logicalProcessors: browser.hardwareConcurrency ?? null,
        lanewise: "",
        numpy: "",
        pyodide: "",
        adapter: null,
        workers: 0,
        missing: {},
        background: false,
        complete: false,
        results: {},
    };
}

/** Returns the fragment of the page's URL that holds a report, all except the browser's long name of itself. */
export function toFragment(report) {
    const { userAgent, results, ...rest } = report;
    const rows = WORKS.map(({ name }) =>
        CONTESTANTS.map((contestant) => {
            const outcome = results[name]?.[contestant];
            if (!outcome) {
                return 0;
            }
            return outcome.failure
                ? [outcome.failure]
                : [Number(outcome.nanoseconds.toPrecision(4)), outcome.error, outcome.agrees];
        }),
    );
    const json = JSON.stringify({ version: VERSION, ...rest, rows }, (_, value) =>
        typeof value === "string" && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT - 1)}…` : value,
    );
    const bytes = new TextEncoder().encode(json);
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return PREFIX + checksum(bytes) + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the CRC-32 of bytes, as zlib and PNG compute it, in hexadecimal. */
export function checksum(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) {
            crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    return (~crc >>> 0).toString(16).padStart(CHECKSUM_DIGITS, "0");
}

export function isResult(fragment) {
    return fragment.startsWith(PREFIX);
}

/** Returns the report in a fragment. Throws an Error whose message is for the reader of the page. */
export function fromFragment(fragment) {
    const bytes = decode(fragment.slice(PREFIX.length));
    if (!bytes) {
        throw new Error("This link is damaged: some of its characters are missing or changed.");
    }
    try {
        return parse(bytes);
    } catch (cause) {
        throw new Error("The result in this link cannot be read: another version of this page wrote it.", { cause });
    }
}

/** Decodes the part of a fragment after PREFIX. Returns its bytes, or null if they do not match the checksum. */
function decode(encoded) {
    try {
        const binary = atob(encoded.slice(CHECKSUM_DIGITS).replaceAll("-", "+").replaceAll("_", "/"));
        const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
        return checksum(bytes) === encoded.slice(0, CHECKSUM_DIGITS) ? bytes : null;
    } catch {
        return null; // not Base64
    }
}

/** Returns the report in the bytes of a fragment. Checks every value, because anyone can write a link. */
function parse(bytes) {
    const { version, rows, ...rest } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    check(Number.isInteger(version) && version >= 1 && version <= VERSION, "version");
    const names = columns(version);
    check(/^\d{4}-\d\d-\d\d$/.test(rest.date), "date");
    const processors = rest.logicalProcessors;
    check(processors === null || (Number.isInteger(processors) && processors > 0), "logicalProcessors");
    // in the order of newReport(), so that a copied link equals the one it came from
    const report = { date: rest.date, browser: text(rest.browser, "browser"), logicalProcessors: processors };
    for (const name of ["lanewise", "numpy", "pyodide"]) {
        report[name] = text(rest[name], name);
    }
    const adapter = rest.adapter;
    report.adapter = adapter && { name: text(adapter.name, "adapter"), software: adapter.software === true };
    report.workers = version >= COLUMNS.workers[0] ? rest.workers : 0;
    check(Number.isInteger(report.workers) && report.workers >= 0, "workers");
    report.missing = {};
    for (const contestant of CONTESTANTS) {
        if (rest.missing?.[contestant] !== undefined) {
            report.missing[contestant] = text(rest.missing[contestant], "missing");
        }
    }
    report.background = rest.background === true;
    report.complete = rest.complete === true;
    check(Array.isArray(rows) && rows.length === WORKS.length, "rows");
    report.results = {};
    rows.forEach((row, i) => {
        check(Array.isArray(row) && row.length === names.length, "row");
        row.forEach((cell, j) => {
            if (cell !== 0 && CONTESTANTS.includes(names[j])) {
                (report.results[WORKS[i].name] ??= {})[names[j]] = outcome(cell);
            }
        });
    });
    return report;
}

function outcome(cell) {
    if (Array.isArray(cell) && cell.length === 1) {
        return { failure: text(cell[0], "failure") };
    }
    const [nanoseconds, error, agrees] = cell;
    check(Number.isFinite(nanoseconds) && nanoseconds > 0, "nanoseconds");
    check(Number.isFinite(error) && error >= 0, "error");
    check(agrees === null || typeof agrees === "boolean", "agrees");
    return { nanoseconds, error, agrees };
}

function text(value, name) {
    check(typeof value === "string" && value.length <= MAX_TEXT, name);
    return value;
}

function check(condition, name) {
    if (!condition) {
        throw new Error(`unexpected ${name}`);
    }
}
