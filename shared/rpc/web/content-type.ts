// Linear: each character has one place. A parameter that is called charset is UTF-8.
const utf8Type =
  /^([^\s;]+)(?:[ \t]*;(?:[ \t]*(?:charset=(?:utf-?8|"utf-?8")|(?!charset=)[^\s;="]+=(?:"(?:[^"\\]|\\.)*"|[^\s;"]+)))?)*[ \t]*$/i;

/**
 * Returns a content type in lower case and without its parameters, which mean nothing beyond the charset (RFC 9110
 * 8.3.1). One of another charset than UTF-8, or malformed, keeps them, and with them no procedure takes it.
 */
export function withoutParameters(contentType: string): string {
  return (utf8Type.exec(contentType)?.[1] ?? contentType).toLowerCase();
}
