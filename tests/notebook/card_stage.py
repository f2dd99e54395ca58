"""A page with cards in it, in a real Chromium: the view's own module on a stand-in for a widget's model."""

import json
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

import codemode_jupyter.notebook
from codemode_jupyter.notebook.card.element import to_wire

SCREENSHOTS = Path(__file__).resolve().parent.parent / "screenshots"
SOURCES = Path(codemode_jupyter.notebook.__file__).parent / "js"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDTH = 820
THEMES = {
    "light": "--jp-layout-color1:#fff;--jp-content-font-color1:#212121;--jp-ui-font-family:system-ui,sans-serif;",
    "dark": "--jp-layout-color1:#111;--jp-content-font-color1:#fff;--jp-ui-font-family:system-ui,sans-serif;",
}

_PAGE = """<!doctype html><meta charset="utf-8"><title>cards</title><link rel="stylesheet" href="card.css">
<style>html{{{variables}}}
body{{margin:0;padding:16px}}
body{{background:var(--jp-layout-color1);color:var(--jp-content-font-color1)}}</style>
<body data-jp-theme-light="{light}"><div id="stage"></div><script type="module">
import card from "./card.js";
const models = [];
window.sent = [];
window.put = (place) => {{
  const el = document.createElement("div");
  el.className = place;
  document.getElementById("stage").append(el);
}};
window.mount = (tree, place) => {{
  const listeners = [];
  const call = (name) => {{ for (const [wanted, callback] of [...listeners]) if (wanted === name) callback(); }};
  const model = {{
    tree,
    place: place || `place-${{models.length}}`,
    get: (name) => model[name],
    on: (name, callback) => listeners.push([name, callback]),
    off: (name, callback) => {{
      const index = listeners.findIndex((pair) => pair[0] === name && pair[1] === callback);
      if (index >= 0) listeners.splice(index, 1);
    }},
    send: (content) => window.sent.push(content),
    set: (next) => {{ model.tree = next; call("change:tree"); }},
    cut: () => call("comm_live_update"),
    listeners,
  }};
  if (!place) window.put(model.place);
  models.push({{ model, cleanup: card.initialize({{ model }}) }});
  return models.length - 1;
}};
window.cut = (index) => models[index].model.cut();
window.update = (index, tree) => models[index].model.set(tree);
window.unmount = (index) => {{ models[index].cleanup(); return models[index].model.listeners.length; }};
window.ready = true;
</script></body>"""


class Stage:
    """One page in one theme."""

    def __init__(self, page, theme):
        self.page, self.theme, self.faults = page, theme, []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.route("http://cards.test/**", self._serve)
        page.goto("http://cards.test/")
        page.wait_for_function("window.ready === true")

    def _serve(self, route):
        name = route.request.url.rsplit("/", 1)[1]
        if name in ("card.js", "card.css"):
            kind = "text/javascript" if name.endswith("js") else "text/css"
            route.fulfill(body=(SOURCES / name).read_text(encoding="utf-8"), content_type=kind)
        elif name == "":
            light = "true" if self.theme == "light" else "false"
            route.fulfill(body=_PAGE.format(variables=THEMES[self.theme], light=light), content_type="text/html")
        else:
            self.faults.append(f"asked for {route.request.url}")
            route.abort()

    def mount(self, tree, place=""):
        return self.page.evaluate("([tree, place]) => window.mount(tree, place)", [to_wire(tree), place])

    def update(self, index, tree):
        self.page.evaluate("([index, tree]) => window.update(index, tree)", [index, to_wire(tree)])

    def put(self, place):
        """Put an empty element into the page in which a model with this place shows."""
        self.page.evaluate("place => window.put(place)", place)

    def cut(self, index):
        """Tell the view that its kernel restarts, as a front end does."""
        self.page.evaluate("index => window.cut(index)", index)

    def unmount(self, index):
        return self.page.evaluate("index => window.unmount(index)", index)

    @property
    def sent(self):
        return [
            message for message in self.page.evaluate("window.sent") if message["action"] not in ("shown", "hidden")
        ]

    def clear(self):
        self.page.evaluate("document.getElementById('stage').replaceChildren()")

    def screenshot(self, name):
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"card-{re.sub(r'[^a-z0-9-]', '-', name)}-{self.theme}.png"
        self.page.locator("#stage").screenshot(path=path)
        return path


@contextmanager
def chromium():
    program = os.environ.get("CODEMODE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def stage(browser, theme="light"):
    page = browser.new_page(viewport={"width": WIDTH, "height": 900})
    try:
        yield Stage(page, theme)
    finally:
        page.close()


def as_json(tree):
    return json.dumps(to_wire(tree))
