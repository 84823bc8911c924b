import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tls, { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { TlsFiles } from '../config/tls.ts';
import { ConfigError } from '../config/variables.ts';

/** A certificate with its chain, its key, and who signs the certificates of clients; all as PEM. */
export interface Certificates {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer | undefined;
}

const pollMs = 1_000;

// Those of TLS 1.3, and of TLS 1.2 those whose sessions can't be read later with the key of the
// certificate. Set for the process, because grpc-js takes no list: what it connects to has them too.
const ciphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
];
const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificate files of both ports, read again when they change. They are polled by content: a
 * file may be replaced by a rename or by the swap of a link to its folder, which a watch loses.
 */
export class CertificateFiles {
  readonly #files: TlsFiles;
  readonly #logger: Logger;
  readonly #listeners = new Set<() => void>();
  #current: Certificates;
  /** What the last look found: each change is judged, and logged, once. */
  #seen: Certificates | ConfigError;
  #timer: NodeJS.Timeout | undefined;

  private constructor(files: TlsFiles, logger: Logger, certificates: Certificates) {
    this.#files = files;
    this.#logger = logger;
    this.#current = certificates;
    this.#seen = certificates;
    this.#timer = this.#lookLater();
  }

  /** Reads them; rejects with a `ConfigError` that names each variable whose file can't be used. */
  static async open(files: TlsFiles, logger: Logger): Promise<CertificateFiles> {
    const found = await load(files);
    if (found instanceof ConfigError) throw found;
    tls.DEFAULT_CIPHERS = ciphers.join(':');
    logger.info(describe(found), 'serving over TLS');
    return new CertificateFiles(files, logger, found);
  }

  /** The last ones that could be used. */
  get current(): Certificates {
    return this.#current;
  }

  /** Whether a client has to present a certificate; never changes. */
  get asksClients(): boolean {
    return this.#files.clientCaFile !== undefined;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Stops looking. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(() => void this.#look(), pollMs).unref();
  }

  async #look(): Promise<void> {
    const found = await load(this.#files);
    if (this.#timer === undefined) return;
    this.#timer = this.#lookLater();
    if (isDeepStrictEqual(found, this.#seen)) return;
    this.#seen = found;
    if (found instanceof ConfigError) {
      this.#logger.error({ err: found }, 'the certificate files can not be used: those before stay');
      return;
    }
    this.#current = found;
    for (const listener of this.#listeners) listener();
    this.#logger.info(describe(found), 'the certificate files were read again');
  }
}

/** For the log: which certificate it is, and how long it is good. */
function describe({ cert }: Certificates): { serialNumber: string; validTo: string } {
  const { serialNumber, validTo } = new X509Certificate(cert);
  return { serialNumber, validTo };
}

async function load(files: TlsFiles): Promise<Certificates | ConfigError> {
  const lines: string[] = [];
  const read = (variable: string, file: string) =>
    readFile(file).catch((error: unknown) => {
      lines.push(`${variable} can't be read: ${textOf(error)}`);
      return Buffer.alloc(0);
    });
  // One after the other, so that what is wrong is told in the same order at each look.
  const cert = await read('TLS_CERT_FILE', files.certFile);
  const key = await read('TLS_KEY_FILE', files.keyFile);
  const clientCa = files.clientCaFile === undefined ? undefined : await read('TLS_CLIENT_CA_FILE', files.clientCaFile);
  const found = { cert, key, clientCa };
  if (lines.length === 0) lines.push(...refusalsOf(found));
  return lines.length === 0 ? found : new ConfigError(lines.join('\n'));
}

function refusalsOf({ cert, key, clientCa }: Certificates): string[] {
  const lines = [
    ...refusal('TLS_CERT_FILE holds no certificate in PEM form', () => readAll(cert)),
    ...refusal('TLS_KEY_FILE holds no private key in PEM form without a passphrase', () => createPrivateKey(key)),
    // OpenSSL takes a file without any certificate, and would then refuse every client.
    ...(clientCa === undefined
      ? []
      : refusal('TLS_CLIENT_CA_FILE holds no certificate in PEM form', () => readAll(clientCa))),
  ];
  if (lines.length > 0) return lines;
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return ['TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE: give the two that belong together'];
  }
  return refusal('TLS_CERT_FILE and TLS_KEY_FILE can not be used', () => createSecureContext({ cert, key }));
}

function readAll(pem: Buffer): void {
  const blocks = pem.toString('latin1').match(pemCertificate);
  if (blocks === null) throw new Error('it has no such block');
  for (const block of blocks) new X509Certificate(block);
}

function refusal(line: string, attempt: () => unknown): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [`${line}: ${textOf(error)}`];
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
