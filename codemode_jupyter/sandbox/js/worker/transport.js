// The way in and out of the Worker: texts only, each one JSON.
//
// The Worker's owner either speaks through the Worker itself, or hands over a port in its first message; then the
// port is used from there on, and nothing on the global scope leads to it.

/** @type {(text: string) => void} */
let sendText = (text) => postToParent(text);

/** @param {(text: string) => void} receive */
function connect(receive) {
  /** @param {MessageEvent} event */
  const take = (event) => {
    const port = event.ports[0];
    if (port === undefined) {
      receive(event.data);
      return;
    }
    stopListeningGlobally("message", take);
    port.onmessage = (message) => receive(message.data);
    sendText = port.postMessage.bind(port);
  };
  listenGlobally("message", take);
}
