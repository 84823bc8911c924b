import { readBusinessCurrency, readBusinessTimeZone } from '../../shared/config/business.ts';
import { defaultConsolePort, defaultPorts, readBindAddress, readLogLevel } from '../../shared/config/config.ts';
import { ConfigErrors, type Environment, readList, readPort, readUrl } from '../../shared/config/variables.ts';
import type { OidcConfig, PageConfig } from './page-config.ts';

/** The configuration of the console (design 1 and 11). */
export interface ConsoleConfig {
  readonly bindAddress: string;
  readonly port: number;
  readonly logLevel: string;
  readonly page: PageConfig;
  /** The origins that the page may call besides the services: the provider's own, and those of its endpoints. */
  readonly oidcOrigins: readonly string[];
}

/** Reads the console's variables. Throws a `ConfigError` with a line for each invalid variable. */
export function readConsoleConfig(env: Environment): ConsoleConfig {
  const errors = new ConfigErrors();
  const oidc = readOidc(env, errors);
  const furtherOrigins = readOrigins(env, errors);
  const config: ConsoleConfig = {
    bindAddress: readBindAddress(env, errors),
    port: readPort(env, 'CONSOLE_PORT', defaultConsolePort, errors),
    logLevel: readLogLevel(env, errors),
    page: {
      slotUrl: readServiceUrl(env, 'CONSOLE_SLOT_URL', env.SLOT_WEB_PORT || defaultPorts.slot.web, errors),
      couponUrl: readServiceUrl(env, 'CONSOLE_COUPON_URL', env.COUPON_WEB_PORT || defaultPorts.coupon.web, errors),
      oidc,
      timeZone: readBusinessTimeZone(env, errors),
      currency: readBusinessCurrency(env, errors),
    },
    oidcOrigins: oidc === undefined ? [] : [new URL(oidc.issuer).origin, ...furtherOrigins],
  };
  errors.throwIfAny();
  return config;
}

function readServiceUrl(env: Environment, name: string, unsetPort: string | number, errors: ConfigErrors): string {
  let url = readUrl(env, name, ['http:', 'https:'], errors) ?? `http://localhost:${unsetPort}`;
  // The paths that are appended begin with a slash.
  while (url.endsWith('/')) url = url.slice(0, -1);
  return url;
}

function readOidc(env: Environment, errors: ConfigErrors): OidcConfig | undefined {
  const issuer = readUrl(env, 'CONSOLE_OIDC_ISSUER', ['http:', 'https:'], errors);
  const clientId = env.CONSOLE_OIDC_CLIENT_ID;
  const isSet = Boolean(env.CONSOLE_OIDC_ISSUER);
  if (isSet && !clientId) errors.add('CONSOLE_OIDC_CLIENT_ID is not set: CONSOLE_OIDC_ISSUER needs it');
  const details = ['CONSOLE_OIDC_CLIENT_ID', 'CONSOLE_OIDC_SCOPE', 'CONSOLE_OIDC_RESOURCE', 'CONSOLE_OIDC_ORIGINS'];
  for (const detail of details) {
    if (env[detail] && !isSet) errors.add(`CONSOLE_OIDC_ISSUER is not set: ${detail} needs it`);
  }
  if (issuer === undefined || !clientId) return undefined;
  const scope = env.CONSOLE_OIDC_SCOPE || 'openid';
  if (!scope.split(/\s+/).includes('openid')) errors.add(`CONSOLE_OIDC_SCOPE must have openid in it, not "${scope}"`);
  return { issuer, clientId, scope, resource: env.CONSOLE_OIDC_RESOURCE || undefined };
}

function readOrigins(env: Environment, errors: ConfigErrors): string[] {
  const origins = readList(env, 'CONSOLE_OIDC_ORIGINS');
  for (const origin of origins) {
    // Allows no other characters, because the origins become part of a header.
    if (/^https?:\/\/[\w.:[\]-]+$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin) continue;
    errors.add(`CONSOLE_OIDC_ORIGINS must be a list of origins such as https://idp.example, which "${origin}" is not`);
  }
  return origins;
}
