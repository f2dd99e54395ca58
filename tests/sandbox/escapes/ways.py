"""Ways out of a sandbox, as JavaScript: what a program would try that has found, or knows of, a door.

Each is the body of an async function. It gets ``http`` and ``ws`` (addresses of its own at a server that logs), ``tcp``
and ``udp`` (ports of its own that log), ``file`` (one with a secret in it), ``out`` (a path to write) and ``name`` (its
own). A way works when somebody hears of it, when it leaves the file ``out``, or when it returns anything: a way that
only takes something returns what it took.
"""

# ruff: noqa: E501  a table: one way, one line

_DATA = "`data:text/javascript,${encodeURIComponent(text)}`"
_BLOB = "URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))"
_AFTER = "await new Promise((ok) => setTimeout(ok, 200))"
_PAGE = "document.documentElement"

REQUESTS = {
    "fetch": "await fetch(http)",
    "fetch-no-cors": "await fetch(http, { mode: 'no-cors' })",
    "fetch-keepalive": "fetch(http, { method: 'POST', body: 'x', keepalive: true, mode: 'no-cors' })",
    "fetch-by-request": "await fetch(new Request(http, { method: 'PUT', body: 'x' }))",
    "fetch-with-a-stream": "await fetch(http, { method: 'POST', duplex: 'half', body: new Blob(['x']).stream() })",
    "fetch-of-another-realm": "return open('').fetch(http)",
    "fetchLater": "fetchLater(http, { activateAfter: 0 })",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', http); x.send(); " + _AFTER,
    "XMLHttpRequest-sync": "const x = new XMLHttpRequest(); x.open('GET', http, false); x.send()",
    "sendBeacon": "navigator.sendBeacon(http, 'x')",
    "EventSource": "const s = new EventSource(http); await new Promise((ok) => { s.onerror = s.onopen = ok }); s.close()",
    "WebSocket": "const s = new WebSocket(ws); await new Promise((ok) => { s.onerror = s.onopen = ok }); s.close()",
    "WebSocket-subprotocol": "new WebSocket(ws, ['secret']); " + _AFTER,
    "WebSocketStream": "await new WebSocketStream(ws).opened",
    "WebTransport": "await new WebTransport(`https://127.0.0.1:${udp}/`).ready",
    "RTCPeerConnection-stun": """
      const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${udp}` }] });
      peer.createDataChannel('x'); await peer.setLocalDescription(); """
    + _AFTER,
    "RTCPeerConnection-turn": """
      const server = { urls: `turn:127.0.0.1:${tcp}?transport=tcp`, username: 'u', credential: 'c' };
      const peer = new RTCPeerConnection({ iceServers: [server] });
      peer.createDataChannel('x'); await peer.setLocalDescription(); """
    + _AFTER,
    "FontFace": "await new FontFace('f', `url(${http})`).load()",
    "FontFace-in-a-set": "const f = new FontFace('f', `url(${http})`); (self.fonts ?? document.fonts).add(f); await f.load()",
    "OffscreenCanvas-font": """
      const face = new FontFace('x', `url(${http})`); self.fonts.add(face);
      const c = new OffscreenCanvas(9, 9).getContext('2d'); c.font = '9px x'; c.fillText('x', 0, 9); await face.load()""",
    "createImageBitmap": "await createImageBitmap(await (await fetch(http)).blob())",
    "WebAssembly-streaming": "await WebAssembly.instantiateStreaming(fetch(http))",
    "Cache-add": "await (await caches.open('x')).add(http)",
    "backgroundFetch": "await (await navigator.serviceWorker.ready).backgroundFetch.fetch('x', http)",
    "Notification": "new Notification('x', { icon: http, image: http }); " + _AFTER,
    "ReportingObserver": "new ReportingObserver(() => fetch(http), { buffered: true }).observe(); webkitRequestFileSystem; "
    + _AFTER,
    "PaymentRequest": "await new PaymentRequest([{ supportedMethods: http }], { total: { label: 'x', amount: "
    "{ currency: 'EUR', value: '1' } } }).canMakePayment()",
    "XSLT": "new XSLTProcessor().importStylesheet(new DOMParser().parseFromString(`<xsl:stylesheet version='1.0' "
    "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:import href='${http}'/></xsl:stylesheet>`, 'text/xml'))",
}
"""Requests and connections of the platform."""

