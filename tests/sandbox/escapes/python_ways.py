"""Ways out of a sandbox, as Python: by the language's own library, by Pyodide, and by the JavaScript behind it.

Each is the body of an async function. It gets what the ways in JavaScript get (``ways.py``) and works when those do.
Besides there are ``js``, ``pyodide_js``, ``Object`` (JavaScript's), ``later`` (awaits what is under way), ``held`` (all
objects of JavaScript that Python holds anywhere) and ``library`` (the interpreter's own functions in C).
"""

# ruff: noqa: E501  a table: one way, one line

PREPARED = """
import asyncio, functools, gc, json, sys, types
import js, pyodide_js
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js

Object = js.constructor

async def later():
    await asyncio.sleep(0.02)

@functools.cache
def held():
    found, seen, waiting = [], set(), [js, pyodide_js, sys.modules, sys._getframe(), gc.get_objects()]
    while waiting and len(seen) < 400_000:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, JsProxy):
            found.append(one)
        elif isinstance(one, types.FrameType):
            waiting += [one.f_back, one.f_locals, one.f_globals]
        else:
            waiting += gc.get_referents(one)
    return found

def library():
    import ctypes
    return ctypes.CDLL(None)
"""
"""What stands before the ways in the program."""

LIBRARY = {
    "urllib": "import urllib.request; urllib.request.urlopen(http, timeout=1)",
    "urllib-file": "import urllib.request; return urllib.request.urlopen(f'file://{file}').read()",
    "http.client": "import http.client; c = http.client.HTTPConnection('127.0.0.1', tcp, timeout=1); c.request('GET', '/')",
    "xmlrpc": "import xmlrpc.client; xmlrpc.client.ServerProxy(http).x()",
    "ftplib": "import ftplib; ftplib.FTP().connect('127.0.0.1', tcp, timeout=1)",
    "smtplib": "import smtplib; smtplib.SMTP('127.0.0.1', tcp, timeout=1)",
    "socket-connect": "import socket; socket.create_connection(('127.0.0.1', tcp), 1).send(b'x')",
    "socket-connect-later": "import socket; s = socket.socket(); s.setblocking(False); s.connect_ex(('127.0.0.1', tcp)); await later(); s.send(b'x')",
    "socket-udp": "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp))",
    "socket-udp-connected": "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('127.0.0.1', udp)); s.send(b'x'); await later()",
    "socket-unix": "import socket; s = socket.socket(socket.AF_UNIX); s.connect(out); return name",
    "socket-raw": "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); s.sendto(b'x', ('127.0.0.1', 0)); return name",
    "socket-listen": "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); return s.accept()[1]",
    "socket-of-c": "import _socket; s = _socket.socket(); s.connect(('127.0.0.1', tcp)); s.send(b'x')",
    "socket-of-c-udp": "import _socket; _socket.socket(type=_socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp))",
    "socket-of-c-listens": "import _socket; s = _socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); return s._accept()[1]",
    "getaddrinfo-of-c": "import _socket; _socket.getaddrinfo('127.0.0.1.nip.test', 80); await later()",
    "socket-of-a-number": "import socket; return [socket.socket(fileno=n).getpeername() for n in (0, 1, 2)]",
    "getaddrinfo": "import socket; socket.getaddrinfo('127.0.0.1.nip.test', 80); await later()",
    "asyncio-connection": "await asyncio.open_connection('127.0.0.1', tcp)",
    "asyncio-datagram": "loop = asyncio.get_running_loop(); t, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=('127.0.0.1', udp)); t.sendto(b'x')",
    "asyncio-server": "await asyncio.start_server(print, '127.0.0.1', 0); return name",
    "asyncio-subprocess": "await asyncio.create_subprocess_exec('touch', out)",
    "ssl": "import ssl, socket; ssl.create_default_context().wrap_socket(socket.create_connection(('127.0.0.1', tcp)))",
    "log-by-socket": "import logging, logging.handlers; h = logging.handlers.SocketHandler('127.0.0.1', tcp); h.send(b'x')",
    "log-by-datagram": "import logging, logging.handlers; h = logging.handlers.DatagramHandler('127.0.0.1', udp); h.send(b'x')",
    "log-by-syslog": "import logging, logging.handlers; logging.raiseExceptions = False; h = logging.handlers.SysLogHandler(('127.0.0.1', udp)); h.emit(logging.makeLogRecord({'msg': 'x'}))",
    "webbrowser": "import webbrowser; webbrowser.open(http); await later()",
    "antigravity": "import antigravity; await later(); webbrowser.get(); return name",
    "pip": "import pip; return name",
    "ensurepip": "import ensurepip; ensurepip.bootstrap(); return name",
    "import-from-a-path": "sys.path.insert(0, file.rpartition('/')[0]); import secret; return name",
    "runpy": "import runpy; return runpy.run_path(file)['default']",
    "zipimport": "import zipimport; return zipimport.zipimporter(file).archive",
    "open": "return open(file).read()",
    "open-binary": "import io; return io.FileIO(file).readall()",
    "os-open": "import os; return os.read(os.open(file, os.O_RDONLY), 99)",
    "pathlib": "import pathlib; return pathlib.Path(file).read_text()",
    "linecache": "import linecache; return linecache.getline(file, 1) or None",
    "fileinput": "import fileinput; return list(fileinput.input(file))",
    "open-of-the-host": "import os; return [open(p).read() for p in ('/etc/hostname', '/etc/passwd') if os.path.exists(p)] or None",
    "open-proc": "import os; return [open(p, 'rb').read() for p in ('/proc/self/environ', '/proc/self/cmdline', '/proc/self/maps', '/proc/version') if os.path.exists(p)] or None",
    "open-up": "return open('/..' * 20 + file).read()",
    "stdin": "return sys.__stdin__.read() or sys.stdin.read() or None",
    "stdin-of-the-system": "import os; return os.read(0, 9) or None",
    "dev-stdin": "return open('/dev/stdin', 'rb').read() or None",
    "write": "open(out, 'w').write('x')",
    "write-in-a-made-folder": "import os; os.makedirs(out.rpartition('/')[0], exist_ok=True); open(out, 'w').write('x')",
    "link": "import os; os.symlink('/', '/tmp/root'); return open('/tmp/root' + file).read()",
    "sqlite": "import sqlite3; c = sqlite3.connect(out); c.execute('CREATE TABLE x (y)'); c.commit()",
    "mmap": "import mmap, os; return mmap.mmap(os.open(file, os.O_RDONLY), 0).read()",
    "environ": "import os; return os.environ.get('CODEMODE_SECRET') or os.environb.get(b'CODEMODE_SECRET')",
    "environ-of-posix": "import posix; return posix.environ.get(b'CODEMODE_SECRET')",
    "system": "import os; os.system(f'touch {out}')",
    "popen": "import os; return os.popen(f'cat {file}').read() or None",
    "subprocess": "import subprocess; subprocess.run(['touch', out])",
    "subprocess-shell": "import subprocess; return subprocess.getoutput(f'cat {file}')",
    "fork": "import posix; return posix.fork()",
    "posix-system": "import posix; posix.system(f'touch {out}')",
    "posix-spawn": "import posix; posix.posix_spawn('/usr/bin/touch', ['touch', out], {})",
    "posix-subprocess": "import _posixsubprocess as s; return s.fork_exec([b'touch', out], [b'/usr/bin/touch'], *[None] * 20)",
    "exec": "import posix; posix.execv('/usr/bin/touch', ['touch', out])",
    "pty": "import pty; return pty.spawn(['touch', out])",
    "multiprocessing": "import multiprocessing; p = multiprocessing.Process(target=print); p.start(); return name",
    "thread": "import _thread; _thread.start_new_thread(print, ()); return name",
    "executor": "import concurrent.futures as f; return f.ThreadPoolExecutor().submit(lambda: name).result(1)",
    "interpreters": "import concurrent.interpreters as i; return i.create().id",
    "kill": "import posix; posix.kill(posix.getppid(), 0); return name",
    "ptrace": "import sys; sys.remote_exec(1, file); return name",
    "resource": "import resource; return resource.getrusage(resource.RUSAGE_SELF)",
    "syslog": "import syslog; syslog.syslog(name); return name",
    "hostname": "import socket; return None if socket.gethostname() in ('emscripten', 'localhost') else socket.gethostname()",
    "time-of-the-machine": "import time; t = [abs(time.time() - f()) for f in (lambda: time.time_ns() / 1e9, lambda: time.clock_gettime(0), lambda: __import__('datetime').datetime.now().timestamp())]; return max(t) if max(t) > 1 else None",
    "breakpoint": "import pdb; sys.stdin = open(file); breakpoint()",
}  # fmt: skip
"""By Python's own library."""

