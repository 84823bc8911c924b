import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { TlsFiles } from '../config/tls.ts';
import { ConfigError } from '../config/variables.ts';

/** A certificate with its chain, its private key, and the authorities for client certificates, all in PEM. */
export interface Certificates {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer | undefined;
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads and checks the certificate files. Returns a `ConfigError` with a line for each variable whose file is unusable.
 * It does not throw the error, because a file may be broken only for a moment.
 */
export async function loadCertificates(files: TlsFiles): Promise<Certificates | ConfigError> {
  const problems: string[] = [];
  const read = (variable: string, file: string) =>
    readFile(file).catch((error: unknown) => {
      problems.push(`${variable} can't be read: ${textOf(error)}`);
      return Buffer.alloc(0);
    });
  // One after another, so that the same problems give the same text at each poll.
  const cert = await read('TLS_CERT_FILE', files.certFile);
  const key = await read('TLS_KEY_FILE', files.keyFile);
  const clientCa = files.clientCaFile === undefined ? undefined : await read('TLS_CLIENT_CA_FILE', files.clientCaFile);
  const loaded = { cert, key, clientCa };
  if (problems.length === 0) problems.push(...problemsOf(loaded));
  return problems.length === 0 ? loaded : new ConfigError(problems.join('\n'));
}

function problemsOf({ cert, key, clientCa }: Certificates): string[] {
  const problems = [
    ...problemOf('TLS_CERT_FILE holds no certificate in PEM form', () => parseCertificates(cert)),
    ...problemOf('TLS_KEY_FILE holds no private key in PEM form without a passphrase', () => createPrivateKey(key)),
    // OpenSSL accepts a file without certificates, and then rejects every client.
    ...(clientCa === undefined
      ? []
      : problemOf('TLS_CLIENT_CA_FILE holds no certificate in PEM form', () => parseCertificates(clientCa))),
  ];
  if (problems.length > 0) return problems;
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return ['TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE: give the two that belong together'];
  }
  return problemOf('TLS_CERT_FILE and TLS_KEY_FILE can not be used', () => createSecureContext({ cert, key }));
}

/** Throws if a file contains no certificate, or one that can't be parsed. */
function parseCertificates(pem: Buffer): void {
  const blocks = pem.toString('latin1').match(pemCertificate);
  if (blocks === null) throw new Error('it has no such block');
  for (const block of blocks) new X509Certificate(block);
}

/** Returns the problem with the error's text if `attempt` throws; otherwise an empty list. */
function problemOf(problem: string, attempt: () => unknown): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [`${problem}: ${textOf(error)}`];
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
