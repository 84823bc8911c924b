import { readFileSync } from 'node:fs';

/** A shell command of the documentation, with the JSON below it that it prints. */
export interface CommandExample {
  readonly tool: string;
  readonly command: string;
  readonly output: string;
}

/** A program of the documentation, with what the comments behind its `console.log` say it prints. */
export interface ProgramExample {
  readonly library: string;
  readonly program: string;
  readonly output: string;
}

// In the order in which a reader meets them: an example may need what those before it have written.
const pages = [
  'README.md',
  'docs/calling.md',
  'docs/writes.md',
  'docs/redeeming.md',
  'docs/booking.md',
  'services/client/package/README.md',
];
const text = pages.map((page) => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')).join('\n');
const matches = (pattern: RegExp) => [...text.matchAll(pattern)];

/** The `sh` blocks that a `json` block follows directly; no others are run, such as those that install or deploy. */
export const commandExamples: readonly CommandExample[] = matches(/^```sh\n([^`]*)^```\n\n```json\n([^`]*)^```$/gm).map(
  ([, command = '', output = '']) => ({
    tool: /^(?:npx buf curl|grpcurl|curl)/m.exec(command)?.[0] ?? '',
    command,
    output,
  }),
);

/** The `ts` blocks that print something. */
export const programExamples: readonly ProgramExample[] = matches(/^```ts\n(.*?)^```$/gms)
  .filter(([, program = '']) => program.includes('console.log'))
  .map(([, program = '']) => ({
    library: / from '(delivery-admin-client(?:\/grpc)?)'/.exec(program)?.[1] ?? '',
    program,
    output: [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line).join('\n'),
  }));
