import { defaultConsolePort, defaultPorts, readBindAddress, readLogLevel } from '../../shared/config/config.ts';
import { ConfigErrors, type Environment, readPort, readUrl } from '../../shared/config/variables.ts';
import type { OidcConfig, PageConfig } from './page-config.ts';

/** The configuration of the console (design 1 and 11). */
export interface ConsoleConfig {
  /** The IP address that the port is bound to. */
  readonly bindAddress: string;
  readonly port: number;
  readonly logLevel: string;
  readonly page: PageConfig;
}

/** Reads the console's variables. Throws a `ConfigError` with a line for each variable that is wrong. */
export function readConsoleConfig(env: Environment): ConsoleConfig {
  const errors = new ConfigErrors();
  const config: ConsoleConfig = {
    bindAddress: readBindAddress(env, errors),
    port: readPort(env, 'CONSOLE_PORT', defaultConsolePort, errors),
    logLevel: readLogLevel(env, errors),
    page: {
      slotUrl: readServiceUrl(env, 'CONSOLE_SLOT_URL', env.SLOT_WEB_PORT || defaultPorts.slot.web, errors),
      couponUrl: readServiceUrl(env, 'CONSOLE_COUPON_URL', env.COUPON_WEB_PORT || defaultPorts.coupon.web, errors),
      oidc: readOidc(env, errors),
    },
  };
  errors.throwIfAny();
  return config;
}

function readServiceUrl(env: Environment, name: string, unsetPort: string | number, errors: ConfigErrors): string {
  let url = readUrl(env, name, ['http:', 'https:'], errors) ?? `http://localhost:${unsetPort}`;
  // Paths are appended with a slash of their own.
  while (url.endsWith('/')) url = url.slice(0, -1);
  return url;
}

function readOidc(env: Environment, errors: ConfigErrors): OidcConfig | undefined {
  const issuer = readUrl(env, 'CONSOLE_OIDC_ISSUER', ['http:', 'https:'], errors);
  const clientId = env.CONSOLE_OIDC_CLIENT_ID;
  if (issuer === undefined || !clientId) {
    if (issuer !== undefined) errors.add('CONSOLE_OIDC_CLIENT_ID is not set: CONSOLE_OIDC_ISSUER needs it');
    if (clientId && !env.CONSOLE_OIDC_ISSUER) {
      errors.add('CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_CLIENT_ID needs it');
    }
    return undefined;
  }
  const scope = env.CONSOLE_OIDC_SCOPE || 'openid';
  return { issuer, clientId, scope, resource: env.CONSOLE_OIDC_RESOURCE || undefined };
}
