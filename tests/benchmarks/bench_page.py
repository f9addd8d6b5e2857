"""The page of a run of five million rows: its size, how long it takes to write and to open in Chromium, offline.

python tests/benchmarks/bench_page.py; exit code 1 over 8 MB, 20 s or 4 s, or if the page asks for anything else.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import monotonic

from playwright.sync_api import sync_playwright

import twin
from twin.report.page import page

ROWS = 5_000_000
MOST_MB, MOST_WRITING_S, MOST_OPENING_S = 8.0, 20.0, 4.0
OPENINGS = 3
BROWSER = "/usr/bin/chromium"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu"]


def recorded(folder: Path) -> twin.Recording:
    """A replay of a thousand jobs that gives just over so many rows."""
    rows = (f"{job},{86.4 * job:g},{1 + job % 16},2592000\n" for job in range(1000))
    (folder / "log.csv").write_text("job_id,submit_s,nodes,duration_s\n" + "".join(rows))
    scenario = {
        "twin": 1,
        "name": "thousand",
        "stop": {"time": "23.5 d"},
        "replay": {"file": str(folder / "log.csv")},
        "storage": {"bandwidth": "100 GB/s"},
        "power": {"cap": "55 MW"},
    }
    return twin.run(twin.load(scenario), folder / "run")


def opening_s(file: Path) -> tuple[float, list[str]]:
    """Time until all charts are drawn, the best of a few [s]; what the page asked for, and errors of its script."""
    told: list[str] = []
    times_s = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        for _ in range(OPENINGS):
            tab = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True).new_page()
            tab.on("request", lambda request: told.append(request.url) if request.url != file.as_uri() else None)
            tab.on("pageerror", lambda error: told.append(str(error)))
            tab.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
            begin_s = monotonic()
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-drawn]")
            times_s.append(monotonic() - begin_s)
        browser.close()
    return min(times_s), told


def main() -> int:
    """Print the three figures; 0 if all marks are met."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = recorded(folder)
        rows = sum(run.manifest["rows"].values())
        begin_s = monotonic()
        (folder / "page.html").write_text(page(run), encoding="utf-8")
        writing_s = monotonic() - begin_s
        size_mb = (folder / "page.html").stat().st_size / 1e6
        drawn_s, told = opening_s(folder / "page.html")
    figures = (("size", size_mb, MOST_MB, "MB"), ("written", writing_s, MOST_WRITING_S, "s"))
    figures = (*figures, ("opened", drawn_s, MOST_OPENING_S, "s"))
    print(f"{rows:,} rows; requests and errors of the page: {told or 'none'}")
    for label, value, most, unit in figures:
        print(f"{label:<8} {value:6.2f} {unit}, mark {most:g} {unit}  {'met' if value < most else 'MISSED'}")
    return 0 if rows >= ROWS and not told and all(value < most for _, value, most, _ in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
