#!/usr/bin/env python3
"""A page in a real Chromium: browser.py PAGE.html [WIDTH HEIGHT]

Opens a file of `--format html` (benches/big_page.py makes one of 10,000 pods and a million facts) and prints, by the
browser's own clock and trace: milliseconds from the request for the page to the first picture, frames a second while it
is zoomed and panned, the longest frame, and what its renderer and its script take of memory. Exits with 1 where one
of these misses what issue 18 asks for: 1 s, 50 frames a second, 300 MB, 3 MB.
"""
import json, os, pathlib, shutil, sys, tempfile, time

PROGRAM = shutil.which("chromium") or sys.exit("chromium is not installed")
SECONDS = 5
# Reports of a usual mouse a second: fewer than the frames of a screen, and the hand would be measured instead of the page.
REPORTS = 125


class Browser:
    """Chromium spoken to through its pipe: a message ends with a null byte."""

    def __init__(self, profile):
        to_child, self.out = os.pipe()
        self.inbox, from_child = os.pipe()
        for fd in (to_child, from_child):
            os.set_inheritable(fd, True)
        self.pid = os.fork()
        if self.pid == 0:
            # The pipe's ends are 3 and 4; first out of each other's way.
            high = [os.dup2(to_child, 100), os.dup2(from_child, 101)]
            os.dup2(high[0], 3), os.dup2(high[1], 4)
            quiet = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(quiet, fd)
            os.execv(PROGRAM, [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                               "--disable-component-update", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"])
        os.close(to_child), os.close(from_child)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inbox, 1 << 20)
            if not piece:
                sys.exit("the browser is gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, params=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        return self.number

    def call(self, method, **params):
        number = self.send(method, params)
        while True:
            message = self.read()
            if message.get("id") == number:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def until(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def eval(self, expression):
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            sys.exit(f"{expression}: {told['exceptionDetails']}")
        return told["result"].get("value")


# Notes when the picture was drawn first: two frames after the script has it, the first of them is on the screen.
WATCH = """
(() => {
  const look = () => {
    if (window.__picture) requestAnimationFrame(() => requestAnimationFrame(() => { window.__drawn = performance.now(); }));
    else requestAnimationFrame(look);
  };
  look();
})();
"""


def memory(browser):
    """Resident private MiB of the largest renderer among the descendants of a browser, and of all of its processes."""
    parents, renderers, found, whole = {}, [], 0, 0
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"--type=renderer" in (entry / "cmdline").read_bytes():
                renderers.append(int(entry.name))
        except OSError:
            continue  # It ended meanwhile.
    for pid in parents:
        above = pid
        while above not in (0, browser):
            above = parents.get(above, 0)
        if above == browser:
            try:
                lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            own = sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) >> 10
            whole += own
            found = max(found, own if pid in renderers else 0)
    return found, whole


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    width, height = (int(word) for word in (sys.argv[2:4] or ["1280", "900"]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            return measured(browser, page, width, height)
        finally:
            os.kill(browser.pid, 9)
            os.waitpid(browser.pid, 0)


def measured(browser, page, width, height):
    size = page.stat().st_size
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Performance"):
        browser.call(f"{domain}.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    _, empty = memory(browser.pid)
    first = []
    for _ in range(3):
        browser.events.clear()
        browser.call("Page.navigate", url=f"file://{page}")
        browser.until("Page.loadEventFired")
        while not (drawn := browser.eval("window.__drawn ?? 0")):
            time.sleep(0.02)
        first.append(drawn)
    browser.eval("document.querySelector('.lanes').scrollIntoView({ block: 'center' })")
    box = browser.eval("(() => { const b = document.querySelector('canvas.plot').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    x, y = box[0] + box[2] / 2, min(max(box[1], 0) + 150, height - 50)
    kinds = {}
    for kind in ("zoom", "pan"):
        browser.events.clear()
        browser.call("Tracing.start", categories="-*,devtools.timeline.frame,disabled-by-default-devtools.timeline.frame,devtools.timeline",
                     transferMode="ReportEvents")
        begun, moves = time.monotonic(), 0
        if kind == "pan":
            browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        while (spent := time.monotonic() - begun) < SECONDS:
            if kind == "zoom":
                closer = int(spent * 2) % 2 == 0
                # A hand does not wait for the picture.
                browser.send("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -20 if closer else 20, "modifiers": 2})
            else:
                away = abs(int(spent * 400) % 400 - 200) - 100
                browser.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x + away, "y": y, "button": "left", "buttons": 1})
            moves += 1
            time.sleep(max(0, begun + moves / REPORTS - time.monotonic()))
        if kind == "pan":
            browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
        browser.call("Tracing.end")
        browser.until("Tracing.tracingComplete")
        trace = [event for message in browser.events if message.get("method") == "Tracing.dataCollected" for event in message["params"]["value"]]
        if os.environ.get("TRACE"):
            pathlib.Path(f"{os.environ['TRACE']}.{kind}.json").write_text(json.dumps(trace))
        frames = sorted(event["ts"] for event in trace if event["name"] == "DrawFrame")
        gaps = [(b - a) / 1e3 for a, b in zip(frames, frames[1:])]
        tasks = [event["dur"] / 1e3 for event in trace if event["name"] == "FireAnimationFrame" and "dur" in event]
        rate = (len(frames) - 1) / ((frames[-1] - frames[0]) / 1e6) if len(frames) > 1 else 0
        kinds[kind] = rate
        print(f"{kind}: {rate:.1f} frames a second over {len(frames)} frames, {moves} moves of the hand; the longest gap {max(gaps, default=0):.0f} ms; "
              f"the script's frame takes {sum(tasks) / max(len(tasks), 1):.1f} ms on average, {max(tasks, default=0):.1f} ms at most")
    metrics = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
    heap, (renderer, whole) = metrics["JSHeapUsedSize"] / 2**20, memory(browser.pid)
    print(f"first picture after {', '.join(f'{one:.0f}' for one in first)} ms; {size:,} bytes; script heap {heap:.0f} MiB; renderer {renderer} MiB of its own, "
          f"the whole browser {whole} MiB (with an empty page {empty} MiB); "
          f"{metrics['Nodes']:.0f} nodes")
    missed = [what for what, is_missed in (("first picture", min(first) > 1000), ("zoom", kinds["zoom"] < 50), ("pan", kinds["pan"] < 50),
                                           ("memory", renderer > 300), ("bytes", size > 3_000_000)) if is_missed]
    print("missed: " + ", ".join(missed) if missed else "all within the bounds")
    return 1 if missed else 0


sys.exit(main())
