import { describe, expect, it } from 'vitest';
import { packToken, readToken, unpackToken } from '../../../services/staff-console/page/session/token.ts';

const tokenOf = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const text = tokenOf({ sub: 'staff-1', staff_id: 1, name: 'Asha Ménon', exp: 9_999 });
const token = { subject: 'staff-1', staffId: 1, name: 'Asha Ménon', expiresAt: 9_999_000, isAccepted: false };

describe('A token that staff paste', () => {
  it.each(['', 'Bearer ', '  bearer  '])('It is read after "%s"', (before) => {
    expect(readToken(`${before}${text}\n`)).toMatchObject({ ...token, text });
  });

  it.each(['', 'hello', 'a.b.c', 'Bearer', text.slice(0, 40), tokenOf({ sub: 'x' }), tokenOf({ exp: 1 }), 'e30.e30.'])(
    '“%s” is none',
    (other) => {
      expect(readToken(other)).toBeUndefined();
    },
  );

  it('Without a name it has its subject, and without the number of a staff user none', () => {
    const claims = { sub: 'driver', staff_id: '1', name: { first: 'A' }, exp: 1 };
    expect(readToken(tokenOf(claims))).toMatchObject({ name: 'driver', staffId: undefined });
  });

  it('The details of a provider come before its own claims', () => {
    expect(readToken(text, { name: 'Asha', renewal: 'r' })).toMatchObject({ name: 'Asha', renewal: 'r' });
  });

  it('It is stored with what the page knows of it, and anything else that is stored is none', () => {
    const known = readToken(text, { name: 'Asha', renewal: 'r', isAccepted: true });
    expect(known && unpackToken(packToken(known))).toEqual(known);
    for (const other of [undefined, 7, 'x', '{}', '[]', 'null']) expect(unpackToken(other)).toBeUndefined();
  });
});
