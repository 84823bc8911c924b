import { expect, it } from 'vitest';
import { toMobile } from '../../services/slot-service/imports/mobile.ts';

it.each([
  ['+919876543210', '9876543210'],
  ['+91 98765-43210', '9876543210'],
  ['0091 (0) 98765 43210', '9876543210'],
  ['00919876543210', '9876543210'],
  ['919876543210', '9876543210'],
  ['09876543210', '9876543210'],
  ['9876543210', '9876543210'],
  ['9198765432', '9198765432'],
  ['९८७६५४३२१०', '9876543210'],
  ['+449876543210', '+449876543210'],
  ['+9876543210', '+9876543210'],
  ['98765 4321', '987654321'],
  ['tel: +91 98765 43210', 'tel:+919876543210'],
  ['', ''],
  ['  ', ''],
])('With the calling code 91, the mobile number "%s" is stored as "%s"', (given, stored) => {
  expect(toMobile(given, '91')).toBe(stored);
});

it.each(['9.19877E+11', ' 9,19877e+11', '\u00a09.19877E+11', '+9.19877E+11', '9.19877 E 11'])(
  'The mobile number "%s" was shortened by a spreadsheet',
  (given) => expect(() => toMobile(given, '91')).toThrow('mobile: a spreadsheet has shortened the number'),
);

it('Without a calling code, a mobile number is stored as given, without white space', () => {
  expect(toMobile(' +91 98765\u00a043210\t', undefined)).toBe('+919876543210');
});