CODE = {
    "importScripts": "importScripts(http)",
    "importScripts-data": "const text = `fetch('${http}')`; importScripts(" + _DATA + "); " + _AFTER,
    "importScripts-blob": "const text = `fetch('${http}')`; importScripts(" + _BLOB + "); " + _AFTER,
    "import-http": "await import(http)",
    "import-json": "await import(http, { with: { type: 'json' } })",
    "import-data": "const text = `await fetch('${http}')`; await import(" + _DATA + ")",
    "import-data-static": "const text = `import '${http}'`; await import(" + _DATA + ")",
    "import-data-of-data": "let text = `await fetch('${http}')`; const inner = " + _DATA + "; "
    'text = `import "${inner}"`; await import(' + _DATA + ")",
    "import-data-reexport": "const text = `export * from '${http}'`; await import(" + _DATA + ")",
    "import-data-node": "const text = `import { readFileSync as f } from 'node:fs'; export default f('${file}', 'utf8')`; "
    "return (await import(" + _DATA + ")).default",
    "import-data-meta": "const text = 'export default import.meta.resolve(\"./x\")'; return (await import("
    + _DATA
    + ")).default",
    "import-blob": "const text = `await fetch('${http}')`; await import(" + _BLOB + ")",
    "import-blob-static": "const text = `import '${http}'`; await import(" + _BLOB + ")",
    "import-of-the-stack": "for (const [url] of new Error().stack.matchAll(/(blob|file|https?):[^\\s)]+(?=:\\d+:\\d+)/g)) "
    "{ await import(url); return url }",
    "import-relative": "return Object.keys(await import('./host.js'))",
    "Worker": "new Worker(http); " + _AFTER,
    "Worker-module": "new Worker(http, { type: 'module' }); " + _AFTER,
    "Worker-blob": "const text = `fetch('${http}')`; new Worker(" + _BLOB + ", { type: 'module' }); " + _AFTER,
    "Worker-data": "const text = `fetch('${http}')`; new Worker(" + _DATA + ", { type: 'module' }); " + _AFTER,
    "Worker-importScripts": "const text = `importScripts('${http}')`; new Worker(" + _BLOB + "); " + _AFTER,
    "Worker-with-permissions": "const text = `fetch('${http}')`; new Worker("
    + _DATA
    + ", { type: 'module', deno: { permissions: 'inherit' } }); "
    + _AFTER,
    "Worker-grandchild": "const text = `const u = URL.createObjectURL(new Blob([\"fetch('${http}')\"])); new Worker(u, "
    "{ type: 'module' })`; new Worker("
    + _BLOB
    + ", { type: 'module' }); await new Promise((ok) => setTimeout(ok, 400))",
    "SharedWorker": "new SharedWorker(http); " + _AFTER,
    "SharedWorker-blob": "const text = `fetch('${http}')`; new SharedWorker(" + _BLOB + "); " + _AFTER,
    "ServiceWorker": "await navigator.serviceWorker.register(http)",
    "Worklet": "await new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule(http)",
    "paintWorklet": "await CSS.paintWorklet.addModule(http)",
    "ShadowRealm": "await new ShadowRealm().importValue(http, 'x')",
    "eval": "await eval('fetch')(http)",
    "eval-import": "await (0, eval)(`import('${http}')`)",
    "eval-import-meta": "return eval('import.meta.url')",
    "Function": "await new Function('u', 'return fetch(u)')(http)",
    "Function-this": "await Function('return this')().fetch(http)",
    "Function-import": "await new Function('u', 'return import(u)')(http)",
    "function-constructor": "await (() => {}).constructor('u', 'return fetch(u)')(http)",
    "AsyncFunction": "await (async () => {}).constructor('u', 'await fetch(u)')(http)",
    "GeneratorFunction": "await (function* () {}).constructor('u', 'yield fetch(u)')(http).next().value",
    "AsyncGeneratorFunction": "await (async function* () {}).constructor('u', 'yield await fetch(u)')(http).next()",
    "class-extends-Function": "await new (class extends Function {})('u', 'return fetch(u)')(http)",
    "setTimeout-text": "setTimeout(`fetch('${http}')`); " + _AFTER,
    "setInterval-text": "const id = setInterval(`fetch('${http}')`, 1); " + _AFTER + "; clearInterval(id)",
    "source-map": "await eval(`fetch('${http}')\\n//# sourceMappingURL=${http}`)",
    "WebAssembly": "const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]); "
    "return String(await WebAssembly.compile(bytes))",
    "prepareStackTrace": "Error.prepareStackTrace = (_, frames) => frames; for (const frame of new Error().stack) "
    "{ const found = frame.getThis?.() ?? frame.getFunction?.(); if (found?.fetch) await found.fetch(http) }",
    "caller": "function f() { return f.caller } const found = f(); await found.constructor('u', 'return fetch(u)')(http)",
    "deleted-global-in-a-prototype": "for (let o = globalThis; o; o = Object.getPrototypeOf(o)) "
    "{ const f = Object.getOwnPropertyDescriptor(o, 'fetch')?.value; if (f) await f.call(globalThis, http) }",
    "everything-reachable": """
      const seen = new Set(), waiting = [globalThis, async () => {}, (function* () {})(), new Error()];
      const doors = /^(fetch|importScripts|postMessage|require|XMLHttpRequest|WebSocket|Worker|Deno|evalContext)$/;
      for (let i = 0; i < waiting.length && i < 50000; i++) {
        const item = waiting[i];
        if ((typeof item !== 'object' && typeof item !== 'function') || item === null || seen.has(item)) continue;
        seen.add(item);
        for (let key of [...Reflect.ownKeys(item), null]) try {
          const d = key === null ? { value: Object.getPrototypeOf(item) } : Object.getOwnPropertyDescriptor(item, key);
          for (const part of [d.value, d.get, d.set]) {
            waiting.push(part);
            if (typeof part === 'function' && doors.test(part.name)) return part.name;
          }
          if (d.get && !/constructor/.test(String(key))) waiting.push(Reflect.apply(d.get, item, []));
        } catch { }
      }""",
}
"""New code, and code that is somewhere else."""

