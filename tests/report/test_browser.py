"""The browser of the tests: a page that fetches a resource from elsewhere fails in it."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import lightburst as lb
from browser import WIDTHS, assert_clean, needs_browser, opened
from lightburst.cli import main

PAGE = '<!doctype html><html><head><meta charset="utf-8"></head><body>{}</body></html>'


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """A server, by its address, and the requests that it got."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "image/svg+xml")
            self.end_headers()
            self.wfile.write(b'<svg xmlns="http://www.w3.org/2000/svg"/>')

        def log_message(self, format: str, *words: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}", asked
        server.shutdown()


@needs_browser
@pytest.mark.parametrize(
    "body",
    [
        "here",
        '<img src="{}/image.svg">',
        '<script src="{}/script.js"></script>',
        '<link rel="stylesheet" href="{}/style.css">',
        '<script>fetch("{}/data")</script>',
    ],
    ids=["nothing", "image", "script", "style", "fetch"],
)
def test_a_page_that_fetches_something_fails(
    tmp_path: Path, outside: tuple[str, list[str]], body: str
) -> None:
    """By a name and by an address, for any server there; no request leaves the browser."""
    address, asked = outside
    for place in (address, address.replace("localhost", "127.0.0.1")):
        page = tmp_path / "page.html"
        page.write_text(PAGE.format(body.format(place)), encoding="utf-8")
        found = opened(page, tmp_path)
        if body == "here":
            assert_clean(found)
            continue
        with pytest.raises(AssertionError):
            assert_clean(found)
    assert asked == []


@needs_browser
def test_the_page_of_groups_warns_of_nothing(tmp_path: Path) -> None:
    """Vega warned so, for widths of lines by a field without an order."""
    lb.run("examples/groups.toml").save(tmp_path / "out")
    assert main(["report", str(tmp_path / "out")]) == 0
    assert_clean(opened(tmp_path / "out/index.html", tmp_path))


# Texts of charts that are cut off.
CUT_OFF = """
return [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
  const around = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < around.left - 1 || box.right > around.right + 1);
  }).map((text) => text.textContent);
});
"""

LONG_NAMES = """
seeds = 2
compare = [["the first of two variants with a very long name", "the second one of these variants"]]
[variants]
"the first of two variants with a very long name" = { "switching.buffer_ports" = 0 }
"the second one of these variants" = { "switching.buffer_ports" = 2 }
[scenario]
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "hybrid" }
transport = { kind = "sawl" }
[scenario.workload]
kind = "poisson"
arrival_rate = "1e6 /s"
flows = 20
size = { kind = "constant", value = "20 kB" }
"""


@needs_browser
def test_long_names_of_variants_fit_into_a_telephone(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(LONG_NAMES, encoding="utf-8")
    swept = lb.sweep(tmp_path / "study.toml", progress=False)
    swept.save(tmp_path / "out")
    assert main(["report", str(tmp_path / "out")]) == 0
    found = opened(tmp_path / "out/index.html", tmp_path, CUT_OFF)
    assert {width: frame["done"] for width, frame in found.items()} == {
        width: [] for width in WIDTHS
    }
