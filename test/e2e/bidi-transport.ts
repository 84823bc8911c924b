import { server, type Transport } from 'playwright-core/lib/coreBundle';

const transport = server.WebSocketTransport.prototype;
const { send } = transport;
const answered = new Set<string>();

// Playwright 1.65 sends a command for each new profile that Firefox 153 does not know, and gives up at the error. It concerns
// colours only, so the tests do without. Playwright has no public way to leave it out.
transport.send = function (this: Transport, message) {
  if (!answered.has(message.method)) send.call(this, message);
  else setImmediate(() => this.onmessage?.({ type: 'success', id: message.id, result: {} }));
};

/** Keeps a command of WebDriver BiDi from browsers, and tells Playwright that it was carried out. */
export function answerForFirefox(method: string): void {
  answered.add(method);
}
