#!/usr/bin/env python3
"""Tests the HTML report in a real browser: tests/browser/run.py [WHYOOM] [--keep DIR]

Opens a single diagnosis, a batch and an empty report in headless Chromium: in light and dark mode, on a phone and without
scripts. Checks that the browser reports no errors and fetches nothing, nothing is wider than the screen, no table is cut,
text has contrast, search, sort and copy work, and each row leads to its details. --keep leaves pages, pictures and a PDF in DIR.
Without Chromium the test is skipped (status 0); REQUIRE_BROWSER=1 makes that a failure.
"""
import argparse, os, pathlib, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from browser import Browser, Page
from make_batch import make_batch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "testdata" / "cases"
BATCH = 800  # logs; some have the same failure
MOST_BYTES = 8_000_000
CONTRAST = 4.5  # WCAG 2.1, AA

# Text elements that are hard to read: [contrast, element, text], worst first.
LOW_CONTRAST = """(() => {
  const parse = (colour) => { const n = colour.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const v = c[i] / 255;
    return sum + weight * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || element.closest('title, script, style') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    let ground = behind(element);
    let ink = parse(style.color);
    if (element.tagName === 'text') {
      ink = parse(style.fill);
      const part = element.parentElement.querySelector('rect');  // a label inside a bar segment
      if (part) ground = parse(getComputedStyle(part).fill);
    }
    const [a, b] = [light(over(ink, ground)), light(ground)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < %s) found.push([contrast, element.tagName + ' ' + element.className, text.slice(0, 60)]);
  }
  return found.sort((x, y) => x[0] - y[0]).slice(0, 5);
})()""" % CONTRAST

# Elements without a name for screen readers.
UNNAMED = """[...document.querySelectorAll('svg, button, input, a, table, [role=region]')].filter((e) => {
  if (e.closest('[aria-hidden=true]') || e.parentElement.closest('svg')) return false;
  if (e.tagName === 'TABLE') return !e.querySelector('th[scope=col]') || !(e.caption || e.closest('[aria-labelledby], [aria-label], section'));
  if (e.tagName === 'INPUT') return !e.labels.length;
  return !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || (e.tagName !== 'svg' && e.textContent.trim()));
}).map((e) => e.outerHTML.slice(0, 120))"""

SKIPPED_LEVELS = """(() => {
  const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => Number(h.tagName[1]));
  return [levels.filter((l) => l === 1).length, ...levels.filter((l, i) => i && l > levels[i - 1] + 1)];
})()"""

ROWS = "[...document.querySelectorAll('table[aria-label=failures] tbody tr')]"

failures = []


def check(what, good, shown=""):
    if not good:
        failures.append(what)
        print(f"browser: FAILED: {what}: {shown}")


def print_page(whyoom, name, arguments, folder, work):
    page = folder / f"{name}.html"
    done = subprocess.run([whyoom, "--format", "html", "--exit-zero", "--output", page, *arguments], cwd=work)
    check(f"{name}: whyoom succeeds", done.returncode == 0, done.returncode)
    check(f"{name}: size", page.stat().st_size < MOST_BYTES, page.stat().st_size)
    return page