CONTEXTS = {
    "postMessage": "postMessage(name); return name",
    "postMessage-with-a-port": "const c = new MessageChannel(); self.postMessage(name, [c.port2]); return name",
    "postMessage-to-the-parent": "parent.postMessage(name, '*'); return name",
    "postMessage-to-the-top": "top.postMessage(name, '*'); return name",
    "postMessage-to-the-opener": "opener.postMessage(name, '*'); return name",
    "MessageChannel": "const c = new MessageChannel(); return String(c.port1)",
    "BroadcastChannel": "const c = new BroadcastChannel('x'); c.postMessage(name); c.close(); return name",
    "onmessage": "globalThis.onmessage = () => {}; addEventListener('message', () => {}); return name",
    "dispatchEvent": "dispatchEvent(new MessageEvent('message', { data: name })); return name",
    "structuredClone-transfer": "const c = new MessageChannel(); return String(structuredClone(c.port1, "
    "{ transfer: [c.port1] }))",
    "parent-document": "return parent.document.body.innerText",
    "top-document": "return top.document.cookie + top.location.href",
    "frames": "return frames[0].location.href",
    "location": "return self.location.href + self.origin",
    "ancestorOrigins": "return location.ancestorOrigins[0]",
    "referrer": "return document.referrer || document.baseURI",
    "navigator": "return navigator.userAgent",
    "userAgentData": "return JSON.stringify(await navigator.userAgentData.getHighEntropyValues(['model']))",
    "hardwareConcurrency": "return navigator.hardwareConcurrency",
    "navigator-gpu": "return String(await navigator.gpu.requestAdapter())",
    "navigator-locks": "return await navigator.locks.request(name, () => name)",
    "navigator-permissions": "return (await navigator.permissions.query({ name: 'geolocation' })).state",
    "navigator-usb": "return String(await navigator.usb.getDevices())",
    "navigator-clipboard": "return await navigator.clipboard.readText()",
    "performance-entries": "return performance.getEntries().map((entry) => entry.name).join() || undefined",
    "performance-memory": "return performance.memory.usedJSHeapSize",
    "performance-timeOrigin": "const d = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(performance), 'timeOrigin'); "
    "return d.get.call(performance)",
    "SharedArrayBuffer": "return new SharedArrayBuffer(8).byteLength",
    "Atomics": "return Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 1)",
    "WeakRef": "return String(new WeakRef({}))",
    "FinalizationRegistry": "return String(new FinalizationRegistry(() => {}))",
    "Event-timeStamp": "const t = new Event('x').timeStamp; if (t > 0 && t !== performance.now()) return t",
    "AbortSignal-timeout": "const t = Date.now(); const s = AbortSignal.timeout(1); "
    "await new Promise((ok) => s.addEventListener('abort', ok)); if (Date.now() === t) return 1",
    "Intl-formatRange": "const f = new Intl.DateTimeFormat('en'); return f.formatRange() + f.formatRangeToParts()",
    "Date-of-a-prototype": "if (Math.abs(new Date().constructor.now() - Date.now()) > 1000) return name",
    "Intl-now": "if (Math.abs(Date.parse(new Intl.DateTimeFormat('en').format()) - Date.now()) > 2 * 864e5) return name",
    "Temporal": "return Temporal.Now.instant().toString()",
}
"""Other contexts of the page or the process, and what tells something of the machine."""

