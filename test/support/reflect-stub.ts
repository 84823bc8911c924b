/**
 * @peculiar/x509 refuses to load without the metadata functions of a polyfill. The certificates of the
 * tests need no metadata, so empty functions are enough. Import this file before the package.
 */
const known: object = Reflect;
if (!('getMetadata' in known)) {
  const none = () => undefined;
  Object.assign(Reflect, { getMetadata: none, getOwnMetadata: none, defineMetadata: none });
}