PYODIDE = {
    "run_js": "from pyodide.code import run_js; await run_js(f\"fetch('{http}')\")",
    "pyfetch": "from pyodide.http import pyfetch; await pyfetch(http)",
    "open_url": "from pyodide.http import open_url; return open_url(http).read()",
    "pyxhr": "from pyodide.http import pyxhr; return pyxhr.get(http).text",
    "micropip": "import micropip; await micropip.install(http)",
    "loadPackage": "await pyodide_js.loadPackage(f'{http}/x-1-py3-none-any.whl')",
    "loadPackage-file": "await pyodide_js.loadPackage(file); await later()",
    "loadPackagesFromImports": "pyodide_js.lockfile.packages.x = to_js({'name': 'x', 'imports': ['x'], 'file_name': http, 'depends': []}, dict_converter=Object.fromEntries); await pyodide_js.loadPackagesFromImports('import x')",
    "package-manager": "m = pyodide_js._api.packageManager; m.cdnUrl = http; await m.downloadPackage(to_js({'name': 'x'}, dict_converter=Object.fromEntries))",
    "loadBinaryFile": "return str(await pyodide_js._api.loadBinaryFile(http))",
    "loadBinaryFile-file": "return bytes(await pyodide_js._api.loadBinaryFile(file))",
    "loadDynlib": "await pyodide_js._api.loadDynlib(http, True)",
    "loadDynamicLibrary": "await pyodide_js._module.loadDynamicLibrary(http, to_js({'loadAsync': True}, dict_converter=Object.fromEntries))",
    "readAsync": "return bytes(await pyodide_js._module.readAsync(file))",
    "asyncLoad": "return bytes(await pyodide_js._module.asyncLoad(http))",
    "readbuffer": "return bytes(js.readbuffer(file))",
    "mount-node": "pyodide_js.mountNodeFS('/mnt1', '/'); return open('/mnt1' + file).read()",
    "mount-NODEFS": "import os; os.mkdir('/mnt2'); fs = pyodide_js.FS; fs.mount(fs.filesystems.NODEFS, to_js({'root': '/'}, dict_converter=Object.fromEntries), '/mnt2'); return open('/mnt2' + file).read()",
    "mount-WORKERFS": "import os; os.mkdir('/mnt4'); fs = pyodide_js.FS; b = js.Blob.new(['x']); fs.mount(fs.filesystems.WORKERFS, to_js({'blobs': [{'name': 'x', 'data': b}]}, dict_converter=Object.fromEntries), '/mnt4'); return open('/mnt4/x').read()",
    "mount-native": "h = await js.navigator.storage.getDirectory(); await pyodide_js.mountNativeFS('/mnt5', h); open('/mnt5/kept', 'w').write('x'); return name",
    "node-sockets": "await pyodide_js.useNodeSockFS(); import socket; socket.create_connection(('127.0.0.1', tcp)); await later()",
    "websocket-of-emscripten": "m = pyodide_js._module; m.websocket.url = ws; import socket; s = socket.socket(); s.connect_ex(('127.0.0.1', tcp)); await later()",
    "module-Worker": "m = pyodide_js._module; m.PThread.allocateUnusedWorker(); return name",
    "emscripten-wget": "library().emscripten_wget(http.encode(), b'/got'); return open('/got').read()",
    "emscripten-fetch": "library().emscripten_fetch(0, http.encode()); await later()",
    "emscripten-import": "pyodide_js._module._emscripten_dlopen(http.encode(), 0, 0, 0, 0); await later()",
    "c-system": "library().system(f'touch {out}'.encode())",
    "c-open": "import ctypes; c = library(); n = c.open(file.encode(), 0); b = ctypes.create_string_buffer(99); return b.value if c.read(n, b, 99) > 0 else None",
    "c-stdin": "import ctypes; b = ctypes.create_string_buffer(99); return b.value if library().read(0, b, 99) > 0 else None",
    "c-getenv": "import ctypes; f = library().getenv; f.restype = ctypes.c_char_p; return f(b'CODEMODE_SECRET')",
    "c-connect": "import ctypes, struct; c = library(); s = c.socket(2, 1, 0); c.connect(s, struct.pack('<HHI8x', 2, ((tcp & 255) << 8) | (tcp >> 8), 0x0100007f), 16); await later()",
    "c-sendto": "import ctypes, struct; c = library(); s = c.socket(2, 2, 0); a = struct.pack('<HHI8x', 2, ((udp & 255) << 8) | (udp >> 8), 0x0100007f); c.sendto(s, b'x', 1, 0, a, 16); await later()",
    "dlopen-of-the-host": "import ctypes; return ctypes.CDLL('libc.so.6').getpid()",
    "dlopen-an-address": "import ctypes; ctypes.CDLL(http); await later()",
    "dlopen-a-file": "import ctypes; return ctypes.CDLL(file)",
    "canvas": "return pyodide_js.canvas.setCanvas2D(js.OffscreenCanvas.new(1, 1))",
    "syncify": "from pyodide.ffi import run_sync; return run_sync(js.fetch(http))",
}  # fmt: skip
"""By what Pyodide and Emscripten bring along."""

