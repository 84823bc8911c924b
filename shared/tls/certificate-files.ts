import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { TlsFiles } from '../config/tls.ts';
import { ConfigError } from '../config/variables.ts';
import { type Certificates, loadCertificates } from './load-certificates.ts';

const pollMs = 1_000;

// All ciphers of TLS 1.3, and those of TLS 1.2 with forward secrecy, so that a leaked key can't decrypt
// recorded sessions. They are set for the whole process, because grpc-js accepts no list, and so also
// apply to outgoing connections.
const ciphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
];

/**
 * The certificate files of both ports, reloaded when they change. They are polled by content: a file may be replaced by
 * a rename or by swapping a link to its folder, and a file watch misses both.
 */
export class CertificateFiles {
  readonly #files: TlsFiles;
  readonly #logger: Logger;
  readonly #listeners = new Set<() => void>();
  #current: Certificates;
  /** The result of the last poll, so that each change is applied or logged once. */
  #lastLoaded: Certificates | ConfigError;
  #timer: NodeJS.Timeout | undefined;

  private constructor(files: TlsFiles, logger: Logger, certificates: Certificates) {
    this.#files = files;
    this.#logger = logger;
    this.#current = certificates;
    this.#lastLoaded = certificates;
    this.#timer = this.#schedulePoll();
  }

  /** Loads the files. Rejects with a `ConfigError` that has a line for each unusable file. */
  static async open(files: TlsFiles, logger: Logger): Promise<CertificateFiles> {
    const loaded = await loadCertificates(files);
    if (loaded instanceof ConfigError) throw loaded;
    tls.DEFAULT_CIPHERS = ciphers.join(':');
    logger.info(describe(loaded), 'serving over TLS');
    return new CertificateFiles(files, logger, loaded);
  }

  /** The last usable certificates. */
  get current(): Certificates {
    return this.#current;
  }

  /** Whether clients must present a certificate. Never changes. */
  get requiresClientCertificate(): boolean {
    return this.#files.clientCaFile !== undefined;
  }

  /** Calls `listener` after each change of the certificates. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Stops the polling. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedulePoll(): NodeJS.Timeout {
    return setTimeout(() => void this.#poll(), pollMs).unref();
  }

  async #poll(): Promise<void> {
    const loaded = await loadCertificates(this.#files);
    if (this.#timer === undefined) return;
    this.#timer = this.#schedulePoll();
    if (isDeepStrictEqual(loaded, this.#lastLoaded)) return;
    this.#lastLoaded = loaded;
    if (loaded instanceof ConfigError) {
      this.#logger.error({ err: loaded }, 'the certificate files can not be used: those before stay');
      return;
    }
    this.#current = loaded;
    for (const listener of this.#listeners) listener();
    this.#logger.info(describe(loaded), 'the certificate files were read again');
  }
}

/** Describes a certificate for the log by its serial number and expiry. */
function describe({ cert }: Certificates): { serialNumber: string; validTo: string } {
  const { serialNumber, validTo } = new X509Certificate(cert);
  return { serialNumber, validTo };
}
