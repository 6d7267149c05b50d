// Loads a script that is not a module, and sets globals.
export function script(url) {
    return new Promise((resolve, reject) => {
        const element = document.createElement("script");
        element.src = url;
        element.onload = resolve;
        element.onerror = () => reject(new Error(`${url} does not load`));
        document.head.append(element);
    });
}