KEPT = {
    "cookie": "document.cookie = 'x=kept'; return document.cookie || undefined",
    "cookieStore": "await cookieStore.set('x', 'kept'); return (await cookieStore.get('x')).value",
    "localStorage": "localStorage.setItem('x', 'kept'); return localStorage.getItem('x')",
    "sessionStorage": "sessionStorage.setItem('x', 'kept'); return sessionStorage.getItem('x')",
    "indexedDB": "return await new Promise((ok, no) => { const r = indexedDB.open('x'); r.onsuccess = () => ok('kept'); "
    "r.onerror = no })",
    "indexedDB-databases": "return JSON.stringify(await indexedDB.databases())",
    "caches": "const c = await caches.open('x'); await c.put('http://x.test/', new Response('kept')); return 'kept'",
    "opfs": "return (await (await navigator.storage.getDirectory()).getFileHandle('x', { create: true })).name",
    "storage-estimate": "return (await navigator.storage.estimate()).quota",
    "storageBuckets": "return (await navigator.storageBuckets.open('x')).name",
    "showOpenFilePicker": "return String(await showOpenFilePicker())",
    "webkitRequestFileSystem": "return await new Promise((ok, no) => webkitRequestFileSystem(0, 9, (f) => ok(f.name), no))",
    "FileReader": "return String(new FileReader())",
    "openKv": "const kv = await Deno.openKv(':memory:'); kv.close(); return 'kept'",
    "window-name": "window.name = 'kept'; return window.name",
    "history": "history.replaceState('kept', ''); return history.state",
}
"""Places to keep something in, for the next program or another page."""


def _element(tag, attributes, **options):
    """Put an element into the document; the values of attributes are expressions."""
    sets = " ".join(f"e.setAttribute('{key}', {value});" for key, value in attributes.items())
    action = options.get("action", "")
    return f"const e = document.createElement('{tag}'); {sets} {_PAGE}.append(e); {action} {_AFTER}"


