import { describe, expect, it } from 'vitest';
import {
  jsonProblem,
  moveStops,
  readSequence,
  stepStop,
  toText,
} from '../../../services/staff-console/page/sequence/sequence.ts';

describe('A delivery sequence, as the console edits it', () => {
  it('A map of lists of integers is read, and written with a line for each user', () => {
    const text = '{\n  "1": [5, 7],\n  "4": []\n}';
    expect(readSequence(text)).toEqual({ 1: [5, 7], 4: [] });
    expect(toText({ 1: [5, 7], 4: [] })).toBe(text);
  });

  it.each(['[1]', 'null', '{"1": 5}', '{"1": [0.5]}', '{"1": ["5"]}', '{'])('%s is no sequence', (text) => {
    expect(readSequence(text)).toBeUndefined();
  });

  it('Any JSON can be stored, also null', () => {
    expect(['null', '[1]', '"x"', '{'].map(jsonProblem)).toEqual([
      undefined,
      undefined,
      undefined,
      'This isn’t valid JSON.',
    ]);
  });

  it('A number that would be stored as another one is named, and not the digits of a text', () => {
    expect(jsonProblem('[9007199254740993]')).toBe('The number 9007199254740993 has too many digits to be stored.');
    expect(jsonProblem('["9007199254740993", 9007199254740992]')).toBeUndefined();
  });

  const sequence = { 1: [10, 20, 30, 40], 5: [], 7: [50] };

  it.each([
    ['before the second', [0, 2], '1', 1, { 1: [10, 30, 20, 40], 5: [], 7: [50] }],
    ['behind the last', [0], '1', 4, { 1: [20, 30, 40, 10], 5: [], 7: [50] }],
    ['into an empty list', [3], '5', 0, { 1: [10, 20, 30], 5: [40], 7: [50] }],
    ['to another list', [1, 0], '7', 0, { 1: [30, 40], 5: [], 7: [10, 20, 50] }],
    ['to where it is', [1], '1', 1, sequence],
  ] as const)('Stops that are moved %s keep their order', (_where, moved, user, index, expected) => {
    const places = moved.map((each) => ({ user: '1', index: each }));
    expect(moveStops(sequence, places, { user, index })).toEqual(expected);
  });

  it.each([
    [1, 1, { 1: [10, 30, 20, 40], 5: [], 7: [50] }],
    [1, -1, { 1: [20, 10, 30, 40], 5: [], 7: [50] }],
    [3, 1, { 1: [10, 20, 30], 5: [40], 7: [50] }],
    [0, -1, sequence],
  ] as const)('The stop at %i moves by %i, past the last to the next user', (index, by, expected) => {
    expect(stepStop(sequence, { user: '1', index }, by)).toEqual(expected);
  });
});
