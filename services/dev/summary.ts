import type { StartSettings } from './settings.ts';

interface Start {
  readonly settings: StartSettings;
  /** A description of the database. */
  readonly database: string;
  /** The names of the applied migrations. */
  readonly migrations: readonly string[];
  readonly seeded: boolean;
  /** Undefined if an issuer signs the tokens. */
  readonly token: string | undefined;
}

/**
 * Returns the text that `npm start` prints once all services are serving. It begins with the
 * console's link, which signs in.
 */
export function describeStart({ settings, database, migrations, seeded, token }: Start): string {
  const { host, slot, coupon } = settings;
  const applied = migrations.length === 0 ? 'up to date' : `migrated (${migrations.join(', ')})`;
  const bearer = `authorization: Bearer ${token ?? '$TOKEN'}`;
  const procedure = 'slot.v1.SlotService/GetSlots';
  const page = `http://${host}:${settings.console.port}/`;
  const lines = [
    '',
    `Staff console   ${page}${token === undefined ? '' : `#token=${token}`}`,
    '',
    `Database        ${database}, ${applied}${seeded ? ', demo seeded' : ''}`,
    `slot-service    gRPC ${host}:${slot.grpc.port}   Connect and gRPC-Web http://${host}:${slot.web.port}`,
    `coupon-service  gRPC ${host}:${coupon.grpc.port}   Connect and gRPC-Web http://${host}:${coupon.web.port}`,
    '',
    ...(token === undefined
      ? ['Tokens come from the issuer of AUTH_JWKS_URL: put one into TOKEN first.']
      : ['A token of staff user 1, good for 8 hours:', '', token]),
    '',
    'Try it:',
    '',
    `curl -H 'content-type: application/json' -H '${bearer}' -d '{}' http://${host}:${slot.web.port}/${procedure}`,
    '',
    `npx buf curl --http2-prior-knowledge --reflect-protocol grpc-v1 --protocol grpc -H '${bearer}' -d '{}' ` +
      `http://${host}:${slot.grpc.port}/${procedure}`,
    '',
    'If grpcurl is installed:',
    '',
    `grpcurl -plaintext -H '${bearer}' ${host}:${slot.grpc.port} ${procedure}`,
    '',
    'Ready. Ctrl-C stops everything.',
    '',
  ];
  // In double quotes, the shell expands $TOKEN.
  return (token === undefined ? lines.map((line) => line.replace(`'${bearer}'`, `"${bearer}"`)) : lines).join('\n');
}
