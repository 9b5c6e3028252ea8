"""Pages in a real browser: Debian's Chromium without a window, driven by Playwright, and checks that fit every page.

A test takes the fixture `browser` and calls `browser.open(path)`, or `browser.check(path)` for all checks at once.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

from conftest import skip_unless_ci
from playwright import sync_api

WIDE, NARROW = 1200, 400
"""Widths of a screen and of a phone, in pixels."""
HEIGHT = 900

LINKS = """() => {
  const named = (element, name) => (element.getAttribute(name) || "").split(/\\s+/).filter(Boolean);
  const all = [...document.querySelectorAll("*")];
  const of = (names) => all.flatMap((element) => names.flatMap((name) => named(element, name)));
  return {
    ids: all.filter((element) => element.hasAttribute("id")).map((element) => element.getAttribute("id")),
    labels: of(["for", "list", "aria-labelledby", "aria-describedby", "aria-controls"]),
    links: all.flatMap((element) => ["href", "xlink:href"].map((name) => element.getAttribute(name))).filter(Boolean),
  };
}"""
"""All ids of a page, the ids that its labels name, and the addresses that it links to."""

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"
"""Waits until the page is drawn again."""

WIDTHS = """() => {
  const edge = document.documentElement.clientWidth;
  const clipped = (element) => {
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible") return true;
    return false;
  };
  const visible = (element) => getComputedStyle(element).overflowX === "visible" && !clipped(element);
  const sticksOut = (element) => element.getBoundingClientRect().right > edge + 0.5 || element.scrollWidth > edge;
  const wide = [...document.body.querySelectorAll("*")]
    .filter((element) => visible(element) && sticksOut(element))
    .map((element) => `${element.localName}.${element.getAttribute("class")}`);
  const viewport = document.querySelector('meta[name="viewport"]');
  return { width: document.documentElement.scrollWidth, wide, viewport: viewport && viewport.content };
}"""
"""The width of a page with all that does not fit, the elements that stick out, and what it says to phones."""

CONTRASTS = """() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const drawn = {};
  const channels = (colour) => {
    if (colour in drawn) return drawn[colour];
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return (drawn[colour] = [...context.getImageData(0, 0, 1, 1).data]);
  };
  const luminance = (colour) => {
    const linear = channels(colour).map((c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const probe = document.documentElement.appendChild(document.createElement("i"));
  probe.style.backgroundColor = "Canvas";
  const unpainted = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const background = (element) => {
    for (let box = element; box; box = box.parentElement) {
      const colour = getComputedStyle(box).backgroundColor;
      if (channels(colour)[3]) return colour;
    }
    return unpainted;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const contrasts = {};
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || element.closest("svg, script, style, option") || !element.checkVisibility()) continue;
    const pair = [getComputedStyle(element).color, background(element)];
    const [dark, light] = pair.map(luminance).sort((a, b) => a - b);
    contrasts[pair] ??= [(light + 0.05) / (dark + 0.05), `${pair.join(" on ")}: ${text.slice(0, 40)}`];
  }
  return Object.values(contrasts);
}"""
"""The contrast of each pair of colours that text outside of drawings has (WCAG 2.2, 1.4.3), and an example."""

LEAST_CONTRAST = 4.5


class OpenPage:
    """A page in a tab of its own; `tab` is Playwright's, for everything that has no method here."""

    def __init__(self, tab: sync_api.Page, path: Path, site: Path | None = None):
        self.tab, self.site = tab, site
        self.errors: list[str] = []
        """Errors in the console, exceptions that nothing caught, and the promises that failed."""
        self.requests: list[str] = []
        """What the page asked for besides itself and the files of its site; none of it was loaded."""
        tab.on("console", self._hear)
        tab.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        tab.on("websocket", lambda socket: self.requests.append(socket.url))
        tab.context.route("**/*", self._ask)
        self.visit(path)

    def visit(self, path: Path) -> None:
        """Load a file, another one or the same again, which takes less than a tab of its own."""
        self.path = path.resolve()
        self.tab.goto(self.path.as_uri())

    def _hear(self, message: sync_api.ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(f"{message.type}: {message.text}")

    def _ask(self, route: sync_api.Route) -> None:
        request = route.request
        own = request.is_navigation_request() and urldefrag(request.url).url == self.path.as_uri()
        if own or (self.site and request.url.startswith(f"{self.site.resolve().as_uri()}/")):
            route.continue_()
        else:
            self.requests.append(request.url)
            route.abort()

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """Evaluate an expression, or call a function with an argument, in the page; return its value."""
        return self.tab.evaluate(script, argument)

    def wait_until(self, script: str) -> None:
        """Evaluate an expression until it is true, for at most five seconds.

        Playwright's own `wait_for_function` does not work on pages whose policy forbids `eval`.
        """
        for _ in range(100):
            if self.evaluate(script):
                return
            self.tab.wait_for_timeout(50)
        raise AssertionError(f"{self.path.name}: not true within five seconds: {script}")

    def text(self, selector: str) -> str:
        """Return the text of the only element that a CSS selector matches, as it is seen."""
        return self.tab.locator(selector).inner_text()

    def click(self, selector: str) -> None:
        """Click on the only element that a CSS selector matches; wait up to five seconds until that is possible."""
        self.tab.click(selector, strict=True)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a `select` by its value."""
        self.tab.select_option(selector, value, strict=True)

    def press(self, key: str) -> None:
        """Press a key, for example Tab or ArrowRight, wherever the focus is."""
        self.tab.keyboard.press(key)

    def resize(self, width: int) -> None:
        """Change the width of the window, in pixels."""
        self.tab.set_viewport_size({"width": width, "height": HEIGHT})
        self.evaluate(DRAWN)  # what the page does when its size changes is done by then

    def no_console_errors(self) -> None:
        """Fail if the page has logged an error, or thrown one that nothing caught."""
        assert not self.errors, f"{self.path.name}: {self.errors}"

    def no_requests(self) -> None:
        """Fail if the page has asked for anything besides itself: a script, a font, a picture."""
        assert not self.requests, f"{self.path.name} asks for {self.requests}"

    def every_link_has_its_target(self) -> None:
        """Fail if two ids are equal, if a link or a label names an id that is not there, or a file that is not."""
        page = self.evaluate(LINKS)
        ids = page["ids"]
        assert len(ids) == len(set(ids)), f"used twice: {sorted({id_ for id_ in ids if ids.count(id_) > 1})}"
        lost = [name for name in page["labels"] if name not in ids]
        lost += [link for link in page["links"] if not self._leads_somewhere(link, ids)]
        assert not lost, f"{self.path.name} has no target of {lost}"

    def _leads_somewhere(self, link: str, ids: list[str]) -> bool:
        """Whether a link names an id or a file that is there; other addresses are not visited.

        The theme of a site has links to the top of the page, "#"; elsewhere, these are links that somebody forgot.
        """
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return parts.scheme != "file"
        if parts.path:
            return (self.path.parent / unquote(parts.path)).exists()
        return unquote(parts.fragment) in {*ids, "top"} or (link == "#" and self.site is not None)

    def nothing_overflows(self, width: int = NARROW) -> None:
        """Fail if the page is wider than a window of some width, or does not tell phones to use their own width."""
        self.resize(width)
        page = self.evaluate(WIDTHS)
        assert page["width"] <= width, f"{self.path.name} is {page['width']} pixels wide, because of {page['wide']}"
        assert "width=device-width" in (page["viewport"] or ""), f"{self.path.name} has no <meta name=viewport>"

    def text_is_legible(self) -> None:
        """Fail if text has too little contrast with what is behind it, for example black on the dark page."""
        faint = [example for contrast, example in self.evaluate(CONTRASTS) if contrast < LEAST_CONTRAST]
        assert not faint, f"{self.path.name} is hard to read: {faint}"


class Browser:
    """A running Chromium."""

    def __init__(self, chromium: sync_api.Browser):
        self._chromium = chromium

    @contextlib.contextmanager
    def open(
        self, path: Path, *, width: int = WIDE, dark: bool = False, site: Path | None = None
    ) -> Iterator[OpenPage]:
        """Open a local file in a window of a width, for a user who prefers light or dark pages.

        It may load files of the folder `site`, such as styles; without it, nothing.
        """
        context = self._chromium.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if dark else "light",
            service_workers="block",
        )
        context.set_default_timeout(5000)
        context.set_default_navigation_timeout(60_000)  # a busy machine is not a defect of the page
        try:
            yield OpenPage(context.new_page(), path, site)
        finally:
            context.close()

    def check(self, path: Path, *, site: Path | None = None) -> None:
        """Make all checks of a page that was just opened, light and dark, wide and narrow."""
        with self.open(path, site=site) as page:
            for dark in (False, True):
                if dark:
                    page.resize(WIDE)
                    page.tab.emulate_media(color_scheme="dark")
                    page.visit(path)
                page.every_link_has_its_target()
                page.text_is_legible()
                page.nothing_overflows(WIDE)
                page.nothing_overflows(NARROW)
                page.no_console_errors()
                page.no_requests()


def chromium_path() -> str:
    """Return the path of Chromium on this machine; skip the test if there is none, or fail in CI."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return skip_unless_ci("Chromium is not installed")


@contextlib.contextmanager
def running_browser(executable: str) -> Iterator[Browser]:
    """Start Chromium, and stop it at the end; its sandbox does not work for root."""
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, chromium_sandbox=os.geteuid() != 0)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()
