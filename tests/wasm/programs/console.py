"""Enters the lines of /lines/lines.txt one by one in a PyodideConsole, as the console on Pyodide's website does.
Returns all that it prints."""

from pathlib import Path

from pyodide.console import PyodideConsole, repr_shorten


async def shown(text: str) -> str:
    output: list[str] = []
    console = PyodideConsole(stdout_callback=output.append, stderr_callback=output.append)
    for line in text.split("\n"):
        typed = console.push(line)
        if typed.syntax_check == "syntax-error":
            raise SyntaxError(typed.formatted_error)
        if typed.syntax_check == "complete":
            value = await typed
            if value is not None:
                output.append(repr_shorten(value) + "\n")
    return "".join(output)


await shown(Path("/lines/lines.txt").read_text())  # noqa: F704 (Pyodide runs programs with await at the top)
