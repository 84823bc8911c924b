import { readFileSync } from 'node:fs';

/** A command of README.md with the output below it. */
export interface CommandExample {
  readonly tool: string;
  readonly command: string;
  readonly output: string;
}

/** A program of README.md, with what the comments behind its `console.log` say it prints. */
export interface ProgramExample {
  readonly library: string;
  readonly program: string;
  readonly output: string;
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const [, callers = ''] = /^## Callers$(.*?)^## /ms.exec(readme) ?? [];

/** The commands of the section, in its order: each may count on those before it. */
export const commandExamples: readonly CommandExample[] = blocks('console').flatMap((block) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', output = ''] = part.split(/(?<!\\)\n(.*)/s);
      const [tool = ''] = /^(?:npx )?\w+(?: curl)?/.exec(command) ?? [];
      return { tool, command, output: output.trim() };
    }),
);

/** The programs of the section; each counts on the commands before it. */
export const programExamples: readonly ProgramExample[] = blocks('ts').map((program) => ({
  library: /shared\/client|connect-node|connect-web/.exec(program)?.[0] ?? '',
  program,
  output: [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line).join('\n'),
}));

function blocks(language: string): string[] {
  return [...callers.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);
}
