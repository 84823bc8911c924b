/** Describes in words for staff why signing in or out failed. */
export interface SignInProblem {
  readonly kind: ProblemKind;
  /** What happened. */
  readonly title: string;
  /** What to do about it. */
  readonly advice: string;
}

/** The kind of a problem. */
export type ProblemKind = keyof typeof words;

const words = {
  badLink: {
    title: 'This link does not sign in',
    advice: 'Its token is cut off or changed. Open the whole link again, or ask an administrator for another one.',
  },
  endedLink: {
    title: 'This link has ended',
    advice: 'Ask an administrator for a new one.',
  },
  denied: {
    title: 'The sign-in service has not let you in',
    advice: 'You have canceled, or your account may not use the console. Try again, or ask an administrator.',
  },
  stale: {
    title: 'This sign-in is no longer valid',
    advice: 'It took too long, or was begun in another window. Sign in again.',
  },
  unreachable: {
    title: 'The sign-in service can’t be reached',
    advice: 'Check your connection, and try again in a moment. If it stays, tell an administrator.',
  },
  blocked: {
    title: 'Your browser has blocked the window for signing in',
    advice: 'Allow this site to open windows, and try again.',
  },
  insecure: {
    title: 'Signing in needs a secure connection',
    advice: 'Open this page with https:// at the start of its address.',
  },
  unreadable: {
    title: 'You have signed in, but the console can’t use that',
    advice: 'Tell an administrator: the sign-in service has to give access tokens that are JSON Web Tokens.',
  },
  stillSignedIn: {
    title: 'You are signed out here, but maybe not at the sign-in service',
    advice: 'It could not be reached. On a computer that others use, close the browser.',
  },
  otherPerson: {
    title: 'Somebody else has signed in at the sign-in service',
    advice: 'Sign in again as yourself, or sign out.',
  },
  other: {
    title: 'Signing in has not worked',
    advice: 'Try again. If it stays, tell an administrator.',
  },
} as const;

/** Describes a problem. `detail` is for the administrator. */
export function describeProblem(kind: ProblemKind, detail = ''): SignInProblem {
  const { title, advice } = words[kind];
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
