/**
 * Calls a procedure, of SlotService unless told otherwise, over Connect, with a body as a client might send it: JSON, unless the
 * headers name another type.
 */
export function post(
  webPort: number,
  method: string,
  token: string,
  body: string | Uint8Array = '{}',
  headers: Readonly<Record<string, string>> = {},
  service = 'slot.v1.SlotService',
): Promise<Response> {
  return fetch(`http://127.0.0.1:${webPort}/${service}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body,
  });
}
