import { parseArgs } from 'node:util';
import { maxLifetimeDays } from '../../shared/auth/token.ts';
import { ConfigError } from '../../shared/config/variables.ts';
import { parseId } from '../../shared/db/int32.ts';
import { readTokenSecret } from './postgres/data-folder.ts';
import { readDataDir } from './settings.ts';
import { signToken, type TokenClaims } from './sign-token.ts';

const unitSeconds = new Map(Object.entries({ s: 1, m: 60, h: 3_600, d: 86_400 }));

try {
  const claims = readClaims(process.argv.slice(2));
  process.stdout.write(`${await signToken(await findSecret(), claims, process.env)}\n`);
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`token: ${text.split('\n', 1)[0]}\n`);
  process.exit(1);
}

function readClaims(args: string[]): TokenClaims {
  const { values } = parseArgs({
    args,
    options: {
      staff: { type: 'string' },
      'no-staff': { type: 'boolean', default: false },
      subject: { type: 'string' },
      ttl: { type: 'string', default: '8h' },
    },
  });
  if (values['no-staff'] && values.staff !== undefined) throw new ConfigError('give --staff or --no-staff, not both');
  const staffId = values['no-staff'] ? undefined : readStaffId(values.staff ?? '1');
  const subject = values.subject ?? (staffId === undefined ? 'visitor' : `staff-${staffId}`);
  if (subject === '') throw new ConfigError('--subject must not be empty');
  return { subject, staffId, lifetimeSeconds: readSeconds(values.ttl) };
}

function readStaffId(text: string): number {
  const id = parseId(text);
  if (id !== undefined) return id;
  throw new ConfigError(`--staff must be the id of a staff user, such as 1, not "${text}"`);
}

function readSeconds(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds.get(unit ?? '') ?? Number.NaN);
  if (seconds > 0 && seconds <= maxLifetimeDays * 86_400) return seconds;
  throw new ConfigError(`--ttl must be a time such as 30m, 8h or 7d, at most ${maxLifetimeDays}d, not "${text}"`);
}

async function findSecret(): Promise<string> {
  const { AUTH_JWT_SECRET: given, AUTH_JWKS_URL: jwksUrl } = process.env;
  if (given) return given;
  if (jwksUrl) throw new ConfigError('AUTH_JWKS_URL is set: its issuer makes the tokens');
  const kept = await readTokenSecret(readDataDir(process.env));
  if (kept !== undefined) return kept;
  throw new ConfigError('there is no secret to sign with: set AUTH_JWT_SECRET, or run npm start once');
}