def check_look(browser, name, file, folder):
    """Checks one page on all kinds of screens."""
    for look, options in {"day": {}, "night": {"dark": True}, "phone": {"width": 360, "height": 740},
                          "larger phone": {"width": 390, "height": 844}, "noscript": {"script": False}}.items():
        what = f"{name}, {look}"
        page = Page(browser, file.as_uri(), **options)
        page.picture(folder / f"{name}-{look.replace(' ', '-')}.png", whole=False)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        check(f"{what}: no wider than the screen", wide[0] <= wide[1], wide)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        cut = page.evaluate("[...document.querySelectorAll('.scroll, table, pre, figure')].filter((e) => e.checkVisibility({contentVisibilityAuto: true}) && e.scrollWidth > e.clientWidth + 1).map((e) => [e.outerHTML.slice(0, 80), e.scrollWidth, e.clientWidth])")
        check(f"{what}: nothing is cut or scrolls sideways", not cut, cut[:3])
        low = page.evaluate(LOW_CONTRAST)
        check(f"{what}: contrast of {CONTRAST}", not low, low)
        unnamed = page.evaluate(UNNAMED)
        check(f"{what}: everything has a name for screen readers", not unnamed, unnamed[:3])
        if options.get("script", True):
            check(f"{what}: one h1, and no heading level is skipped", page.evaluate(SKIPPED_LEVELS) == [1], page.evaluate(SKIPPED_LEVELS))
        check(f"{what}: language", page.evaluate("document.documentElement.lang") == "en")
        check(f"{what}: no errors or warnings", not page.complaints(), page.complaints())
        fetched = [url for url in page.requests() if not url.startswith(("data:", file.as_uri()))]
        check(f"{what}: nothing fetched", not fetched, fetched)
    page = Page(browser, file.as_uri())
    page.print_to(folder / f"{name}.pdf")
    check(f"{name}: can be printed", (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF"))


def check_search(page):
    rows = page.evaluate(f"{ROWS}.length")
    check("all rows are shown", rows > 300, rows)
    page.evaluate("document.querySelector('input[type=search]').focus()")
    page.type_text("E1000.2  run-00")
    found = page.evaluate(f"{ROWS}.map((r) => r.textContent.toLowerCase())")
    check("search finds", 0 < len(found) < rows, len(found))
    check("search finds the right ones", all("e1000.2" in row and "run-00" in row for row in found), found[:1])
    check("search shows the number of rows", page.evaluate("document.querySelector('output').textContent").split()[0] == str(len(found)))
    page.evaluate("{ const w = document.querySelector('input[type=search]'); w.value = ''; w.dispatchEvent(new Event('input')); }")
    check("search ends", page.evaluate(f"{ROWS}.length") == rows)


def check_sort(page):
    def sorted_by(title):
        page.evaluate(f"[...document.querySelectorAll('th button')].find((b) => b.textContent === '{title}').click()")
        column = page.evaluate("document.querySelector('th[aria-sort]').cellIndex")
        return (page.evaluate("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"),
                page.evaluate(f"{ROWS}.map((r) => r.cells[{column}].textContent)"))

    direction, values = sorted_by("processes")
    values = [int(value) for value in values]
    check("numbers are sorted largest first", direction == "descending" and values == sorted(values, reverse=True) and values[0] > values[-1])
    direction, values = sorted_by("processes")
    values = [int(value) for value in values]
    check("the second click reverses the order", direction == "ascending" and values == sorted(values))
    direction, values = sorted_by("first seen")
    values = [value for value in values if value]
    check("times are sorted", direction == "ascending" and values == sorted(values) and values[0] < values[-1])
    check("one column at a time", page.evaluate("document.querySelectorAll('[aria-sort]').length") == 1)
    # The keyboard alone must be enough.
    page.evaluate("document.querySelector('th button').focus()")
    page.press_enter()
    check("a button sorts by keyboard", page.evaluate("document.querySelector('th').hasAttribute('aria-sort')"))


def check_details(page):
    page.evaluate(f"{ROWS}[0].querySelector('a').click()")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    target = page.evaluate("location.hash.slice(1)")
    check("a row leads to its details", page.evaluate(f"document.getElementById('{target}') !== null"))
    check("the details get the focus", page.evaluate("document.activeElement.id") == target)
    place = page.evaluate(f"document.getElementById('{target}').getBoundingClientRect().top")
    check("the details are in view", -50 < place < 400, place)
    return target


def check_first_screen(browser, name, file):
    """The failure and the first remedy, with a button to copy it, are on the first screen."""
    for width, height in ((1280, 900), (390, 844)):
        page = Page(browser, file.as_uri(), width=width, height=height)
        bottom = page.evaluate("document.querySelector('.first button')?.getBoundingClientRect().bottom ?? 1e9")
        check(f"{name}, {width} columns: the first remedy is on the first screen", bottom < height, bottom)


def check_moments(browser, file):
    """The arrow keys choose a moment of the program, and the page names the arrays in memory then."""
    page = Page(browser, file.as_uri())
    page.evaluate("document.querySelector('svg[role=slider]').focus()")
    before = page.evaluate("document.querySelector('svg[role=slider]').getAttribute('aria-valuetext')")
    page.evaluate("document.querySelector('svg[role=slider]').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', cancelable: true}))")
    after = page.evaluate("document.querySelector('svg[role=slider]').getAttribute('aria-valuetext')")
    check("the keyboard chooses a moment", before != after and after.startswith("0 %"), [before, after])


def check_copy(browser, name, file, expected):
    """The first button copies what to type, and says so."""
    page = Page(browser, file.as_uri())
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.evaluate("document.querySelector('.first button').focus()")
    page.press_enter()
    copied = page.evaluate("new Promise((done) => setTimeout(() => done([window.copied, document.activeElement.textContent]), 100))")
    check(f"{name}: the button copies what to type", copied == [expected, "Copied"], copied)


def check_phone_table(browser, file):
    """On a phone a long table scrolls, and its columns can be sorted."""
    page = Page(browser, file.as_uri(), width=390, height=844)
    height = page.evaluate("document.querySelector('.scroll').clientHeight")
    check("a table is not higher than the phone", height < 844, height)
    shown = page.evaluate("[...document.querySelectorAll('th button')].filter((b) => b.checkVisibility()).length")
    check("a phone has the buttons that sort", shown == page.evaluate("document.querySelectorAll('th').length"), shown)
    aligned = page.evaluate("[...new Set([...document.querySelectorAll('td')].map((d) => getComputedStyle(d).textAlign))]")
    check("the lines of a row begin at the left", aligned == ["left"], aligned)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("whyoom", nargs="?", default=ROOT / "build/release/whyoom", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("browser: skipped: no Chromium (Debian: apt-get install chromium)")
        return 1 if os.environ.get("REQUIRE_BROWSER", "0") != "0" else 0
    whyoom = options.whyoom.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        folder = options.keep.resolve() if options.keep else work / "kept"
        folder.mkdir(parents=True, exist_ok=True)
        make_batch(CASES, work / "logs", BATCH)
        (work / "empty.log").write_text("all is well\n")
        pages = {"empty": print_page(whyoom, "empty", ["empty.log", "not-there.log"], folder, work),
                 "batch": print_page(whyoom, "batch", ["logs"], folder, work)}
        pages["few"] = print_page(whyoom, "few", ["compile-adam-state/log", "dump-padded-points", "compile-sparsecore/log"], folder, CASES)
        pages["dump"] = print_page(whyoom, "dump", ["log", "dump"], folder, CASES / "dump-adam-layers")
        (work / "<img src=x onerror=attacked=true>.log").write_text((CASES / "compile-padded-points/log").read_text().replace(
            "jit_rotate_tracks", "</script><script>window.attacked=true</script>").replace("d_points", "<b onclick='attacked=true'>"))
        pages["hostile"] = print_page(whyoom, "hostile", ["<img src=x onerror=attacked=true>.log"], folder, work)
        for case in ("compile-padded-points", "compile-adam-state", "buffer-fragmented"):
            pages[case] = print_page(whyoom, case, ["log"], folder, CASES / case)
        with Browser(program) as browser:
            for name, file in pages.items():
                check_look(browser, name, file, folder)
            for name in ("dump", "compile-padded-points"):
                check_first_screen(browser, name, pages[name])
            check_copy(browser, "dump", pages["dump"], "donate_argnames=['mu', 'nu', 'ps']")
            check_copy(browser, "compile-padded-points", pages["compile-padded-points"], "Merge the small axes of pts, such as "
                       "(N, 4, 2) to (N, 8), or reorder them so that a long one is last: (small, ..., long).")
            check_moments(browser, pages["dump"])
            check_phone_table(browser, pages["batch"])
            page = Page(browser, pages["batch"].as_uri())
            check_search(page)
            check_sort(page)
            target = check_details(page)
            # A URL with a fragment opens that failure.
            linked = Page(browser, pages["batch"].as_uri() + "#" + target)
            check("a URL leads to details", linked.evaluate(f"document.getElementById('{target}') !== null"))
            hostile = Page(browser, pages["hostile"].as_uri())
            check("no script of a log runs", not hostile.evaluate("window.attacked === true"))
            check("no errors or warnings at the end", not page.complaints() + linked.complaints() + hostile.complaints(), page.complaints())
    print(f"browser: {'FAILED: ' + str(len(failures)) if failures else f'{len(pages)} pages passed'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
