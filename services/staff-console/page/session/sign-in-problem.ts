import { words } from '../words.ts';

/** Describes in words for staff why signing in or out failed. */
export interface SignInProblem {
  readonly kind: ProblemKind;
  /** What happened. */
  readonly title: string;
  /** What to do about it. */
  readonly advice: string;
}

/** The kind of a problem. */
export type ProblemKind = keyof typeof problems;

const { problems } = words.signIn;

/** Describes a problem. `detail` is for the administrator. */
export function describeProblem(kind: ProblemKind, detail = ''): SignInProblem {
  const { title, advice } = problems[kind];
  return { kind, title, advice: detail === '' ? advice : `${advice} (${detail})` };
}

/** Thrown when signing in or out fails. */
export class SignInError extends Error {
  override name = 'SignInError';
  readonly problem: SignInProblem;

  constructor(kind: ProblemKind, detail = '') {
    super(kind);
    this.problem = describeProblem(kind, detail);
  }
}
