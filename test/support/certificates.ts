import { webcrypto } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import './reflect-stub.ts';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
let serial = 0;

/** A certificate and its private key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
  /** In the form of `tls.PeerCertificate`. */
  readonly serialNumber: string;
}

/** A certificate authority of a test's own. */
export class Authority {
  readonly cert: string;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #name: string;

  private constructor(cert: string, keys: webcrypto.CryptoKeyPair, name: string) {
    this.cert = cert;
    this.#keys = keys;
    this.#name = name;
  }

  static async create(name: string): Promise<Authority> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      serialNumber: nextSerial(),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
    });
    return new Authority(certificate.toString('pem'), keys, `CN=${name}`);
  }

  /** A certificate of localhost, for a server and for a client. */
  async sign(): Promise<Pair> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const serialNumber = nextSerial();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber,
      subject: 'CN=localhost',
      issuer: this.#name,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    });
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
    const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
    return { cert: certificate.toString('pem'), key, serialNumber: serialNumber.toUpperCase() };
  }
}

/** A folder of certificate files, which `remove` deletes. */
export class CertificateFolder {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.certFile = path.join(folder, 'tls.crt');
    this.keyFile = path.join(folder, 'tls.key');
    this.clientCaFile = path.join(folder, 'ca.crt');
  }

  static async create({ cert, key }: Pair, clientCa: string): Promise<CertificateFolder> {
    const folder = new CertificateFolder(await mkdtemp(path.join(tmpdir(), 'certificates-test-')));
    await folder.replace(folder.certFile, cert);
    await folder.replace(folder.keyFile, key);
    await folder.replace(folder.clientCaFile, clientCa);
    return folder;
  }

  /** Replaces a file by a rename, as editors and renewals do. */
  async replace(file: string, text: string): Promise<void> {
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

function validity() {
  const hour = 3_600_000;
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + 24 * hour) };
}

function nextSerial(): string {
  serial += 1;
  return (0x4000_0000 + serial).toString(16);
}
