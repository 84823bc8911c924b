/** What the page needs to know of the deployment (design 11). Everybody who opens the page can read it. */
export interface PageConfig {
  /** Where browsers reach the web ports of the services, without a slash at the end. */
  readonly slotUrl: string;
  readonly couponUrl: string;
  /** Undefined: staff paste a token. */
  readonly oidc: OidcConfig | undefined;
}

/** How staff sign in with OpenID Connect. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** The `resource` parameter (RFC 8707), by which some providers choose the audience of a token. */
  readonly resource: string | undefined;
}
