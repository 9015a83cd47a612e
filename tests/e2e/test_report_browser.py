"""The report's page in a real browser: no console message, no request, light and dark, and usable by keys."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from deltann_analyzer.handler import write_report
from made_sweep import SWEEP, made_sweep

from deltann.installed import find_chromium
from deltann.store import LocalStore

pytestmark = pytest.mark.browser

BROWSER = find_chromium()
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
)  # fmt: skip

PROBE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const visible = (node) => node.getBoundingClientRect().height > 0;
  const table = document.querySelector("table[data-heat]");
  table.focus();
  table.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
  const grid = document.querySelector("table.grid"), scroll = grid.parentElement;
  scroll.scrollLeft = 10000;
  const left = (node) => Math.round(node.getBoundingClientRect().left);
  const scrolled = {by: scroll.scrollLeft, row: left(grid.tBodies[0].rows[0].cells[0]) - left(scroll)};
  location.hash = "#conversion-c-tflite";
  setTimeout(() => {
    document.body.setAttribute("data-probe", JSON.stringify({
      sections: [...document.querySelectorAll("main > section")].filter(visible).map((section) => section.id),
      readout: document.querySelector("[data-readout]").textContent,
      opened: document.getElementById("conversion-c-tflite").open,
      pictures: [...document.images].filter((image) => image.naturalWidth > 0).length,
      requests: performance.getEntriesByType("resource").filter((entry) => !entry.name.startsWith("data:")).length,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      scrolled,
      background: getComputedStyle(document.body).backgroundColor,
    }));
  }, 100);
}, 100));
</script>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("page")
    store = LocalStore(root / "store")
    made_sweep(store)
    write_report(store, SWEEP, root / "report", root / "scratch")
    text = (root / "report" / "report.html").read_text()
    assert "<img" in text
    (root / "report" / "probed.html").write_text(
        text.replace("</body>", PROBE + "</body>").replace(' loading="lazy"', "")
    )
    return root / "report" / "probed.html"


@pytest.fixture(scope="module")
def browser() -> str:
    if BROWSER is None:
        pytest.fail("These tests need a headless Chromium: run `make test-browser`, or apt-get install chromium.")
    return BROWSER


def look(browser: str, page: Path, profile: Path, *more: str) -> tuple[dict[str, object], str]:
    """What the probe in the page saw, and what the console said."""
    done = subprocess.run(
        [browser, *FLAGS, f"--user-data-dir={profile}", "--enable-logging=stderr", "--v=0", "--timeout=20000",
         "--virtual-time-budget=4000", *more, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    start = done.stdout.index('data-probe="') + len('data-probe="')
    probed = done.stdout[start : done.stdout.index('"', start)]
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return json.loads(probed.replace("&quot;", '"')), console


def test_page_loads_in_a_browser_and_works_by_keys(browser: str, page: Path, tmp_path: Path) -> None:
    seen, console = look(browser, page, tmp_path / "profile", "--window-size=1280,900")
    assert console == ""
    assert seen["sections"] == [
        "findings", "gates", "agreement", "conversions", "faults", "labels-times", "spread", "changed", "failures",
        "questions", "settings",
    ]  # fmt: skip
    assert seen["pictures"] == 10 + 3  # photos, and the maps of a fault
    assert seen["requests"] == 0
    assert seen["overflow"] == 0
    assert seen["opened"] is True
    assert "25.0 % of labels differ" in str(seen["readout"])


def test_page_follows_the_colour_scheme_and_fits_a_telephone(browser: str, page: Path, tmp_path: Path) -> None:
    light, _ = look(browser, page, tmp_path / "light", "--blink-settings=preferredColorScheme=1")
    dark, console = look(
        browser, page, tmp_path / "dark", "--blink-settings=preferredColorScheme=0", "--window-size=500,900"
    )
    assert console == ""
    assert light["background"] == "rgb(251, 250, 248)"
    assert dark["background"] == "rgb(20, 24, 28)"
    assert dark["overflow"] == 0
    scrolled = dark["scrolled"]
    assert isinstance(scrolled, dict)
    assert scrolled["by"] > 0, "the table is wider than the telephone"
    assert abs(scrolled["row"]) <= 2, "the names of its rows stay in sight"
