import { describe, expect, it } from 'vitest';
import { jsonProblem, move, readSequence, writeSequence } from '../../services/staff-console/page/sequence/sequence.ts';

describe('A delivery sequence, as the console edits it', () => {
  it('A map of lists of integers is read, and written with a line for each user', () => {
    const text = '{\n  "1": [5, 7],\n  "4": []\n}';
    expect(readSequence(text)).toEqual({ 1: [5, 7], 4: [] });
    expect(writeSequence({ 1: [5, 7], 4: [] })).toBe(text);
  });

  it.each(['[1]', 'null', '{"1": 5}', '{"1": [0.5]}', '{"1": ["5"]}', '{'])('%s is no sequence', (text) => {
    expect(readSequence(text)).toBeUndefined();
  });

  it('Any JSON can be stored, also null', () => {
    expect(['null', '[1]', '"x"', '{'].map(jsonProblem)).toEqual([undefined, undefined, undefined, 'This is no JSON.']);
  });

  it('A number that would be stored as another one is named, and not the digits of a text', () => {
    expect(jsonProblem('[9007199254740993]')).toBe('The number 9007199254740993 has too many digits to be stored.');
    expect(jsonProblem('["9007199254740993", 9007199254740992]')).toBeUndefined();
  });

  it.each([
    [[3], 0, 'before', [40, 10, 20, 30]],
    [[0], 3, 'after', [20, 30, 40, 10]],
    [[0, 2], 3, 'before', [20, 10, 30, 40]],
    [[1], 1, 'after', [10, 20, 30, 40]],
  ] as const)('Stops %j that are dropped at %i, %s it, keep their order', (moved, target, side, order) => {
    expect(move([10, 20, 30, 40], new Set(moved), target, side)).toEqual(order);
  });
});
