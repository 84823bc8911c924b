import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { CertificateFiles } from '../../shared/tls/certificate-files.ts';
import { Authority, CertificateFolder, type Pair } from '../support/certificates.ts';

const logger = createLogger('test', 'silent');

describe('Certificate files', () => {
  let authority: Authority;
  let pair: Pair;
  let folder: CertificateFolder;
  let files: CertificateFiles | undefined;
  beforeAll(async () => {
    authority = await Authority.create('the authority');
    pair = await authority.sign();
  });
  beforeEach(async () => {
    folder = await CertificateFolder.create(pair, authority.cert);
  });
  afterEach(async () => {
    files?.close();
    await folder.remove();
  });

  it.each([
    ['TLS_CERT_FILE', 'certFile', 'a certificate'],
    ['TLS_CERT_FILE', 'certFile', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ['TLS_KEY_FILE', 'keyFile', 'a key'],
    ['TLS_CLIENT_CA_FILE', 'clientCaFile', 'an authority'],
  ] as const)('A broken certificate file is refused by its variable: %s', async (variable, file, text) => {
    await folder.replace(folder[file], text);
    await expect(CertificateFiles.open(folder, logger)).rejects.toThrow(new RegExp(`^${variable} holds no `));
  });

  it('Missing certificate files are refused, each by its variable', async () => {
    const missing = { certFile: 'no-such.crt', keyFile: 'no-such.key', clientCaFile: 'no-such-ca.crt' };
    await expect(CertificateFiles.open(missing, logger)).rejects.toThrow(
      /^TLS_CERT_FILE can't be read: .*\nTLS_KEY_FILE can't be read: .*\nTLS_CLIENT_CA_FILE can't be read: [^\n]*$/,
    );
  });

  it('A certificate and a key that do not belong together are refused', async () => {
    await folder.replace(folder.keyFile, (await authority.sign()).key);
    await expect(CertificateFiles.open(folder, logger)).rejects.toThrow(
      'TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE',
    );
  });

  it('Certificate files are read again when the link to their folder is replaced', async () => {
    const root = path.dirname(folder.certFile);
    const fill = async (name: string, { cert, key }: Pair) => {
      await mkdir(path.join(root, name));
      await writeFile(path.join(root, name, 'tls.crt'), cert);
      await writeFile(path.join(root, name, 'tls.key'), key);
    };
    const next = await authority.sign();
    await fill('first', pair);
    await fill('second', next);
    await symlink('first', path.join(root, 'data'));
    const [certFile, keyFile] = [path.join(root, 'data', 'tls.crt'), path.join(root, 'data', 'tls.key')];
    const opened = await CertificateFiles.open({ certFile, keyFile, clientCaFile: undefined }, logger);
    files = opened;
    const changed = new Promise<void>((resolve) => opened.onChange(resolve));
    await symlink('second', path.join(root, 'data.new'));
    await rename(path.join(root, 'data.new'), path.join(root, 'data'));
    await changed;
    expect(opened.current.cert.toString()).toBe(next.cert);
  });

  it('Certificate files that stay broken are logged once', async ({ onTestFinished }) => {
    const lines: string[] = [];
    const logged = createLogger('test', 'error', { write: (line) => void lines.push(line) });
    const broken = await CertificateFiles.open(folder, logged);
    files = broken;
    await folder.replace(folder.keyFile, 'a key');
    await expect.poll(() => lines).toHaveLength(1);
    // Another folder is checked as often: after its second change, the broken files were checked again.
    const clock = await CertificateFolder.create(pair, authority.cert);
    const looked = await CertificateFiles.open(clock, logger);
    onTestFinished(async () => {
      looked.close();
      await clock.remove();
    });
    for (const { cert, key } of [await authority.sign(), await authority.sign()]) {
      const changed = new Promise<void>((resolve) => looked.onChange(resolve));
      await clock.replace(clock.certFile, cert);
      await clock.replace(clock.keyFile, key);
      await changed;
    }
    expect(lines).toHaveLength(1);
  });
});
