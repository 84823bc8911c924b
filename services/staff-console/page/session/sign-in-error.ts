import { words } from '../words.ts';

const { problems } = words.signIn;

/** Says in words for staff why signing in or out failed. */
export class SignInError extends Error {
  readonly kind: keyof typeof problems;
  readonly title: string;
  readonly advice: string;

  /** @param detail is for the administrator. */
  constructor(kind: keyof typeof problems, detail = '') {
    const { title, advice } = problems[kind];
    super(title);
    this.kind = kind;
    this.title = title;
    this.advice = detail === '' ? advice : `${advice} (${detail})`;
  }
}