DOCUMENT = {
    "img": "new Image().src = http; " + _AFTER,
    "img-srcset": _element("img", {"srcset": "`${http} 1x`"}),
    "picture": f"{_PAGE}.insertAdjacentHTML('beforeend', `<picture><source srcset='${{http}}'><img></picture>`); {_AFTER}",
    "svg-image": f"{_PAGE}.insertAdjacentHTML('beforeend', `<svg><image href='${{http}}'/></svg>`); {_AFTER}",
    "svg-use": f"{_PAGE}.insertAdjacentHTML('beforeend', `<svg><use href='${{http}}#x'/></svg>`); {_AFTER}",
    "input-image": _element("input", {"type": "'image'", "src": "http"}),
    "video": _element("video", {"src": "http", "preload": "'auto'"}),
    "video-poster": _element("video", {"poster": "http"}),
    "audio": "new Audio(http).load(); " + _AFTER,
    "track": f"{_PAGE}.insertAdjacentHTML('beforeend', `<video><track default src='${{http}}'></video>`); "
    f"for (const t of document.querySelectorAll('track')) t.track.mode = 'showing'; {_AFTER}",
    "object": _element("object", {"data": "http"}),
    "embed": _element("embed", {"src": "http"}),
    "iframe": _element("iframe", {"src": "http"}),
    "iframe-srcdoc": _element("iframe", {"srcdoc": "`<img src='${http}'>`"}),
    "iframe-javascript": _element("iframe", {"src": "`javascript:fetch('${http}')`"}),
    "script": _element("script", {"src": "http"}),
    "script-module": _element("script", {"src": "http", "type": "'module'"}),
    "script-text": f"const e = document.createElement('script'); e.text = `fetch('${{http}}')`; {_PAGE}.append(e); {_AFTER}",
    "handler-text": f"{_PAGE}.insertAdjacentHTML('beforeend', `<img src='x:' onerror='fetch(\"${{http}}\")'>`); {_AFTER}",
    "speculation-rules": "const e = document.createElement('script'); e.type = 'speculationrules'; e.text = "
    f"JSON.stringify({{ prefetch: [{{ source: 'list', urls: [http] }}] }}); {_PAGE}.append(e); {_AFTER}",
    "stylesheet": _element("link", {"rel": "'stylesheet'", "href": "http"}),
    "style-import": f"{_PAGE}.insertAdjacentHTML('beforeend', `<style>@import '${{http}}'</style>`); {_AFTER}",
    "style-background": f"document.body.style.background = `url(${{http}})`; document.body.offsetWidth; {_AFTER}",
    "style-attribute": f"document.body.setAttribute('style', `border-image: url(${{http}}) 1`); {_AFTER}",
    "adopted-stylesheet": "const s = new CSSStyleSheet(); s.replaceSync(`body { list-style-image: url(${http}); "
    f"background: url(${{http}}) }}`); document.adoptedStyleSheets = [s]; document.body.offsetWidth; {_AFTER}",
    "font-face": f"{_PAGE}.insertAdjacentHTML('beforeend', `<style>@font-face {{ font-family: y; src: url(${{http}}) }}"
    f"</style><p style='font-family: y'>x</p>`); document.body.offsetWidth; {_AFTER}",
    "cursor-and-filter": f"document.body.style.filter = `url(${{http}}#x)`; document.body.offsetWidth; {_AFTER}",
    "preload": _element("link", {"rel": "'preload'", "as": "'fetch'", "href": "http", "crossorigin": "''"}),
    "modulepreload": _element("link", {"rel": "'modulepreload'", "href": "http"}),
    "prefetch": _element("link", {"rel": "'prefetch'", "href": "http"}),
    "preconnect": _element("link", {"rel": "'preconnect'", "href": "`http://127.0.0.1:${tcp}`"}),
    "dns-prefetch": _element("link", {"rel": "'dns-prefetch'", "href": "`http://${name}.invalid`"}),
    "manifest": _element("link", {"rel": "'manifest'", "href": "http"}),
    "icon": _element("link", {"rel": "'icon'", "href": "http"}),
    "preload-imagesrcset": _element("link", {"rel": "'preload'", "as": "'image'", "imagesrcset": "http"}),
    "meta-report-uri": f"{_PAGE}.insertAdjacentHTML('beforeend', '<meta http-equiv=Content-Security-Policy content="
    "\"img-src *; report-uri ' + http + '\">'); new Image().src = http; " + _AFTER,
    "anchor-ping": _element("a", {"ping": "http", "href": "'#x'"}, action="e.click();"),
}
"""Elements and styles: they need a document, which a Worker has not."""

NAVIGATIONS = {
    "location-href": "location.href = http; " + _AFTER,
    "location-assign": "location.assign(http); " + _AFTER,
    "location-replace": "location.replace(http); " + _AFTER,
    "location-javascript": "location.href = `javascript:fetch('${http}')`; " + _AFTER,
    "navigation-navigate": "navigation.navigate(http); " + _AFTER,
    "parent-location": "parent.location = http; " + _AFTER,
    "top-location": "top.location = http; " + _AFTER,
    "open": "open(http); " + _AFTER,
    "open-self": "open(http, '_self'); " + _AFTER,
    "open-noopener": "open(http, '_blank', 'noopener'); " + _AFTER,
    "anchor": _element("a", {"href": "http"}, action="e.click();"),
    "anchor-blank": _element("a", {"href": "http", "target": "'_blank'"}, action="e.click();"),
    "anchor-top": _element("a", {"href": "http", "target": "'_top'"}, action="e.click();"),
    "anchor-download": _element("a", {"href": "http", "download": "'x'"}, action="e.click();"),
    "area": f"{_PAGE}.insertAdjacentHTML('beforeend', `<map><area href='${{http}}'></map>`); "
    "document.querySelector('area').click(); " + _AFTER,
    "form": _element("form", {"action": "http"}, action="e.submit();"),
    "form-post": _element("form", {"action": "http", "method": "'post'"}, action="e.submit();"),
    "form-blank": _element("form", {"action": "http", "target": "'_blank'"}, action="e.requestSubmit();"),
    "meta-refresh": "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = `0;${http}`; "
    f"document.head.append(m); {_AFTER}",
    "base": f"const b = document.createElement('base'); b.href = http; document.head.append(b); location.assign('?x'); {_AFTER}",
    "document-write": "document.write(`<meta http-equiv=refresh content='0;${http}'>`); document.close(); " + _AFTER,
}
"""Ways of a frame to another address. They end the frame that they work in."""

