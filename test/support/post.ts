/**
 * Calls a procedure of SlotService over Connect, with a body as a client might send it: JSON, unless the
 * headers name another type.
 */
export function post(
  webPort: number,
  method: string,
  token: string,
  body: string | Uint8Array = '{}',
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${webPort}/slot.v1.SlotService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body,
  });
}
