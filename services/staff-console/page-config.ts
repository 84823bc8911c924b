// The page has the digits of its currency from here: browsers differ, and the services must not.
export { digitsOfCurrency } from '../../shared/config/currencies.ts';

/** The page's configuration, which depends on the deployment (design 11). Anyone who opens the page can read it. */
export interface PageConfig {
  /** The URLs at which browsers reach the web ports of the services, without a trailing slash. */
  readonly slotUrl: string;
  readonly couponUrl: string;
  /** If it is undefined, staff paste a token. */
  readonly oidc: OidcConfig | undefined;
  /** The time zone in which the page shows and reads times: an IANA name that Intl knows. */
  readonly timeZone: string;
  /** The currency of all amounts, ISO 4217. Undefined: amounts are shown without one. */
  readonly currency: string | undefined;
}

/** The settings for signing in with OpenID Connect. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** The `resource` parameter (RFC 8707), by which some providers choose the audience of a token. */
  readonly resource: string | undefined;
}
