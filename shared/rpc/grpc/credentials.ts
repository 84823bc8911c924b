import { experimental, ServerCredentials } from '@grpc/grpc-js';
import type { CertificateFiles } from '../certificates.ts';

/**
 * The credentials of the gRPC port. `ServerCredentials.createSsl` keeps what it was given; those of a
 * certificate provider follow it. grpc-js has a provider of files too, which refuses every connection
 * while a file is missing or broken.
 */
export function createServerCredentials(certificates: CertificateFiles | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const provider = new CertificateFilesProvider(certificates);
  const clientCa = certificates.asksClients ? provider : null;
  // The first is the one of the server's own certificate, whatever the names of its parameters say.
  return experimental.createCertificateProviderServerCredentials(provider, clientCa, certificates.asksClients);
}

class CertificateFilesProvider implements experimental.CertificateProvider {
  readonly #certificates: CertificateFiles;
  readonly #identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();
  readonly #caListeners = new Set<experimental.CaCertificateUpdateListener>();

  constructor(certificates: CertificateFiles) {
    this.#certificates = certificates;
    certificates.onChange(() => {
      for (const listener of this.#caListeners) this.#tellCa(listener);
      for (const listener of this.#identityListeners) this.#tellIdentity(listener);
    });
  }

  // grpc-js takes a first word only after it has added its listeners.
  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => this.#tellIdentity(listener));
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.add(listener);
    process.nextTick(() => this.#tellCa(listener));
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.delete(listener);
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.delete(listener);
  }

  #tellIdentity(listener: experimental.IdentityCertificateUpdateListener): void {
    const { cert, key } = this.#certificates.current;
    listener({ certificate: cert, privateKey: key });
  }

  #tellCa(listener: experimental.CaCertificateUpdateListener): void {
    const { clientCa } = this.#certificates.current;
    listener(clientCa === undefined ? null : { caCertificate: clientCa });
  }
}
