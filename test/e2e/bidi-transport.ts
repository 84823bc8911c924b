import { server, type Transport } from 'playwright-core/lib/coreBundle';

// Playwright 1.65 sends this command for each new profile, Firefox 153 does not know it, and Playwright gives up. It concerns
// colors only, so the tests do without: Playwright is told that it was carried out. No public option leaves it out.
const unknownToFirefox = 'emulation.setMediaFeaturesOverride';

const transport = server.WebSocketTransport.prototype;
const { send } = transport;
transport.send = function (this: Transport, message) {
  if (message.method !== unknownToFirefox) send.call(this, message);
  else setImmediate(() => this.onmessage?.({ type: 'success', id: message.id, result: {} }));
};