DOORS = [
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "WebSocketStream",
    "WebTransport",
    "EventSource",
    "importScripts",
    "Worker",
    "SharedWorker",
    "BroadcastChannel",
    "MessageChannel",
    "Deno",
    "process",
    "require",
    "Bun",
    "global",
    "self",
    "window",
    "globalThis",
    "document",
    "parent",
    "top",
    "location",
    "navigator",
    "caches",
    "indexedDB",
    "localStorage",
    "postMessage",
    "close",
    "WebAssembly",
    "Function",
    "eval",
    "Blob",
    "Response",
    "Request",
    "SharedArrayBuffer",
    "Atomics",
    "queueMicrotask",
    "setInterval",
    "setImmediate",
    "alert",
    "prompt",
    "confirm",
    "Notification",
    "FileReader",
    "open",
]
"""Names of JavaScript that a Python program might find in ``js``."""

JAVASCRIPT = {
    **{f"js-{door}": f"found = getattr(js, {door!r}, None); return None if found is None else str(found)" for door in DOORS},
    "js-fetch-used": "await js.fetch(http)",
    "js-WebSocket-used": "js.WebSocket.new(ws); await later()",
    "js-EventSource-used": "js.EventSource.new(http); await later()",
    "js-Worker-used": "js.Worker.new(f\"data:text/javascript,fetch('{http}')\", to_js({'type': 'module'}, dict_converter=Object.fromEntries)); await later()",
    "js-eval-used": "await js.eval(f\"fetch('{http}')\")",
    "js-eval-import": "await js.eval(f\"import('{http}')\")",
    "js-eval-import-data": "await js.eval(f\"import(`data:text/javascript,await fetch('{http}')`)\")",
    "js-Function-used": "await js.Function.new('u', 'return fetch(u)')(http)",
    "js-setTimeout-text": "js.setTimeout(f\"fetch('{http}')\", 0); await later()",
    "js-Deno-connect": "c = await js.Deno.connect(to_js({'port': tcp}, dict_converter=Object.fromEntries)); await c.write(js.TextEncoder.new().encode('x'))",
    "js-Deno-read": "return await js.Deno.readTextFile(file)",
    "js-Deno-write": "js.Deno.writeTextFileSync(out, 'x')",
    "js-Deno-env": "return js.Deno.env.get('CODEMODE_SECRET')",
    "js-Deno-Command": "await js.Deno.Command.new('touch', to_js({'args': [out]}, dict_converter=Object.fromEntries)).output()",
    "js-Deno-stdout": "return js.Deno.stdout.writeSync(js.TextEncoder.new().encode('0 text 0 {}\\n'))",
    "js-Deno-core": "return len(Object.keys(js.Deno[js.Deno.internal].core.ops))",
    "js-process-env": "return js.process.env.CODEMODE_SECRET",
    "js-process-module": "return js.process.getBuiltinModule('fs').readFileSync(file, 'utf8')",
    "js-postMessage-used": "js.postMessage(name); return name",
    "js-caches-used": "await js.caches.open('x'); return 'kept'",
    "Function": "await js.constructor.constructor('u', 'return fetch(u)')(http)",
    "Function-of-a-function": "await js.setTimeout.constructor('u', 'return fetch(u)')(http)",
    "Function-of-a-proxy": "await to_js(lambda: 1).constructor('u', 'return fetch(u)')(http)",
    "Function-new": "await Object.getPrototypeOf(js.setTimeout).constructor.new('u', 'return fetch(u)')(http)",
    "AsyncFunction": "await Object.getPrototypeOf(pyodide_js.runPythonAsync).constructor('u', 'return fetch(u)')(http)",
    "Function-of-everything": "for one in held():\n    try:\n        await one.constructor.constructor('u', 'return fetch(u)')(http)\n    except Exception:\n        pass",
    "global-by-this": """
from pyodide.ffi import create_proxy
taken = []
for work in (lambda f: js.setTimeout(f, 0), lambda f: Object.groupBy(to_js([1]), f), lambda f: to_js([1]).map(f),
             lambda f: Object.prototype.valueOf.call(None), lambda f: Object.defineProperty(Object.new(), 'x', to_js({'get': f}))):
    try:
        work(create_proxy(lambda this=None, *_: taken.append(this), capture_this=True))
    except Exception:
        pass
await later()
for one in taken:
    if isinstance(one, JsProxy) and hasattr(one, 'fetch'):
        await one.fetch(http)""",
    "global-by-a-getter": "g = Object.getOwnPropertyDescriptor(Object.prototype, '__proto__').get; one = g.call(None); return str(one.fetch)",
    "assigned-to-the-worlds-object": "js.fetch = None; del js.fetch; await js.fetch(http)",
    "prototype-polluted": "Object.prototype.then = create_proxy(lambda *a: None); return name",
    "stack-frames": "Error = Object.getPrototypeOf(js.DOMException.prototype).constructor; Error.prepareStackTrace = create_proxy(lambda e, f: f[0].getThis()); return str(Error.new('x').stack.fetch)",
    "WebAssembly-of-the-module": "import pyodide_js; m = pyodide_js._module; imported = m.wasmImports or m.asm; return str(imported.fetch)",
    "held-by-name": "for one in held():\n    for door in ('fetch', 'WebSocket', 'Deno', 'postMessage', 'importScripts', 'XMLHttpRequest'):\n        if callable(getattr(one, door, None)):\n            return door",
    "everything-reachable": """
doors = {'fetch', 'importScripts', 'postMessage', 'require', 'XMLHttpRequest', 'WebSocket', 'Worker', 'evalContext'}
reflect = Object.getOwnPropertyDescriptors
seen, waiting = set(), held()
while waiting and len(seen) < 5_000:
    one = waiting.pop()
    if not isinstance(one, JsProxy) or one.js_id in seen or one.typeof not in ('object', 'function'):
        continue
    seen.add(one.js_id)
    try:
        parts = [getattr(d, key, None) for d in Object.values(reflect(one)) for key in ('value', 'get', 'set')]
    except Exception:
        continue
    waiting += [Object.getPrototypeOf(one)]
    for part in parts:
        if isinstance(part, JsProxy) and part.typeof == 'function' and part.name in doors:
            return part.name
        waiting.append(part)""",
    "bridge-constructor": """
bridges = [one for one in held() if hasattr(one, 'addTimer')]
for one in bridges:
    for method in ('call', 'step', 'print', 'finish'):
        await getattr(one, method).constructor('u', 'return fetch(u)')(http)""",
    "bridge-stack": "for one in held():\n    if hasattr(one, 'addTimer'):\n        try:\n            one.fail('{')\n        except JsException as error:\n            return str(error.constructor.constructor('return globalThis')().Deno)",
    "secret-of-the-host": "for one in held():\n    for key in ('secret', 'port', 'sendText', 'parent', 'worker'):\n        found = getattr(one, key, None)\n        if isinstance(found, JsProxy) and hasattr(found, 'postMessage'):\n            return key",
}  # fmt: skip
"""By the objects of JavaScript behind the interpreter."""

