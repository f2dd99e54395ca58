// The way in and out of the Worker: texts only, each one JSON; but for packages, which come in before all texts.
//
// The Worker's owner hands over a port in its first message and speaks through it from there on. Nothing on the global
// scope leads to the port, so a program can neither listen in nor speak for the runtime.

/** @type {(text: string) => void} */
let sendText = () => {};

/**
 * @param {(data: string | PackageBytes[]) => void} receive
 * @param {(assets: any) => void} [receiveAssets] takes what came with the port
 */
function connect(receive, receiveAssets = () => {}) {
  /** @param {MessageEvent} event */
  const take = (event) => {
    const port = event.ports[0];
    if (port === undefined) return;
    stopListeningGlobally("message", take);
    port.onmessage = (message) => receive(message.data);
    sendText = port.postMessage.bind(port);
    receiveAssets(event.data);
  };
  listenGlobally("message", take);
}
