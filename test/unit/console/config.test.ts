import { describe, expect, it } from 'vitest';
import { readConsoleConfig } from '../../../services/staff-console/config.ts';

const oidc = { CONSOLE_OIDC_ISSUER: 'https://idp.example/realms/shop', CONSOLE_OIDC_CLIENT_ID: 'console' };

describe('The configuration of the console', () => {
  it('The configuration of the console leads to services on the same machine, and to pasted tokens, unless told', () => {
    expect(readConsoleConfig({})).toEqual({
      bindAddress: '0.0.0.0',
      port: 8050,
      logLevel: 'info',
      page: {
        ...{ slotUrl: 'http://localhost:8051', couponUrl: 'http://localhost:8052', oidc: undefined },
        ...{ timeZone: 'UTC', currency: undefined },
      },
      oidcOrigins: [],
    });
  });

  it('The configuration of the console follows the web ports of the services', () => {
    const { page } = readConsoleConfig({ SLOT_WEB_PORT: '9001', COUPON_WEB_PORT: '9002' });
    expect(page).toMatchObject({ slotUrl: 'http://localhost:9001', couponUrl: 'http://localhost:9002' });
  });

  it('The address of a service loses the slash at its end', () => {
    const { page } = readConsoleConfig({ CONSOLE_SLOT_URL: 'https://api.example/slot//' });
    expect(page.slotUrl).toBe('https://api.example/slot');
  });

  it('An issuer and a client turn OpenID Connect on', () => {
    expect(readConsoleConfig(oidc)).toMatchObject({
      page: { oidc: { issuer: 'https://idp.example/realms/shop', clientId: 'console', scope: 'openid' } },
      oidcOrigins: ['https://idp.example'],
    });
  });

  it('The page may call the origins of the provider that are listed', () => {
    const { oidcOrigins } = readConsoleConfig({
      ...oidc,
      CONSOLE_OIDC_ORIGINS: 'https://token.example, http://localhost:9000',
    });
    expect(oidcOrigins).toEqual(['https://idp.example', 'https://token.example', 'http://localhost:9000']);
  });

  it.each([
    ['CONSOLE_PORT must be a port', { CONSOLE_PORT: '65536' }],
    ['CONSOLE_SLOT_URL must be a URL', { CONSOLE_SLOT_URL: 'localhost:8051' }],
    ['CONSOLE_COUPON_URL must be a URL', { CONSOLE_COUPON_URL: 'ftp://api.example' }],
    ['BIND_ADDRESS must be an IP address', { BIND_ADDRESS: 'localhost' }],
    ['LOG_LEVEL must be one of', { LOG_LEVEL: 'loud' }],
    ['BUSINESS_TIME_ZONE must be the name of a time zone', { BUSINESS_TIME_ZONE: '+05:30' }],
    ['BUSINESS_CURRENCY must be a currency of ISO 4217', { BUSINESS_CURRENCY: 'inr' }],
    ['CONSOLE_OIDC_ISSUER must be a URL', { ...oidc, CONSOLE_OIDC_ISSUER: 'idp.example' }],
    ['CONSOLE_OIDC_CLIENT_ID is not set: CONSOLE_OIDC_ISSUER needs it', { ...oidc, CONSOLE_OIDC_CLIENT_ID: '' }],
    ['CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_CLIENT_ID needs it', { ...oidc, CONSOLE_OIDC_ISSUER: '' }],
    ['CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_SCOPE needs it', { CONSOLE_OIDC_SCOPE: 'openid' }],
    ['CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_RESOURCE needs it', { CONSOLE_OIDC_RESOURCE: 'admin' }],
    ['CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_ORIGINS needs it', { CONSOLE_OIDC_ORIGINS: 'https://t.example' }],
    ['CONSOLE_OIDC_SCOPE must have openid in it', { ...oidc, CONSOLE_OIDC_SCOPE: 'profile offline_access' }],
    ['CONSOLE_OIDC_ORIGINS must be a list of origins', { ...oidc, CONSOLE_OIDC_ORIGINS: 'https://token.example/path' }],
    ['CONSOLE_OIDC_ORIGINS must be a list of origins', { ...oidc, CONSOLE_OIDC_ORIGINS: '*' }],
    [
      'CONSOLE_OIDC_ORIGINS must be a list of origins',
      { ...oidc, CONSOLE_OIDC_ORIGINS: 'https://a.example;script-src' },
    ],
  ])('The console refuses to start, and says why: %s', (line, variables) => {
    const start = () => readConsoleConfig(variables);
    expect(start).toThrow(line);
    expect(start).toThrow(/^[^\n]*$/);
  });

  it('The error of the console has a line for each wrong variable', () => {
    expect(() => readConsoleConfig({ CONSOLE_PORT: 'x', CONSOLE_SLOT_URL: 'x', LOG_LEVEL: 'x' })).toThrow(
      /^[^\n]*\n[^\n]*\n[^\n]*$/,
    );
  });
});
