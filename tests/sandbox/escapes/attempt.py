"""Try many ways at once in one program, and tell which of them worked.

What a way took is told as it came; that somebody heard of it is told as ``ARRIVED``.
"""

import asyncio
import json

from tests.sandbox.escapes.listeners import CANARY

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


async def attempt(listeners, ways, run):
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
