import { format } from 'sql-formatter';

const width = 120;
/** Up to this width, a `case` or a select of several clauses stands on one line. */
const shortSelect = 80;
/** Up to this width, an item of a list shares a line with its neighbours. */
const shortItem = 50;

/** Formats a statement with sql-formatter, which breaks every line, and joins the lines that fit into one. */
export function compactSql(sql: string): string {
  const broken = format(sql, {
    language: 'postgresql',
    paramTypes: { custom: [{ regex: String.raw`\$[a-zA-Z]\w*` }] },
    keywordCase: 'preserve',
    expressionWidth: 1,
  });
  // The formatter takes the colon of an array's slice for a parameter, and puts a space before an index.
  const sliced = broken.replaceAll(/\[\n:(\d+)\n\s*\]/g, '[:$1]').replaceAll(') [', ')[');
  return `${laidOut(toTree(sliced.split('\n')), width).join('\n')}\n`;
}

/** A line, and the lines that are indented below it. */
interface Line {
  text: string;
  below: Line[];
}

function toTree(lines: readonly string[]): Line[] {
  const root = { text: '', below: [], indent: -1 };
  const open: (Line & { indent: number })[] = [root];
  for (const line of lines) {
    const text = line.trimStart();
    const added = { text, below: [], indent: line.length - text.length };
    while (open.length > 1 && (open.at(-1)?.indent ?? -1) >= added.indent) open.pop();
    open.at(-1)?.below.push(added);
    open.push(added);
  }
  return root.below;
}

const isOpened = ({ text }: Line) => /[([]$|\bcase$/.test(text);
const isClosing = ({ text }: Line) => /^([)\]]|end\b)/.test(text);
const isComment = ({ text }: Line) => text.includes('-- ');
const isSetOperator = ({ text }: Line) => /^(union|intersect|except)\b/.test(text);
const isClause = (line: Line) => line.below.length > 0 && !isOpened(line);
const isCase = ({ text }: Line) => /\bcase$/.test(text);
const isJoin = ({ text }: Line) => /^(left |cross )?join\b/.test(text);

/** Groups the lines: a group ends before a line that begins another one. */
function grouped(lines: readonly Line[], begins: (line: Line, before: Line) => boolean): Line[][] {
  const groups: Line[][] = [];
  let before: Line | undefined;
  for (const line of lines) {
    if (before === undefined || begins(line, before)) groups.push([]);
    groups.at(-1)?.push(line);
    before = line;
  }
  return groups;
}

/** The selects of a union, and the operators between them. */
const toSelects = (lines: readonly Line[]) =>
  grouped(lines, (line, before) => isSetOperator(line) || isSetOperator(before));

/** The items of a list: each ends with a comma. */
const toItems = (lines: readonly Line[]) =>
  grouped(lines, (_line, { text }) => text.endsWith(',') || text.startsWith('--'));

/** The branches of a case. */
const toBranches = (lines: readonly Line[]) => grouped(lines, ({ text }) => /^(when|else)\b/.test(text));

/** The parts of an item: a clause, a join, an `and` with its operand. A bracket and its lines stay together. */
const toParts = (lines: readonly Line[]) => grouped(lines, (line) => !isClosing(line));

