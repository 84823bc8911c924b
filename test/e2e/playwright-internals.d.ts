/** The private part of Playwright that test/e2e/bidi-transport.ts uses. */
declare module 'playwright-core/lib/coreBundle' {
  /** The connection to a browser. */
  export interface Transport {
    send(message: { readonly id: number; readonly method: string }): void;
    onmessage?: (message: unknown) => void;
  }

  export const server: { readonly WebSocketTransport: { readonly prototype: Transport } };
}
