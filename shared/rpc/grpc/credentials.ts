import { ServerCredentials } from '@grpc/grpc-js';
import {
  type CaCertificateListener,
  type CertificateProvider,
  createProviderCredentials,
  type IdentityCertificateListener,
} from '../../internals/grpc-js.ts';
import type { CertificateFiles } from '../../tls/certificate-files.ts';

/**
 * Creates the credentials of the gRPC port: cleartext without certificates, otherwise TLS that picks up changed
 * certificate files. `ServerCredentials.createSsl` would keep its first certificate, and the file watcher of grpc-js
 * would reject every connection while a file is missing or broken.
 */
export function createServerCredentials(certificates: CertificateFiles | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const provider = new CertificateFilesProvider(certificates);
  return createProviderCredentials(provider, certificates.requiresClientCertificate ? provider : null);
}

class CertificateFilesProvider implements CertificateProvider {
  readonly #certificates: CertificateFiles;
  readonly #identityListeners = new Set<IdentityCertificateListener>();
  readonly #caListeners = new Set<CaCertificateListener>();

  constructor(certificates: CertificateFiles) {
    this.#certificates = certificates;
    certificates.onChange(() => {
      for (const listener of this.#caListeners) this.#sendCa(listener);
      for (const listener of this.#identityListeners) this.#sendIdentity(listener);
    });
  }

  // Sends the first certificate in a later tick, because grpc-js can handle it only after it has
  // added all of its listeners.
  addIdentityCertificateListener(listener: IdentityCertificateListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => this.#sendIdentity(listener));
  }

  addCaCertificateListener(listener: CaCertificateListener): void {
    this.#caListeners.add(listener);
    process.nextTick(() => this.#sendCa(listener));
  }

  removeIdentityCertificateListener(listener: IdentityCertificateListener): void {
    this.#identityListeners.delete(listener);
  }

  removeCaCertificateListener(listener: CaCertificateListener): void {
    this.#caListeners.delete(listener);
  }

  #sendIdentity(listener: IdentityCertificateListener): void {
    const { cert, key } = this.#certificates.current;
    listener({ certificate: cert, privateKey: key });
  }

  #sendCa(listener: CaCertificateListener): void {
    const { clientCa } = this.#certificates.current;
    listener(clientCa === undefined ? null : { caCertificate: clientCa });
  }
}
