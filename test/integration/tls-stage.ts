import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type Settings } from 'node:http2';
import { Agent } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { expect } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { Authority, CertificateFolder, type Pair } from '../support/certificates.ts';
import { failureOf } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { Replica, withToken } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';

type HttpVersion = '1.1' | '2';

/** What a client brings: whom it trusts, and perhaps a certificate of its own. */
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
  readonly #database: TestDatabase;
  /** Keeps its connections until the end, as a browser does. */
  readonly #agent = new Agent({ keepAlive: true });
  readonly #token: string;

  private constructor(
    parts: Pick<TlsStage, 'authority' | 'folder' | 'server' | 'replica'>,
    rest: [TestDatabase, string],
  ) {
    this.authority = parts.authority;
    this.folder = parts.folder;
    this.server = parts.server;
    this.replica = parts.replica;
    [this.#database, this.#token] = rest;
  }

  static async open({ mutual }: { mutual: boolean }): Promise<TlsStage> {
    const authority = await Authority.create('the authority');
    const server = await authority.sign();
    const folder = await CertificateFolder.create(server, authority.cert);
    const database = await createDatabase();
    await database.sql("insert into staff_users (id, name) values (1, 'Asha Menon')");
    const variables = {
      TLS_CERT_FILE: folder.certFile,
      TLS_KEY_FILE: folder.keyFile,
      ...(mutual ? { TLS_CLIENT_CA_FILE: folder.clientCaFile } : {}),
    };
    const replica = await Replica.start({ databaseUrl: database.url, env: variables });
    return new TlsStage({ authority, folder, server, replica }, [database, await signToken({ staffId: 1 })]);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.replica.kill();
    await this.#database.close();
    await this.folder.remove();
  }

  /** A client's side that trusts the authority of this stage. */
  get trusting(): ClientSide {
    return { ca: this.authority.cert };
  }

  /** That of staff user 1. */
  get token(): string {
    return this.#token;
  }

  grpc({ ca, own }: ClientSide): Transport & { close(): void } {
    const { grpcPort } = this.replica.ports;
    const [key, cert] = own === undefined ? [null, null] : [Buffer.from(own.key), Buffer.from(own.cert)];
    const transport = createGrpcJsTransport(`localhost:${grpcPort}`, credentials.createSsl(Buffer.from(ca), key, cert));
    return { ...withToken(transport, this.#token), close: transport.close };
  }

  connect(httpVersion: HttpVersion, side: ClientSide): Transport {
    return withToken(createConnectTransport(this.#web(httpVersion, side)), this.#token);
  }

  grpcWeb(httpVersion: HttpVersion, side: ClientSide): Transport {
    return withToken(createGrpcWebTransport(this.#web(httpVersion, side)), this.#token);
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

  /** The serial number of the certificate that a new connection to a port is shown. */
  async shownOn(port: 'grpcPort' | 'webPort'): Promise<string> {
    const socket = await this.dial(port);
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  /** Opens an HTTP/2 session that has no stream. */
  async session(settings: Settings = {}): Promise<ClientHttp2Session> {
    const address = `https://localhost:${this.replica.ports.webPort}`;
    const session = connectHttp2(address, { ca: this.authority.cert, settings });
    session.on('error', () => session.destroy());
    await once(session, 'remoteSettings');
    return session;
  }

  /** Makes every read of slots wait until the release. */
  async lockSlots(): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: this.#database.url });
    await client.connect();
    await client.query('begin; lock table slots in access exclusive mode');
    return () => client.end();
  }

  /** Resolves once a GetSlots waits for a lock. */
  async untilBlocked(): Promise<void> {
    // A refresh of the stores may wait, too.
    const blocked = `
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '% from slots where is_active'`;
    await expect.poll(() => this.#database.sql(blocked)).not.toHaveLength(0);
  }

  #web(httpVersion: HttpVersion, { ca, own }: ClientSide) {
    const { webPort } = this.replica.ports;
    const agent = httpVersion === '1.1' ? { agent: this.#agent } : {};
    return {
      baseUrl: `https://localhost:${webPort}`,
      httpVersion,
      nodeOptions: { ca, ...agent, ...(own === undefined ? {} : { cert: own.cert, key: own.key }) },
      idleConnectionTimeoutMs: 500,
    };
  }
}

/** Asserts that a call did not reach a service: its error is one of the connection. */
export async function expectNoConnection(call: Promise<unknown>): Promise<void> {
  const { code, details, message } = await failureOf(call);
  expect(details, message).toEqual([]);
  expect(['Unavailable', 'Internal', 'Aborted', 'Canceled'], message).toContain(Code[code]);
}

export const slotsOver = (transport: Transport) => createClient(SlotService, transport);
export const storesOver = (transport: Transport) => createClient(SlotStoreService, transport);
