"""Read a report as a person would, in a real browser that may ask for nothing beyond the file."""

from pathlib import Path

from playwright.sync_api import Locator, Page, Route, sync_playwright

OF_THE_FILE = ("file:", "data:", "blob:")
FILES = {"Claims": "every claim", "Answer": "in short", "Rates": "every fit"}  # by category: the label of a file


def visit(report: Path, chromium: str, figure: str) -> dict:
    """Click through the report and return what was seen; `figure` is the label of one.

    categories in their order; width of the figure in pixels, its description; name and bytes of the files that were
    downloaded; complaints of the page; requests for anything but the file itself, all of which are refused.
    """
    seen = {"complaints": [], "requests": []}

    def guard(route: Route) -> None:
        if route.request.url.startswith(OF_THE_FILE):
            route.continue_()
        else:
            seen["requests"].append(route.request.url)
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.on("pageerror", lambda error: seen["complaints"].append(str(error)))
        page.on("console", lambda said: seen["complaints"].append(said.text) if said.type == "error" else None)
        page.route("**/*", guard)
        page.goto(report.resolve().as_uri())
        page.locator("nav li").first.wait_for()
        entries = page.locator("nav li").all_text_contents()
        seen["categories"] = entries[entries.index("Results") + 1 :]

        open_category(page, "Figures")
        buttons(page, figure).first.click()
        image = page.locator("img[src^='data:image/png']")
        image.wait_for()
        seen["width"] = image.evaluate("image => image.decode().then(() => image.naturalWidth)")
        buttons(page, figure).last.click()
        seen["description"] = page.locator("nav .prose").inner_text()

        seen["files"] = {}
        for name, label in FILES.items():
            open_category(page, name)
            with page.expect_download() as download:
                page.locator("nav tbody tr", has_text=label).locator("a[download]").click()
            seen["files"][download.value.suggested_filename] = Path(download.value.path()).read_bytes()
        browser.close()
    return seen


def open_category(page: Page, name: str) -> None:
    """From the menu, where the report opens."""
    page.reload()
    page.locator("nav li a", has_text=name).click()


def buttons(page: Page, label: str) -> Locator:
    """Of one result: the first shows it, the last tells about it."""
    return page.locator("nav tr", has_text=label).locator("a")
