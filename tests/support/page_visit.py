"""Look at results/index.html as people do, in a real browser that may ask for nothing beyond the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PAPER = {"width": 688, "height": 1001}  # A4 less the margins of the style sheet, in pixels of CSS
# The contrast of WCAG 2 of every piece of text that is shown, against the first background behind it: those too low.
CONTRASTS = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const clear = (colour) => channels(colour).length === 4 && channels(colour)[3] === 0;
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return clear(colour) && element.parentElement ? behind(element.parentElement) : colour;
  };
  const low = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const unseen = !element.checkVisibility() || element.closest("svg, script, noscript");
    if (unseen || !texts.currentNode.textContent.trim()) continue;
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) low.push(`${contrast.toFixed(2)} ${texts.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return low;
}"""
# What reaches beyond the right edge of the window, unless it is an inner part of a figure.
SIDEWAYS = """() => [...document.querySelectorAll("body *:not(svg *)")]
  .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 80))"""
CARDS = """() => [...document.querySelectorAll(".card")].map((card) => ({
  id: card.id.replace("claim-", ""),
  verdict: card.querySelector(".verdict").innerText.trim(),
  text: card.textContent,
  figures: [...card.querySelectorAll('.origin a[href^="#"]')].map((link) => link.hash.slice(1)),
}))"""
# What is higher than a sheet of paper, or may be cut between two.
TALL = """(height) => [...document.querySelectorAll(".plate, .card, .numbers, tr")]
  .filter((element) => element.checkVisibility())
  .filter((element) =>
    getComputedStyle(element).breakInside !== "avoid" || element.getBoundingClientRect().height > height)
  .map((element) => element.outerHTML.slice(0, 80))"""


@contextmanager
def opened(path: Path, chromium: str, width: int = 1400, scheme: str = "light") -> Iterator[tuple[Page, list[str]]]:
    """The page in a window of this width, and what it complained of: errors, and requests for anything else."""
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        looks = {"color_scheme": scheme, "reduced_motion": "reduce"}
        page = browser.new_page(viewport={"width": width, "height": 900}, **looks)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url != path.resolve().as_uri() else None)
        page.goto(path.resolve().as_uri())
        page.wait_for_load_state("load")
        yield page, complaints
        browser.close()


def numbers(page: Page) -> dict[str, str]:
    """What the page shows of the chosen head."""
    cells = page.locator("[data-of]").evaluate_all("cells => cells.map(cell => [cell.dataset.of, cell.textContent])")
    return dict(cells) | {"of": page.locator("#chosen").inner_text()}


def drawn(page: Page) -> None:
    """Wait for the charts."""
    for chart in page.locator("[data-chart]").all():
        chart.locator("svg").wait_for()