PROCESS = {
    "Deno-connect": "const c = await Deno.connect({ port: tcp }); await c.write(new Uint8Array(1)); c.close()",
    "Deno-connectTls": "await Deno.connectTls({ hostname: '127.0.0.1', port: tcp })",
    "Deno-datagram": "const s = Deno.listenDatagram({ port: 0, transport: 'udp', hostname: '127.0.0.1' }); "
    "await s.send(new Uint8Array(1), { transport: 'udp', hostname: '127.0.0.1', port: udp }); s.close()",
    "Deno-resolveDns": "await Deno.resolveDns('x.test', 'A', { nameServer: { ipAddr: '127.0.0.1', port: udp } })",
    "Deno-listen": "const l = Deno.listen({ port: 0 }); const { port } = l.addr; l.close(); return port",
    "Deno-serve": "const s = Deno.serve({ port: 0, onListen() {} }, () => new Response('x')); await s.shutdown(); return name",
    "Deno-createHttpClient": "await fetch(http, { client: Deno.createHttpClient({}) })",
    "Deno-readTextFile": "return await Deno.readTextFile(file)",
    "Deno-readTextFileSync": "return Deno.readTextFileSync(file)",
    "Deno-readDir": "return [...Deno.readDirSync('/')].length",
    "Deno-stat": "return Deno.statSync('/').mtime",
    "Deno-writeTextFile": "Deno.writeTextFileSync(out, 'x')",
    "Deno-makeTempFile": "return Deno.makeTempFileSync()",
    "Deno-env": "return Deno.env.get('CODEMODE_SECRET')",
    "Deno-env-all": "return Deno.env.toObject().CODEMODE_SECRET",
    "Deno-Command": "await new Deno.Command('touch', { args: [out] }).output()",
    "Deno-dlopen": "const l = Deno.dlopen('libc.so.6', { getpid: { parameters: [], result: 'i32' } }); return l.symbols.getpid()",
    "Deno-hostname": "return Deno.hostname()",
    "Deno-networkInterfaces": "return Deno.networkInterfaces().length",
    "Deno-pid": "return Deno.pid",
    "Deno-cwd": "return Deno.cwd()",
    "Deno-execPath": "return Deno.execPath()",
    "Deno-version": "return Deno.version.v8",
    "Deno-mainModule": "return Deno.mainModule",
    "Deno-stdout": "return Deno.stdout.writeSync(new TextEncoder().encode(`${name}\\n`))",
    "Deno-stderr": "return Deno.stderr.writeSync(new TextEncoder().encode(`${name}\\n`))",
    "Deno-permissions": "return (await Deno.permissions.request({ name: 'hrtime' })).state",
    "Deno-memoryUsage": "return Deno.memoryUsage().rss",
    "Deno-addSignalListener": "Deno.addSignalListener('SIGUSR2', () => {}); return name",
    "Deno-inspect": "return Deno.inspect({})",
    "Deno-core": "return Object.keys(Deno[Deno.internal].core.ops).length",
    "Deno-core-print": "Deno[Deno.internal].core.print('', true); return name",
    "Deno-core-evalContext": "return Deno[Deno.internal].core.evalContext('1 + 1', 'file:///x.js')[0]",
    "Deno-core-by-symbol": "for (const k of Object.getOwnPropertySymbols(Deno)) if (Deno[k]?.core) return String(k)",
    "Deno-bootstrap": "return Object.keys(__bootstrap).length",
    "global-symbols": "for (const k of Object.getOwnPropertySymbols(globalThis)) "
    "if (globalThis[k]?.core ?? globalThis[k]?.ops) return String(k)",
    "fetch-file": "return await (await fetch(`file://${file}`)).text()",
    "import-file": "return (await import(`file://${file}`)).default",
    "import-npm": "await import('npm:left-pad@1.3.0')",
    "import-jsr": "await import('jsr:@std/fs@1')",
    "import-ext": "return Object.keys(await import('ext:core/mod.js'))",
    "node-fs": "return (await import('node:fs')).readFileSync(file, 'utf8')",
    "node-fs-bare": "return (await import('fs')).readFileSync(file, 'utf8')",
    "node-fs-write": "(await import('node:fs')).writeFileSync(out, 'x')",
    "node-fs-promises": "return await (await import('node:fs/promises')).readFile(file, 'utf8')",
    "node-net": "(await import('node:net')).connect(tcp, '127.0.0.1').end('x'); " + _AFTER,
    "node-http": "(await import('node:http')).get(http); " + _AFTER,
    "node-dgram": "const s = (await import('node:dgram')).createSocket('udp4'); s.send('x', udp, '127.0.0.1'); "
    + _AFTER,
    "node-dns": "const r = new (await import('node:dns')).promises.Resolver(); r.setServers([`127.0.0.1:${udp}`]); "
    "await r.resolve4('x.test')",
    "node-child_process": "(await import('node:child_process')).execFileSync('touch', [out])",
    "node-worker_threads": "const text = `fetch('${http}')`; new (await import('node:worker_threads')).Worker(new URL("
    + _DATA
    + ")); "
    + _AFTER,
    "node-process": "return (await import('node:process')).env.CODEMODE_SECRET",
    "node-os": "return (await import('node:os')).hostname()",
    "node-module": "return (await import('node:module')).createRequire('/')('fs').readFileSync(file, 'utf8')",
    "node-vm": "return (await import('node:vm')).runInNewContext('1 + 1')",
    "node-v8": "(await import('node:v8')).setFlagsFromString('--allow-natives-syntax'); return name",
    "node-inspector": "return String((await import('node:inspector')).Session)",
    "node-sqlite": "return String(new (await import('node:sqlite')).DatabaseSync(':memory:'))",
    "process-env": "return process.env.CODEMODE_SECRET",
    "process-binding": "return String(process.binding('fs'))",
    "process-getBuiltinModule": "return process.getBuiltinModule('fs').readFileSync(file, 'utf8')",
    "process-stdout": "return process.stdout.write('')",
    "process-argv": "return process.argv[1]",
    "process-version": "return process.version",
    "require": "return require('fs').readFileSync(file, 'utf8')",
    "Buffer": "return Buffer.from('x').toString()",
    "global": "await global.fetch(http)",
    "setImmediate": "return String(setImmediate(() => {}))",
    "clearImmediate": "return String(clearImmediate)",
}
"""The process of a headless sandbox, its files, its environment and its modules."""

ENDINGS = {
    "close": "close(); await new Promise(() => {})",
    "self-close": "self.close(); await new Promise(() => {})",
    "Deno-exit": "Deno.exit(7)",
    "Deno-kill": "Deno.kill(Deno.pid)",
    "process-exit": "process.exit(7)",
    "process-kill": "process.kill(process.pid)",
    "process-abort": "process.abort()",
    "reportError": "reportError(new Error(name)); return name",
    "alert": "alert(name); return name",
    "confirm": "return confirm(name)",
    "prompt": "return prompt(name)",
    "print": "print(); return name",
    "Deno-stdin": "const bytes = new Uint8Array(9); return Deno.stdin.readSync(bytes)",
    "node-stdin": "return (await import('node:fs')).readSync(0, new Uint8Array(9))",
    "debugger-of-the-process": "(await import('node:inspector')).open(0); return name",
}
"""What would end the sandbox, stop it, or take what the kernel sends to it: where it works nothing can be told after."""

WAYS = REQUESTS | CODE | CONTEXTS | KEPT | DOCUMENT | NAVIGATIONS | PROCESS | ENDINGS
"""Every way by its name."""
