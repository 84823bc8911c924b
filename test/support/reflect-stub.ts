/**
 * @peculiar/x509 refuses to load without the metadata functions of a polyfill. What it makes here
 * needs no metadata, so functions that know none are enough. Imported before it.
 */
const known: object = Reflect;
if (!('getMetadata' in known)) {
  const none = () => undefined;
  Object.assign(Reflect, { getMetadata: none, getOwnMetadata: none, defineMetadata: none });
}
