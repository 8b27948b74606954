"""The browser of the tests: a page that fetches something from elsewhere fails in it."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from browser import assert_clean, needs_browser, opened

PAGE = '<!doctype html><html><head><meta charset="utf-8"></head><body>{}</body></html>'


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """A server, by its address, and what it has been asked for."""
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
    """By a name and by an address, and whatever is there; nothing of it leaves the browser."""
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
