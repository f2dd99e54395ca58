"""The page's code in a real Chromium, with Workers that do whatever a hostile program might."""

import json

import pytest
import pytest_asyncio

from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")

OBEDIENT = """
onmessage = ({ ports: [port] }) => {
  globalThis.post = (value) => port.postMessage(value);
  port.onmessage = ({ data }) => {
    port.onmessage = ({ data }) => post("echo " + data);
    new Function(data)();
  };
};
"""
"""A Worker that runs the text it is started with, and echoes later ones: no runtime in the program's way."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with chromium() as opened:
        yield opened


class Desk:
    """A page with obedient Workers, and the kernel's end of its channel."""

    def __init__(self, pages):
        self.pages = pages
        self.tab = pages.tabs[0]
        self.id = pages.heard[0]["from"]

    def send(self, kind, **fields):
        self.tell(self.id, kind, **fields)

    def tell(self, page_id, kind, *, owner="kernel", **fields):
        defaults = {"start": {"policy": "", "over": []}, "prepare": {"policy": ""}}.get(kind, {})
        self.pages.send({"to": page_id, "owner": owner, "type": kind, **defaults, **fields})

    def texts(self, run=None):
        """The complete texts that arrived, put together from their pieces."""
        texts, open_pieces = [], {}
        for message in self.pages.heard:
            for run_id, piece, is_more_coming in message.get("texts", ()):
                open_pieces[run_id] = open_pieces.get(run_id, "") + piece
                if not is_more_coming and run in (None, run_id):
                    texts.append(open_pieces.pop(run_id))
        return texts

    async def until_text(self, text, run=None):
        await self.pages.until(lambda: text in self.texts(run))

    async def pong(self):
        """Wait until the page and its current frame have done all that was asked before."""
        run = f"pong-{len(self.pages.sent)}"
        self.send("start", run=run, text="post('pong')")
        await self.until_text("pong", run)
        self.send("end", runs=[run])

    async def frames(self):
        return await self.tab.locator("iframe").count()


@pytest_asyncio.fixture(loop_scope="module")
async def desk(browser):
    async with open_pages(browser, OBEDIENT) as pages:
        yield Desk(pages)


async def test_a_page_says_hello_with_a_random_id_and_no_query(desk):
    hello = desk.pages.heard[0]
    assert hello["type"] == "hello"
    assert len(hello["from"]) == 32
    assert hello["path"] == "/"
    assert "Chrome" in hello["agent"]


async def test_what_a_worker_posts_arrives_under_the_id_of_its_run(desk):
    desk.send("start", run="one", text="post('from one')")
    desk.send("start", run="two", text="post('from two')")
    await desk.until_text("from one", "one")
    await desk.until_text("from two", "two")


async def test_a_text_of_the_kernel_reaches_only_the_worker_of_its_run(desk):
    desk.send("start", run="one", text="post('ready')")
    desk.send("start", run="two", text="post('ready')")
    await desk.until_text("ready", "one")
    await desk.until_text("ready", "two")
    desk.send("text", run="one", text="hello")
    desk.send("text", run="nobody", text="hello")
    await desk.until_text("echo hello", "one")
    await desk.pong()
    assert desk.texts("two") == ["ready"]


async def test_messages_for_another_page_are_ignored(desk):
    desk.tell("another", "start", run="x", text="post('ran')")
    await desk.pong()
    assert desk.texts("x") == []


async def test_texts_that_arrive_together_leave_together(desk):
    program = "post('ready'); setTimeout(() => { for (let i = 0; i < 500; i++) post(`${i}`) }, 200)"
    desk.send("start", run="many", text=program)
    await desk.until_text("ready", "many")
    before = len(desk.pages.heard)
    await desk.tab.evaluate("() => { const end = performance.now() + 1500; while (performance.now() < end); }")
    await desk.until_text("499", "many")
    assert desk.texts("many") == ["ready", *(str(number) for number in range(500))]
    assert len(desk.pages.heard) - before < 50


