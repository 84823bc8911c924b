import { once } from 'node:events';
import { Agent } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { credentials } from '@grpc/grpc-js';
import { expect } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { Authority, CertificateFolder, type Pair } from './certificates.ts';
import { failureOf } from './contract.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';
import type { Replica } from './replica.ts';
import { Stage } from './stage.ts';
import { signToken, withToken } from './tokens.ts';

/** The authority that a client trusts, and its own certificate where it has one. */
export interface ClientSide {
  readonly ca: string;
  readonly own?: Pair;
}

/** A slot-service over TLS, with a database and certificates of its own. */
export class TlsStage {
  readonly authority: Authority;
  readonly folder: CertificateFolder;
  readonly server: Pair;
  readonly replica: Replica;
  /** The token of staff user 1. */
  readonly token: string;
  readonly #stage: Stage;
  /** Each keeps its connections until the end, as a browser does. */
  readonly #agents: Agent[] = [];

  private constructor(stage: Stage, parts: Pick<TlsStage, 'authority' | 'folder' | 'server' | 'replica' | 'token'>) {
    this.#stage = stage;
    this.authority = parts.authority;
    this.folder = parts.folder;
    this.server = parts.server;
    this.replica = parts.replica;
    this.token = parts.token;
  }

  static async open({ mutual }: { mutual: boolean }): Promise<TlsStage> {
    const authority = await Authority.create('the authority');
    const server = await authority.sign();
    const folder = await CertificateFolder.create(server, authority.cert);
    const stage = await Stage.open();
    const variables = {
      TLS_CERT_FILE: folder.certFile,
      TLS_KEY_FILE: folder.keyFile,
      ...(mutual ? { TLS_CLIENT_CA_FILE: folder.clientCaFile } : {}),
    };
    const replica = await stage.start({ env: variables });
    return new TlsStage(stage, { authority, folder, server, replica, token: await signToken({ staffId: 1 }) });
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
    await this.#stage.close();
    await this.folder.remove();
  }

  get databaseUrl(): string {
    return this.#stage.database.url;
  }

  /** A client that trusts the authority of this stage. */
  get trusting(): ClientSide {
    return { ca: this.authority.cert };
  }

  grpc({ ca, own }: ClientSide): Transport & { close(): void } {
    const { grpcPort } = this.replica.ports;
    const [key, cert] = own === undefined ? [null, null] : [Buffer.from(own.key), Buffer.from(own.cert)];
    const transport = createGrpcJsTransport(`localhost:${grpcPort}`, credentials.createSsl(Buffer.from(ca), key, cert));
    return { ...withToken(transport, this.token), close: transport.close };
  }

  connect(side: ClientSide): Transport {
    return withToken(createConnectTransport(this.#web(side)), this.token);
  }

  grpcWeb(side: ClientSide): Transport {
    return withToken(createGrpcWebTransport(this.#web(side)), this.token);
  }

  /** Opens a TLS connection to a port; rejects when the handshake fails. */
  async dial(port: 'grpcPort' | 'webPort', options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({
      port: this.replica.ports[port],
      host: 'localhost',
      ca: this.authority.cert,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...options,
    });
    await once(socket, 'secureConnect');
    return socket;
  }

  /** The serial number of the certificate that a port shows to a new connection. */
  async shownOn(port: 'grpcPort' | 'webPort'): Promise<string> {
    const socket = await this.dial(port);
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  #web({ ca, own }: ClientSide) {
    const agent = new Agent({ keepAlive: true });
    this.#agents.push(agent);
    const certificate = own === undefined ? {} : { cert: own.cert, key: own.key };
    return {
      baseUrl: `https://localhost:${this.replica.ports.webPort}`,
      httpVersion: '1.1' as const,
      nodeOptions: { ca, agent, ...certificate },
    };
  }
}

/** Asserts that a call fails with an error of the connection: no service answered it. */
export async function expectNoConnection(call: Promise<unknown>): Promise<void> {
  const { code, details, message } = await failureOf(call);
  expect(details, message).toEqual([]);
  expect(['Unavailable', 'Internal', 'Aborted', 'Canceled'], message).toContain(Code[code]);
}

export const slotsOver = (transport: Transport) => createClient(SlotService, transport);
export const storesOver = (transport: Transport) => createClient(SlotStoreService, transport);
