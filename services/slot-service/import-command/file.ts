import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { ConfigError } from '../../../shared/config/variables.ts';

/** A row of a file. */
export interface FileRow {
  /** Its values by their columns: texts in a CSV, any JSON in JSON lines. */
  readonly values: ReadonlyMap<string, unknown>;
  /** About how many characters it has. */
  readonly length: number;
  /** Why it can't be taken, whatever its values are. */
  readonly problem?: string | undefined;
  /** Returns the row as the file has it, with the reason why it was refused. */
  withReason(reason: string): string;
}

/** A file of rows, in CSV with a heading or with a JSON object on each line (design 14). */
export interface RowFile {
  /** What a file of its refused rows begins with. */
  readonly heading: string;
  /** Reads the rows. Throws a `ConfigError` for a file that can't be taken as a whole. */
  rows(): AsyncGenerator<FileRow>;
}

/** A longer row is a sign of a missing quote. */
const maxRowLength = 1_000_000;
/** The column of a file of refused rows that says why. It is ignored. */
const reasonColumn = 'reason';

/**
 * Opens a file of rows. Its columns have the known names, in snake_case, or their JSON names, in any order. Throws a
 * `ConfigError` for a file that has no heading or is not UTF-8.
 */
export async function openRows(path: string, known: readonly string[]): Promise<RowFile> {
  const start = await startOf(path);
  // The first line that is not blank.
  const first = /\S.*/.exec(start)?.[0];
  if (first === undefined) throw new ConfigError('the file is empty');
  if (first.startsWith('{')) return jsonFile(path, known);
  // What the first line of all tells a spreadsheet of the separator.
  const told = /^sep=(.).*/i.exec(start);
  // No name of a column has such a character.
  const delimiter = told?.[1] ?? /[,;\t]/.exec(first)?.[0] ?? ',';
  return csvFile(path, known, { delimiter, fromLine: told ? 2 : 1 }, told ? `${told[0].trim()}\n` : '');
}

async function csvFile(path: string, known: readonly string[], format: CsvFormat, begin: string): Promise<RowFile> {
  const { delimiter } = format;
  let names: readonly string[] = [];
  for await (const cells of csvRecords(path, format)) {
    names = cells.map((cell) => cell.trim());
    break;
  }
  const columns = toColumns(names, [...known, '']);
  const reasonAt = columns.indexOf(reasonColumn);
  const line = (cells: readonly string[]) => `${cells.map((cell) => quoted(cell, delimiter)).join(delimiter)}\n`;
  // Of a row with too many or too few cells, the last one is the reason.
  const withoutReason = (cells: readonly string[]) => {
    const at = cells.length === columns.length ? reasonAt : cells.length - 1;
    return reasonAt < 0 ? cells : cells.filter((_cell, index) => index !== at);
  };
  async function* rows(): AsyncGenerator<FileRow> {
    let isHeading = true;
    for await (const cells of csvRecords(path, format)) {
      if (!isHeading) {
        const nameless = cells.findIndex((cell, index) => cell.trim() !== '' && names[index] === '');
        if (nameless >= 0) throw new ConfigError(`column ${nameless + 1} has values, and no name`);
        const own = withoutReason(cells);
        const isOdd = cells.length !== columns.length;
        yield {
          values: new Map(columns.map((column, index) => [column, cells[index]])),
          length: cells.reduce((sum, cell) => sum + cell.length, 0),
          problem: isOdd ? `has ${own.length} cells, and not ${withoutReason(names).length} as the heading` : undefined,
          withReason: (reason) => line([...own, reason]),
        };
      }
      isHeading = false;
    }
  }
  return { heading: begin + line([...withoutReason(names), reasonColumn]), rows };
}

function jsonFile(path: string, known: readonly string[]): RowFile {
  async function* rows(): AsyncGenerator<FileRow> {
    let number = 0;
    for await (const line of linesOf(path)) {
      number += 1;
      if (line.trim() === '') continue;
      const object = parseObject(line, number);
      const columns = toColumns(Object.keys(object), known);
      yield {
        values: new Map(Object.values(object).map((value, index) => [columns[index] ?? '', value])),
        length: line.length,
        withReason: (reason) => `${withReason(line, reason)}\n`,
      };
    }
  }
  return { heading: '', rows };
}

function parseObject(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below.
  }
  throw new ConfigError(`line ${number} is no JSON object`);
}

// What is in the object stays as it is written.
function withReason(line: string, reason: string): string {
  const object = line.trim().replace(/,?"reason":"(?:[^"\\]|\\.)*"\}$/, '}');
  return `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? '' : ','}"${reasonColumn}":${JSON.stringify(reason)}}`;
}

/** Throws a `ConfigError` for a name that is not known, or stands twice. */
function toColumns(names: readonly string[], known: readonly string[]): string[] {
  const columns = names.map((name) => toColumn(name, known));
  const twice = columns.find((column, index) => column !== '' && columns.indexOf(column) !== index);
  if (twice !== undefined) throw new ConfigError(`the column "${twice}" stands twice`);
  return columns;
}

function toColumn(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.replace(/[\s_]/g, '').toLowerCase();
  const column = [...known, reasonColumn].find((each) => plain(each) === plain(name));
  if (column !== undefined) return column;
  throw new ConfigError(`the column "${name}" is not known: there are ${known.filter(Boolean).join(', ')}`);
}

interface CsvFormat {
  readonly delimiter: string;
  /** The line of the heading. */
  readonly fromLine: number;
}

async function* csvRecords(path: string, format: CsvFormat): AsyncGenerator<string[]> {
  const parser = parse({
    ...format,
    relaxColumnCount: true,
    relaxQuotes: true,
    skipRecordsWithEmptyValues: true,
    maxRecordSize: maxRowLength,
    recordDelimiter: ['\r\n', '\n', '\r'],
  });
  // An error of the file destroys the parser, whose reader gets it.
  const reading = pipeline(Readable.from(textOf(path)), parser).catch(() => undefined);
  try {
    for await (const cells of parser) yield cells;
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : new ConfigError(error instanceof Error ? error.message : String(error));
  }
  await reading;
}

/** Reads a text without its byte order mark: in UTF-16 if it has the mark of that, or else in UTF-8. */
async function* textOf(path: string): AsyncGenerator<string> {
  const encoding = await encodingOf(path);
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk: Buffer | undefined) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new ConfigError(
        `the file is not ${encoding.toUpperCase()}: save it as "CSV UTF-8", or convert it, such as with iconv -f WINDOWS-1252 -t UTF-8`,
      );
    }
  };
  for await (const chunk of createReadStream(path)) yield decode(chunk);
  yield decode(undefined);
}

async function encodingOf(path: string) {
  for await (const mark of createReadStream(path, { end: 1, encoding: 'latin1' })) {
    if (mark === '\xff\xfe') return 'utf-16le';
    if (mark === '\xfe\xff') return 'utf-16be';
  }
  return 'utf-8';
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const text of textOf(path)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxRowLength) throw new ConfigError(`a line has more than ${maxRowLength} characters`);
    yield* lines;
  }
  yield rest;
}

/** Reads a text to behind the first line that is not blank, which may be cut at a length that no row has. */
async function startOf(path: string): Promise<string> {
  let start = '';
  for await (const text of textOf(path)) {
    start += text;
    if (/[\r\n]/.test(start.trimStart()) || start.length > maxRowLength) break;
  }
  return start;
}

const quoted = (cell: string, delimiter: string) =>
  cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