async def test_a_long_text_arrives_in_pieces_that_fit_the_websocket(desk):
    program = "post('<' + '😀\\u0001\"'.repeat(800_000) + '>')"
    desk.send("start", run="long", text=program)
    expected = "<" + '😀\u0001"' * 800_000 + ">"
    await desk.until_text(expected, "long")
    pieces = [message for message in desk.pages.heard if message["type"] == "texts"]
    assert len(pieces) > 3
    assert max(len(json.dumps(message, ensure_ascii=False).encode()) for message in pieces) < 10 * 2**20


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("post({type: 'done'})", "protocol"),
        ("post(new Uint8Array(5))", "protocol"),
        ("post('\\ud800')", "protocol"),
        ("post('x'.repeat(33 * 2 ** 20))", "too_large"),
        ("for (let i = 0; i < 10; i++) post('x'.repeat(7 * 2 ** 20))", "too_large"),
        ("for (let i = 0; i < 20_001; i++) post('x')", "protocol"),
        ("while (true) post({})", "protocol"),
    ],
)
async def test_a_worker_that_breaks_a_limit_is_cut(desk, program, kind):
    desk.send("start", run="bad", text=program)
    cut = await desk.pages.until_heard("cut")
    assert (cut["run"], cut["kind"]) == ("bad", kind)
    before = len(desk.texts("bad"))
    await desk.pong()
    assert len(desk.texts("bad")) == before


async def test_nothing_arrives_from_a_run_that_was_ended(desk):
    desk.send("start", run="chatty", text="setInterval(() => post('still here'), 1)")
    await desk.until_text("still here", "chatty")
    desk.send("end", runs=["chatty"])
    await desk.pong()
    before = len(desk.texts("chatty"))
    for _ in range(3):
        await desk.pong()
    assert len(desk.texts("chatty")) == before


async def test_a_killed_endless_loop_leaves_the_page_usable_and_the_next_run_works(desk):
    desk.send("start", run="loop", text="post('looping'); while (true) {}")
    await desk.until_text("looping", "loop")
    await desk.tab.evaluate("window.gap = 0")
    desk.send("kill", run="loop")
    await desk.pong()
    assert await desk.tab.evaluate("window.gap") < 1000
    assert await desk.frames() == 1


async def test_a_kill_spares_the_other_runs_of_the_frame(desk):
    desk.send("start", run="good", text="post('ready')")
    desk.send("start", run="loop", text="post('looping'); while (true) {}")
    await desk.until_text("ready", "good")
    await desk.until_text("looping", "loop")
    desk.send("kill", run="loop")
    await desk.pong()
    desk.send("text", run="good", text="are you there")
    await desk.until_text("echo are you there", "good")
    assert await desk.frames() == 2
    desk.send("end", runs=["good"])
    await desk.pong()
    assert await desk.frames() == 1


async def test_a_ping_is_answered_and_ends_runs_that_the_kernel_has_forgotten(desk):
    desk.send("start", run="known", text="post('ready')")
    desk.send("start", run="orphan", text="setInterval(() => post('still here'), 1)")
    desk.tell(desk.id, "start", owner="other", run="others", text="post('ready')")
    await desk.until_text("ready", "known")
    await desk.until_text("ready", "others")
    await desk.until_text("still here", "orphan")
    desk.send("ping", runs=["known"])
    await desk.pages.until_heard("pong")
    before = len(desk.texts("orphan"))
    desk.send("text", run="known", text="hello")
    await desk.until_text("echo hello", "known")
    desk.pages.send({"to": desk.id, "owner": "other", "type": "text", "run": "others", "text": "hello"})
    await desk.until_text("echo hello", "others")
    assert len(desk.texts("orphan")) == before


async def test_a_pass_for_which_a_text_did_not_arrive_is_lost_and_the_kernel_hears_how_many_were_sent(desk):
    for run in ("whole", "torn"):
        desk.send("start", run=run, text="post('ready')")
        await desk.until_text("ready", run)
    desk.send("text", run="whole", text="hello")
    await desk.until_text("echo hello", "whole")
    desk.send("ping", runs=["whole", "torn", "never started"], texts=[2, 2, 1])
    lost = await desk.pages.until_heard("lost")
    assert (lost["runs"], lost["reason"]) == (["torn"], "connection")
    assert (await desk.pages.until_heard("pong"))["runs"] == [["whole", 2], ["torn", -1], ["never started", -1]]


async def test_a_dead_frame_is_noticed_its_runs_are_lost_and_the_next_run_works(desk):
    desk.send("start", run="doomed", text="post('ready')")
    await desk.until_text("ready", "doomed")
    # What the end of the frame's process leaves behind: an iframe that answers nothing.
    await desk.tab.evaluate("document.querySelector('iframe').srcdoc = '<p>gone</p>'")
    lost = await desk.pages.until_heard("lost")
    assert (lost["runs"], lost["reason"]) == (["doomed"], "frame")
    await desk.pong()
    assert await desk.frames() == 1


async def test_the_global_post_message_of_a_worker_reaches_nobody(desk):
    desk.send("start", run="global", text="self.postMessage('unheard'); post('heard')")
    await desk.until_text("heard", "global")
    await desk.pong()
    assert desk.texts("global") == ["heard"]


