import { useEffect, useRef, useState } from 'react';
import { business } from '../business/business.ts';
import { dateInput } from '../business/time-input.ts';
import { describeFailure } from '../rpc/failure.ts';
import { clock } from '../session/clock.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import type { Column } from './column.tsx';
import { csvLine, exactCode, guarded } from './csv.ts';

const text = words.lists;

interface CsvButtonProps<Row> {
  readonly name: string;
  readonly columns: readonly Omit<Column<Row>, 'show'>[];
  readonly eachPage: (signal: AbortSignal) => AsyncIterable<readonly Row[]>;
  readonly narrow: (rows: readonly Row[]) => readonly Row[];
}

/** Saves a list as a CSV file. It says how far it has come, and can be stopped. */
export function CsvButton<Row>({ name, columns, eachPage, narrow }: CsvButtonProps<Row>) {
  const [progress, setProgress] = useState<string>();
  const [problem, setProblem] = useState('');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const save = async () => {
    const saving = new AbortController();
    running.current = saving;
    const { signal } = saving;
    setProblem('');
    setProgress(text.rows('0'));
    try {
      const rows: Row[] = [];
      for await (const page of eachPage(signal)) {
        if (signal.aborted) return;
        rows.push(...page);
        setProgress(text.rows(rows.length.toLocaleString('en')));
      }
      const ofFile = columns.flatMap((column) => column.file ?? [column]);
      const headings = ofFile.map(({ title, isTime }) => (isTime ? `${title} (${business.timeZone})` : title));
      const lines = narrow(rows).map((row) =>
        csvLine(ofFile.map(({ text, isCode }) => (isCode ? exactCode : guarded)(text(row)))),
      );
      // The byte order mark tells spreadsheets the encoding.
      const file = new Blob(['\ufeff', csvLine(headings), ...lines], { type: 'text/csv' });
      download(file, `${name}-${dateInput(new Date(clock.now()))}.csv`);
    } catch (error) {
      if (!signal.aborted) setProblem(describeFailure(error).title);
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <span>
      {progress === undefined ? (
        <Button onPress={() => void save()}>{text.exportCsv}</Button>
      ) : (
        <Button onPress={() => running.current?.abort()}>{text.stop}</Button>
      )}
      <span role="status">{progress === undefined ? problem : text.reading(progress)}</span>
    </span>
  );
}

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
