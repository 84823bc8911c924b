/** Licences that ask for no more than their notice. */
export const permissive = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  // Of fonts.
  'OFL-1.1',
  'Unlicense',
];

/** The licences that an SPDX expression names. Of several, all have to be allowed, also where one may choose. */
export const termsOf = (expression: string) => expression.replace(/[()]/g, '').split(/ (?:AND|OR) /);