/** The lines as one, or undefined if that is too long, or has a comment. */
function joined(lines: readonly Line[], room: number): string | undefined {
  if (lines.some(isComment) || lines.filter(isJoin).length > 1) return;
  let text = '';
  for (const line of lines) {
    const below = joined(line.below, room);
    if (below === undefined) return;
    text = [text, line.text, below].filter((part) => part !== '').join(' ');
  }
  text = text.replaceAll(/([([]) | (?=[)\]])/g, '$1');
  const isLong = lines.filter(isClause).length > 1 || lines.some(isCase);
  return text.length <= (isLong ? Math.min(room, shortSelect) : room) ? text : undefined;
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

/** Lays out lines of the same indent. Something of `taken` characters precedes them on the first line. */
function laidOut(lines: readonly Line[], room: number, taken = 0): string[] {
  if (lines.length === 0) return [];
  const whole = joined(lines, room - taken);
  if (whole !== undefined) return [whole];
  const selects = toSelects(lines);
  if (selects.length > 1) return selects.flatMap((select) => laidOut(select, room));
  if (lines.some(isClause)) return toParts(lines).flatMap((part) => laidOutPart(part, room));
  const laid: string[] = [];
  const items = toItems(lines);
  let isShortBefore = false;
  for (const item of items) {
    const text = joined(item, room);
    const isShort = text !== undefined && text.length <= shortItem;
    const last = laid.at(-1) ?? '';
    const used = laid.length === 1 ? taken : 0;
    if (isShort && isShortBefore && used + last.length + 1 + text.length <= room) laid.splice(-1, 1, `${last} ${text}`);
    else if (text !== undefined) laid.push(text);
    else laid.push(...laidOutItem(item, room, items.length > 1));
    isShortBefore = isShort;
  }
  return laid;
}

function laidOutItem(item: readonly Line[], room: number, isOneOfSeveral: boolean): string[] {
  const whole = joined(item, room);
  if (whole !== undefined) return [whole];
  const [first = [], ...others] = toParts(item);
  const laid = laidOutPart(first, room);
  if (!isOneOfSeveral) return [...laid, ...others.flatMap((part) => laidOutPart(part, room))];
  return [...laid, ...indented(others.flatMap((part) => laidOutPart(part, room - 2)))];
}

/** Lays out a clause, or a bracket or `case` with what closes it. */
function laidOutPart(part: readonly Line[], room: number): string[] {
  const whole = joined(part, room);
  if (whole !== undefined) return [whole];
  const [head, ...closing] = part;
  if (head === undefined) return [];
  if (isClause(head)) return laidOutClause(head, room);
  const [second] = closing;
  if (second !== undefined && isOpened(second)) {
    // A list of columns stands on one line with the bracket that opens after it.
    const text = joined([head, { ...second, below: [] }], room);
    if (text !== undefined) return laidOutPart([{ ...second, text }, ...closing.slice(1)], room);
  }
  const inner = laidOutBelow(head, room);
  const [first = '', last = ''] = [inner.at(0), inner.at(-1)];
  const rest = closing.length === 0 ? [] : laidOutPart(closing, room);
  if (closing.length === 1 && isSole(head.below) && head.text.endsWith('(') && last.startsWith(')')) {
    return [head.text + first, ...inner.slice(1, -1), last + rest.join('')];
  }
  return [head.text, ...indented(inner), ...rest];
}

const isSole = (lines: readonly Line[]) => toParts(lines).length === 1 && !lines.some(isClause);

function laidOutBelow(line: Line, room: number): string[] {
  if (isCase(line)) return toBranches(line.below).flatMap((branch) => laidOutItem(branch, room - 2, true));
  return laidOut(line.text.endsWith('json_build_object(') ? inPairs(line.below) : line.below, room - 2);
}

function laidOutClause({ text, below }: Line, room: number): string[] {
  const taken = text.length + 1;
  const [begin = []] = toParts(below);
  const fits = joined(begin, room - taken) !== undefined;
  if (fits && text !== 'with') {
    const [first = '', ...others] = laidOut(below, room - 2, taken);
    return [`${text} ${first}`, ...indented(others)];
  }
  // A bracket opens on the line of its clause, and closes in the column of the clause.
  if (toParts(below).length === 1 && begin.some(isOpened)) {
    const [first = '', ...others] = laidOutPart(begin, room - taken);
    return [`${text} ${first}`, ...others];
  }
  return [text, ...indented(laidOut(below, room - 2))];
}

/** The items of json_build_object: each name with its value. */
function inPairs(lines: readonly Line[]): Line[] {
  const items = toItems(lines);
  const pairs: Line[] = [];
  for (let index = 0; index < items.length; index += 2) {
    const [name] = items[index] ?? [];
    const [value, ...others] = items[index + 1] ?? [];
    if (name !== undefined && value !== undefined)
      pairs.push({ ...value, text: `${name.text} ${value.text}` }, ...others);
  }
  return pairs;
}
