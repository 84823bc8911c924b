import { analyse } from 'scslre';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { decimal } from '../../services/coupon-service/coupons/decimals.ts';
import { readPage } from '../../services/coupon-service/listing/paging.ts';
import { parseSlotId } from '../../services/slot-service/slots/delivery-sequence.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { UpdateDeliverySequenceRequestSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { parseDate } from '../../shared/rpc/dates.ts';
import { checkMessageBounds } from '../../shared/rpc/limits/message-bounds.ts';
import { readSearch } from '../../shared/searching/searching.ts';
import { traceIdOf } from '../../shared/telemetry/trace-context.ts';
import { filesIn, matches, read, sourceFiles } from '../support/repository.ts';

const longest = 200_000;
const of = (...pieces: string[]) => pieces.map((piece) => piece.repeat(Math.ceil(longest / piece.length)));
const around = (text: string) => [text, `a${text}b`, `2026-03-07T10:00:00${text}b`, `Mar 7 2026 10:00${text}b`];

/** Every parser of text that callers send, with the texts that are worst for it. */
const parsers: [string, (text: string) => unknown, string[]][] = [
  [
    'a date',
    parseDate,
    of(' ', '0', '1:', '1:00', '(', ')', '(a', '-', '/', ',', '. ', 'a ', '1 ', ' z', '+', '.1', '1-', 'mar ').flatMap(
      around,
    ),
  ],
  ['a slot id', parseSlotId, of('1', '+', ' ', '1a')],
  ['a decimal', decimal, of('1', '.', '1.', '1e').map((text) => `${text}x`)],
  ['a search', readSearch, of('%', '\\', 'a')],
  ['a page token', (pageToken) => readPage('x', { pageToken }), of('.', 'MS4', 'MS4xLjE', ' ')],
  ['a trace', traceIdOf, of('0', '00-', '-', '00-0')],
  ['the text of an error', invalidRequest, of('<', '>', '<a')],
  [
    'a request in JSON',
    (text) => checkMessageBounds('json', UpdateDeliverySequenceRequestSchema, Buffer.from(text)),
    of('[', '{', '"', '\\', '"\\', '[]', ',', '{"a":'),
  ],
  [
    'a request in binary form',
    (text) => checkMessageBounds('proto', UpdateDeliverySequenceRequestSchema, Buffer.from(text, 'latin1')),
    of('\x12', '\x12\x04', '\x0a\x00', '\x0b', '\x7f', '\xff').map((text) => text.repeat(2)),
  ],
];

// In linear time, the longest text takes milliseconds, and in quadratic time a minute. The shorter texts
// come first, so that a parser that is worse than quadratic fails before it runs for hours.
const lengths = [2_000, 20_000, 2 * longest];
const longMs = 3_000;

/** A text with less of its middle. */
function shortened(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length / 2) + text.slice(-length / 2);
}

describe('Parsers', () => {
  it.each(parsers)('The time to read %s is linear in its length', (_name, read, texts) => {
    for (const text of lengths.flatMap((length) => texts.map((each) => shortened(each, length)))) {
      const start = performance.now();
      try {
        read(text);
      } catch {
        // A refusal is as good.
      }
      expect(performance.now() - start, text.slice(0, 40)).toBeLessThan(longMs);
    }
  });
});

/** The regular expressions of the rules in the .proto files. */
const protoPatterns = filesIn('proto')
  .filter((file) => file.endsWith('.proto'))
  .flatMap((file) => matches(read(file), /^ *pattern: "(.*)"$/gm).map((pattern) => [file, `/${pattern}/u`] as const));

/** The regular expressions of a file, as they are written. */
function patternsOf(file: string): string[] {
  const patterns: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) patterns.push(node.text);
    if (ts.isNewExpression(node) && node.expression.getText(source) === 'RegExp') {
      patterns.push('one that is made');
    }
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  visit(source);
  return patterns;
}

describe('The regular expressions', () => {
  it('Those of the .proto files are found', () => {
    expect(protoPatterns).not.toEqual([]);
  });

  it.each([
    ...sourceFiles
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => patternsOf(file).map((pattern) => [file, pattern] as const)),
    ...protoPatterns,
  ])('A regular expression of %s does not backtrack: %s', (_file, pattern) => {
    const end = pattern.lastIndexOf('/');
    expect(pattern.startsWith('/')).toBe(true);
    const { reports } = analyse({ source: pattern.slice(1, end), flags: pattern.slice(end + 1) });
    expect(reports).toEqual([]);
  });
});
