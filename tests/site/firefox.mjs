// Opens a page in Firefox and calls asynchronous functions in it, one after another: node firefox.mjs NODE_MODULES
// FIREFOX ADDRESS, with [[source, argument], ...] as JSON on standard input. Prints as JSON what they returned, the
// errors on the console, and the requests that left the page's origin.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, address] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(0, "utf8"));
const main = createRequire(`${modules}/`).resolve("puppeteer-core");
const { default: puppeteer } = await import(pathToFileURL(main).href);
const LIMIT = 600_000; // milliseconds for each call

const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath,
    headless: true,
    protocolTimeout: LIMIT,
    extraPrefsFirefox: { "dom.webgpu.enabled": true, "gfx.webgpu.ignore-blocklist": true },
});
try {
    const page = await browser.newPage();
    const { origin } = new URL(address);
    const errors = [];
    const foreign = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("request", (request) => {
        const url = new URL(request.url());
        if (url.origin !== origin && !["data:", "blob:", "about:"].includes(url.protocol)) {
            foreign.push(request.url());
        }
    });
    await page.goto(address);
    const values = [];
    for (const [source, argument] of calls) {
        values.push(await page.evaluate(`(${source})(${JSON.stringify(argument)})`));
    }
    console.log(JSON.stringify({ values, errors, foreign }));
} finally {
    await browser.close();
}
