/** Reads the name of an order, without pasted spaces: visible ASCII characters (design 13). Undefined for any other text. */
export function readOrderKey(text: string): string | undefined {
  const key = text.replace(/\s/g, '');
  return /^[!-~]{1,128}$/.test(key) ? key : undefined;
}

/** Returns the path of an order's page. */
export function orderPath(orderKey: string): string {
  // Not in the path: there, an address has no place for `..`, nor for `%2F`.
  return `/orders?${new URLSearchParams({ key: orderKey })}`;
}