async def test_a_worker_cannot_load_the_runtime_a_second_time(desk):
    program = "try { importScripts(location.href); post('loaded') } catch { post('refused') }"
    desk.send("start", run="again", text=program)
    await desk.until_text("refused", "again")


async def test_the_frame_takes_orders_from_nobody_but_the_page_that_made_it(desk):
    await desk.pong()
    await desk.tab.evaluate(
        """() => new Promise((resolve) => {
          const channel = new MessageChannel();
          channel.port1.onmessage = ({ data }) => { window.stolen = data; };
          const intruder = document.createElement("iframe");
          intruder.srcdoc = `<script>onmessage = ({ ports }) => {
            const message = { type: "start", run: "forged", text: "post('forged')" };
            parent[0][0].postMessage(message, "*", [...ports]);
            parent.postMessage({ from: "forged", type: "hello" }, "*");
            parent.postMessage({ type: "text", run: "forged", text: "forged" }, "*");
          }<\\/script>`;
          intruder.onload = () => { intruder.contentWindow.postMessage(null, "*", [channel.port2]); resolve(); };
          document.body.append(intruder);
        })""",
    )
    await desk.pong()
    await desk.pong()
    assert desk.texts("forged") == []
    assert {message["from"] for message in desk.pages.heard} == {desk.id}
    assert await desk.tab.evaluate("window.stolen") is None


async def test_two_widgets_in_one_page_do_not_meet(desk):
    await desk.tab.evaluate("window.widgets.push(window.startWidget())")
    second = (await desk.pages.until_heard("hello", 2))["from"]
    assert second != desk.id
    desk.send("start", run="same", text="post('first')")
    desk.tell(second, "start", run="same", text="post('second')")
    await desk.until_text("first")
    await desk.until_text("second")
    senders = {text: message["from"] for message in desk.pages.heard for _, text, _ in message.get("texts", ())}
    assert senders == {"first": desk.id, "second": second}
    desk.pages.send({"to": second, "owner": "kernel", "type": "kill", "run": "same"})
    desk.send("text", run="same", text="hello")
    await desk.until_text("echo hello", "same")


async def test_closing_the_widget_leaves_nothing_in_the_page(desk):
    await desk.pong()
    await desk.tab.evaluate("window.widgets[0].cleanup()")
    assert await desk.frames() == 0
    assert await desk.tab.locator("body").inner_text() == "A page."
    heard = len(desk.pages.heard)
    desk.send("who")
    assert await desk.tab.evaluate("1 + 1") == 2
    assert len(desk.pages.heard) == heard


async def test_runs_end_when_the_kernel_is_silent_for_a_minute(desk):
    await desk.tab.clock.install()
    await desk.pages.load(desk.tab)
    desk.id = desk.pages.heard[-1]["from"]
    desk.send("start", run="forsaken", text="post('ready'); while (true) {}")
    await desk.until_text("ready", "forsaken")
    await desk.tab.clock.fast_forward(50_000)
    desk.send("ping", runs=["forsaken"])
    await desk.pages.until_heard("pong")
    await desk.tab.clock.fast_forward(50_000)
    assert not [message for message in desk.pages.heard if message["type"] == "lost"]
    await desk.tab.clock.fast_forward(50_000)
    lost = await desk.pages.until_heard("lost")
    assert (lost["runs"], lost["reason"]) == (["forsaken"], "kernel")


async def test_a_restarting_kernel_leaves_no_sandbox_behind(desk):
    desk.send("start", run="old", text="post('ready')")
    await desk.until_text("ready", "old")
    await desk.tab.evaluate("window.widgets[0].trigger('comm_live_update')")
    assert await desk.frames() == 0
    await desk.pong()
    assert await desk.frames() == 1


async def test_a_reload_says_bye_and_hello_under_a_new_id(desk):
    await desk.pages.load(desk.tab)
    assert (await desk.pages.until_heard("bye"))["from"] == desk.id
    assert (await desk.pages.until_heard("hello", 2))["from"] != desk.id


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("script-src 'self' 'nonce-page'", "run scripts"),
        ("script-src 'self' 'unsafe-inline'", "code made from text"),
        ("script-src 'self' 'unsafe-inline' 'unsafe-eval'; worker-src 'none'", "Worker"),
    ],
)
async def test_a_page_whose_policy_forbids_the_sandbox_says_so(browser, policy, words):
    async with open_pages(browser, OBEDIENT, policy=policy) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        message = (await pages.until_heard("unusable"))["message"]
        assert words in message
        assert "Content-Security-Policy" in message
        assert await desk.frames() == 0
