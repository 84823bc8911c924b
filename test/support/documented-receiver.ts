import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import ts from 'typescript';
import { blocksUnder } from '../integration/recovery-stage.ts';
import { eventually } from './eventually.ts';

/** Node 20 runs no TypeScript, and `tsx` strips no types of a program that is no file. */
const withoutTypes = (program: string) =>
  ts.transpileModule(program, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext } })
    .outputText;

export const receivers = ['ts', 'py'] as const;

/** A receiver of webhooks as docs/events.md has it, in a process of its own. */
export class DocumentedReceiver {
  readonly #language: (typeof receivers)[number];
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;
  #printed = '';

  constructor(
    language: (typeof receivers)[number],
    secret: string,
    readonly port: number,
  ) {
    this.#language = language;
    this.#env = { ...process.env, EVENTS_SECRET: secret, PORT: String(port) };
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** The lines that it has printed, in all of its lives: one for each event. */
  get lines(): string[] {
    return this.#printed.split('\n').filter(Boolean);
  }

  /** Resolves once it takes connections. */
  async start(): Promise<void> {
    const [program = ''] = blocksUnder('docs/events.md', 'Webhooks', this.#language);
    const [command, ...args] =
      this.#language === 'ts'
        ? [process.execPath, '--input-type=module', '--eval', withoutTypes(program)]
        : [process.env.PYTHON ?? 'python3', '-c', program];
    const child = spawn(command ?? '', args, { env: this.#env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
    });
    this.#process = child;
    await eventually(() => {
      const socket = connect(this.port, '127.0.0.1');
      return once(socket, 'connect').finally(() => socket.destroy());
    });
  }

  async kill(): Promise<void> {
    const ended = this.#process && once(this.#process, 'exit');
    this.#process?.kill('SIGKILL');
    await ended;
  }
}
