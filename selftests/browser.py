"""A tab of headless Chromium, driven by the DevTools protocol, for tests of pages and of viewers that are pages.

    async with browser_tab() as tab:
        await tab.open(url)
        await tab.value("document.title")
"""
import asyncio
import contextlib
import json
import subprocess
import tempfile
import urllib.request

import websockets


# A page of this project is complete.
OURS = "document.documentElement?.dataset.ready === 'yes'"


def check(condition, what):
    if not condition:
        raise SystemExit(f"browser: {what}")


class Tab:
    def __init__(self, socket):
        self.socket, self.last, self.errors = socket, 0, []

    async def call(self, method, **parameters):
        self.last += 1
        await self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            message = json.loads(await asyncio.wait_for(self.socket.recv(), 120))
            self.note(message)
            if message.get("id") == self.last:
                check("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]

    def note(self, message):
        details = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(details["exceptionDetails"].get("text", "") + str(details["exceptionDetails"].get("exception", {}).get("description")))
        if message.get("method") == "Log.entryAdded" and details["entry"]["level"] == "error" and "favicon" not in details["entry"].get("url", ""):
            self.errors.append(f'{details["entry"]["text"]} {details["entry"].get("url", "")}')

    async def value(self, expression):
        result = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        check("exceptionDetails" not in result, f"{expression[:200]}: {result.get('exceptionDetails')}")
        return result["result"].get("value")

    async def until(self, expression, what, seconds=30):
        for _ in range(seconds * 20):
            if await self.value(expression):
                return
            await asyncio.sleep(0.05)
        check(False, f"{what}; errors: {self.errors}")

    async def open(self, url, ready=OURS):
        """Waits until an expression is true in the page."""
        await self.call("Page.navigate", url="about:blank")
        await self.call("Page.navigate", url=url)
        await self.until(ready, f"{url} is not ready")

    async def key(self, key):
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)


@contextlib.asynccontextmanager
async def browser_tab():
    """The one tab of a new browser, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
            f"--user-data-dir={profile}", "--no-first-run", "about:blank"], stderr=subprocess.PIPE, text=True)
        try:
            for line in browser.stderr:
                if "DevTools listening on" in line:
                    break
            port = line.split(":")[2].split("/")[0]
            pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
            page = next(p for p in pages if p["type"] == "page")
            async with websockets.connect(page["webSocketDebuggerUrl"], max_size=None, ping_interval=None) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(domain + ".enable")
                yield tab
        finally:
            browser.kill()
            browser.wait()
