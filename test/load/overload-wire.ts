import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { envelope } from '../fuzz/mutations.ts';

/** A TCP connection whose errors are ignored. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

export const openSockets = (port: number, count: number) =>
  Promise.all(Array.from({ length: count }, () => openSocket(port)));

/** An HTTP/2 connection whose errors are ignored. */
export async function openSession(port: number, settings = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => undefined);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

export const untilClosed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
  new Promise<void>((resolve) => stream.once('close', () => resolve()));

/** The head of a request of the web port in HTTP/1.1. */
export const postHead = (method: string, headers: Readonly<Record<string, string | number>>) =>
  [`POST /slot.v1.SlotService/${method} HTTP/1.1`, 'host: x', ...Object.entries(headers).map((each) => each.join(': '))]
    .map((line) => `${line}\r\n`)
    .join('')
    .concat('\r\n');

/** The headers of a gRPC request; without a token, those of a stranger's. */
export const requestHeaders = (path: string, token?: string) => ({
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': path,
  'content-type': 'application/grpc',
  te: 'trailers',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});

export const grpcHeaders = (method: string, token: string) => requestHeaders(`/slot.v1.SlotService/${method}`, token);

/** A gRPC frame whose head states a length: that of the bytes, unless told otherwise. */
export const grpcFrame = (bytes: Uint8Array, { length = bytes.length, compressed = false } = {}): Buffer =>
  envelope(compressed ? 1 : 0, bytes, length);
