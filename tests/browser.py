"""A page opened in headless Chromium, at two widths, with its errors."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

WIDTHS = (1400, 400)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FOUND = next((path for name in _NAMES if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(
    _FOUND is None, reason=f"no browser here: none of {', '.join(_NAMES)} is installed"
)

# Before any other script: collects errors. After all: waits for the charts, then reports the
# content of the page to the frame around it.
_EARS = """<script>
window.wrong = [];
addEventListener("error", (event) => wrong.push("error: " + event.message), true);
addEventListener("unhandledrejection", (event) => wrong.push("rejected: " + event.reason));
for (const kind of ["error", "warn"]) {
  const plain = console[kind];
  console[kind] = (...words) => { wrong.push(kind + ": " + words.join(" ")); plain(...words); };
}
</script>"""
_PROBE = """<script>
(() => {
  let tries = 0;
  const marks = (box, kind) =>
    box.querySelectorAll(`.mark-${kind} path, .mark-${kind} line, .mark-${kind} text`).length;
  async function probe() {
    const boxes = [...document.querySelectorAll("[data-chart]")];
    if (boxes.some((box) => !box.querySelector("svg, canvas")) && tries++ < 100)
      return setTimeout(probe, 50);
    let done = null;
    try { done = await (async () => { ACTION })(); } catch (error) { wrong.push(String(error)); }
    const charts = {};
    for (const box of boxes) {
      const name = box.closest("[id]")?.id ?? String(box.dataset.chart);
      charts[name] = {};
      for (const kind of ["rule", "symbol", "line", "rect", "text", "area"])
        charts[name][kind] = marks(box, kind);
    }
    parent.postMessage({
      width: innerWidth, wrong, charts, done,
      scroll: document.documentElement.scrollWidth,
      hacked: window.hacked ?? null,
      text: document.body.innerText.length,
    }, "*");
  }
  setTimeout(probe, 50);
})();
</script>"""
_FRAMES = """<!doctype html><meta charset="utf-8"><pre id="found"></pre><script>
const found = [];
addEventListener("message", (event) => {
  found.push(event.data);
  if (found.length === document.querySelectorAll("iframe").length)
    document.getElementById("found").textContent = JSON.stringify(found);
});
</script>"""


def opened(page: Path, place: Path, action: str = "return null;") -> dict[int, dict[str, Any]]:
    """Open a page in frames of `WIDTHS` (a window cannot be as narrow as a telephone).

    Parameters
    ----------
    page : Path
        HTML.
    place : Path
        Directory for a copy with a probe.
    action : str
        JavaScript, the body of an async function, that is run when the charts are drawn.

    Returns
    -------
    dict of int to dict
        By width: ``wrong`` (errors, warnings, rejected promises), ``charts`` (by the id of the
        figure, how many marks of each kind were drawn), ``scroll`` (width of the scrollable
        content), ``hacked`` (set only by an injected script), ``text`` (visible letters) and
        ``done`` (result of the action).
    """
    assert _FOUND is not None
    text = page.read_text(encoding="utf-8")
    # The library in the page contains these tags as text, too: the first and the last are the
    # page's.
    above, head, below = text.partition("<head>")
    inside, end, _ = below.rpartition("</body>")
    assert head and end
    probed = above + head + _EARS + inside + _PROBE.replace("ACTION", action) + end
    (place / "probed.html").write_text(probed, encoding="utf-8")
    frames = "".join(
        f'<iframe src="probed.html" style="width: {width}px; height: 2000px; border: 0"></iframe>'
        for width in WIDTHS
    )
    (place / "frames.html").write_text(_FRAMES + frames, encoding="utf-8")
    command = [
        _FOUND, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        # A page that fetched a resource would have an error: no name is resolved, no address is
        # reached.
        "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
        f"--user-data-dir={place / 'browser'}", f"--window-size={sum(WIDTHS)},2000",
        "--virtual-time-budget=600000", "--dump-dom", (place / "frames.html").as_uri(),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    told = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)
    assert told is not None and told[1], run.stderr[-2000:]
    return {frame["width"]: frame for frame in json.loads(unescape(told[1]))}


def assert_clean(found: dict[int, dict[str, Any]]) -> None:
    """Check that the page has no error, no horizontal scroll bar and no injected script."""
    assert sorted(found) == sorted(WIDTHS)
    for width, frame in found.items():
        assert frame["wrong"] == []
        assert frame["scroll"] <= width, f"{frame['scroll']} of {width} pixels"
        assert frame["hacked"] is None
