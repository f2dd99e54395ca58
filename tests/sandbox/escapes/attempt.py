"""Try many ways at once in one program, and tell which of them worked.

What a way took is told as it came; that somebody heard of it is told as ``ARRIVED``.
"""

import asyncio
import json
import textwrap

from tests.sandbox.escapes.listeners import CANARY
from tests.sandbox.escapes.python_ways import PREPARED

ARRIVED = "arrived"


def program(targets, ways, *, limit=1000):
    """Return an async function's text that tries all ways at once, each at most ``limit`` ms.

    It returns what the ways returned, by name; a way that fails or returns nothing is not in it.
    """
    functions = ",\n".join(
        f"{json.dumps(name)}: async ({{ http, ws, tcp, udp, file, out, name }}) => {{ {body} }}"
        for name, body in ways.items()
    )
    return f"""async () => {{
      const ways = {{ {functions} }};
      const targets = {json.dumps(targets)};
      const taken = {{}};
      const attempt = async (name) => {{
        try {{
          const value = await Promise.race([ways[name](targets[name]), new Promise((ok) => setTimeout(ok, {limit}))]);
          if (value !== undefined) taken[name] = String(value);
        }} catch {{ }}
      }};
      await Promise.all(Object.keys(ways).map(attempt));
      return taken;
    }}"""


def python_program(targets, ways, *, limit=500):
    """Return the text of a program in Python that tries them one by one: some disturb what others need."""
    functions = "\n".join(
        f"async def way_{number}(http, ws, tcp, udp, file, out, name):\n{textwrap.indent(body, '    ')}"
        for number, body in enumerate(ways.values())
    )
    return f"""{PREPARED}
{functions}
targets = json.loads({json.dumps(targets)!r})
taken = {{}}
async def attempt(name, way):
    try:
        value = await asyncio.wait_for(way(**targets[name]), {limit / 1000})
        if value is not None:
            taken[name] = str(value)
    except BaseException:
        pass
async def go_on():
    while True:  # the program's loop goes on at events, and a promise of JavaScript is none
        await asyncio.sleep(0.005)
going_on = asyncio.create_task(go_on())
functions = [value for name, value in list(globals().items()) if name.startswith("way_")]
for name, way in zip(targets, functions, strict=True):
    await attempt(name, way)
await asyncio.sleep(0.2)
going_on.cancel()
taken"""


async def attempt(listeners, ways, run, program=program):
    """Have ``run`` run a program that tries the ways; return those that worked, with what they took."""
    taken = await run(program(listeners.targets(ways), ways))
    return await worked(listeners, ways, taken)


async def worked(listeners, ways, taken):
    """Return the ways that worked, once whatever is under way has arrived."""
    await _send_one(listeners)
    heard_of = listeners.arrived - {"control"} | listeners.left_files(ways)
    return taken | dict.fromkeys(heard_of, ARRIVED)


async def _send_one(listeners):
    """Make a request of our own: what left a sandbox before it has arrived when it is answered."""
    host, port = listeners.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /escape/control HTTP/1.0\r\n\r\n")
    await reader.read()
    writer.close()


def got_out(found):
    """Return the ways by which something left the sandbox or a secret came in, leaving out what one sees inside."""
    return {name for name, what in found.items() if what == ARRIVED or CANARY in what}
