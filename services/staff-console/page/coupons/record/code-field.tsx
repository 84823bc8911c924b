import type { ReactNode } from 'react';
import { TextField } from '../../forms/text-field.tsx';

interface CodeFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly isUpperCase?: boolean;
  onChange(value: string): void;
}

/** A field for a code. It names a character that nobody can see, and so nobody can type again. */
export function CodeField(props: CodeFieldProps): ReactNode {
  return <TextField {...props} name="couponCode" autoComplete="off" spellCheck="false" validate={invisibleProblem} />;
}

/** Returns the problem with the first invisible character of a code; undefined if it has none. */
function invisibleProblem(code: string): string | undefined {
  const text = code.trim();
  const [found] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u.exec(text) ?? [];
  if (found === undefined) return undefined;
  const number = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const before = text.slice(0, text.indexOf(found));
  const place = before === '' ? 'at its start' : `after “${before}”`;
  return `The code has an invisible character (U+${number}) ${place}. Remove it, or type the code anew.`;
}