ALONE = {
    "runPython": "await pyodide_js.runPythonAsync(f\"import js\\nawait js.fetch('{http}')\")",
    "asyncio-new-loop": "loop = asyncio.new_event_loop(); await loop.sock_connect(__import__('socket').socket(), ('127.0.0.1', tcp))",
    "webloop": "import pyodide.webloop as w; return await w.WebLoop().run_in_executor(None, lambda: open(file).read())",
    "lazy-file": "pyodide_js.FS.createLazyFile('/', 'lazy', http, True, True); return open('/lazy').read()",
    "preloaded-file": "pyodide_js.FS.createPreloadedFile('/', 'preloaded', http, True, True); await later(); return open('/preloaded').read()",
    "node-sockets-forced": "e = pyodide_js._api.runtimeEnv; e.IN_NODE = e.IN_NODE_ESM = True; await pyodide_js.useNodeSockFS(); import socket; socket.create_connection(('127.0.0.1', tcp)); await later()",
    "mount-IDBFS": "import os; os.mkdir('/mnt3'); fs = pyodide_js.FS; fs.mount(fs.filesystems.IDBFS, Object.new(), '/mnt3'); fs.filesystems.IDBFS.getDB('/mnt3', create_proxy(lambda error=None, kept=None: print('kept') if kept else None)); await later()",
    "emscripten-run-script": "library().emscripten_run_script(f\"fetch('{http}')\".encode()); await later()",
    "emscripten-run-script-int": "library().emscripten_run_script_int(f\"(fetch('{http}'), 1)\".encode()); await later()",
    "emscripten-run-script-string": "import ctypes; f = library().emscripten_run_script_string; f.restype = ctypes.c_char_p; return f(b'\"\" + globalThis.Deno')",
    "js-Deno-stdin": "return js.Deno.stdin.readSync(js.Uint8Array.new(9))",
    "c-fork": "return library().fork() + 1 or None",
    "bridge-made-up": "for one in held():\n    if hasattr(one, 'addTimer'):\n        one.addTimer(1, f\"fetch('{http}')\")\n        one.print('log', Object)\n        one.step(1, Object)\nawait later()",
    "bridge-snippet": """
for text in (f"() => fetch('{http}')", f"() => import('{http}')", f"() => import(`data:text/javascript,import '{http}'`)"):
    snippet = json.dumps({'source': text, 'line_offset': 0, 'name': 'x'})
    for one in held():
        if hasattr(one, 'runSnippet'):
            one.runSnippet(1, snippet, '1')
await later()""",
    "bridge-ends": "for one in held():\n    if hasattr(one, 'addTimer'):\n        one.fail(json.dumps({'type': 'calls', 'status': 'paused', 'run': 'another'}))\nawait later()",
}  # fmt: skip
"""Ways that break the interpreter or block it, whether they work or not: each is tried in a program of its own."""

PYTHON_WAYS = LIBRARY | PYODIDE | JAVASCRIPT | ALONE
"""Every way by its name."""
