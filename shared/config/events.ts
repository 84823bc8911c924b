import { type ConfigErrors, type Environment, readList, readUrl } from './variables.ts';

/** Where a service posts its audit entries, and what signs them (design 14). */
export interface EventsConfig {
  readonly url: string;
  /** One or two, each `whsec_` and base64. */
  readonly secrets: readonly string[];
}

/** Reads where events are posted; undefined: nowhere. No error quotes a value, because each has a secret in it. */
export function readEvents(env: Environment, errors: ConfigErrors): EventsConfig | undefined {
  const url = readUrl(env, 'EVENTS_URL', ['http:', 'https:'], errors);
  const secrets = readList(env, 'EVENTS_SECRET');
  if (!env.EVENTS_URL && !env.EVENTS_SECRET) return undefined;
  if (!env.EVENTS_URL) errors.add('EVENTS_URL is not set: give the address that events are posted to');
  if (url !== undefined && new URL(url).username + new URL(url).password !== '') {
    errors.add('EVENTS_URL must have no name and no password: EVENTS_SECRET signs what is posted');
  }
  if (!env.EVENTS_SECRET) errors.add('EVENTS_SECRET is not set: give the secret that signs events');
  else if (secrets.length < 1 || secrets.length > 2 || !secrets.every(isSecret)) {
    errors.add(
      'EVENTS_SECRET must be whsec_ and the base64 of 24 to 64 bytes, or two of these with a comma between them',
    );
  }
  return { url: url ?? '', secrets };
}

function isSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_(\S+)$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}
