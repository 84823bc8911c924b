import type { ConfigErrors, Environment } from './variables.ts';

/** The PEM files with which both ports speak TLS. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The certificate authorities that client certificates are checked against. Undefined: clients need none. */
  readonly clientCaFile: string | undefined;
}

/** Reads the names of the TLS files; undefined for cleartext. */
export function readTlsFiles(env: Environment, errors: ConfigErrors): TlsFiles | undefined {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: clientCaFile } = env;
  if (!certFile && !keyFile && !clientCaFile) return undefined;
  if (!certFile) errors.add('TLS_CERT_FILE is not set: give the certificate that both ports are to show');
  if (!keyFile) errors.add('TLS_KEY_FILE is not set: give the private key of the certificate');
  return { certFile: certFile ?? '', keyFile: keyFile ?? '', clientCaFile: clientCaFile || undefined };
}
