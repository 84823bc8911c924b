import { TextField } from '../../forms/text-field.tsx';
import { Button } from '../../ui/button.tsx';
import { words } from '../../words.ts';
import '../record/coupons.css';

const text = words.coupon.form;

interface CodeFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  onChange(value: string): void;
}

/**
 * A field for a code in capital letters, and a button that draws one. It names a character that nobody can see, and so
 * nobody can type again.
 */
export function CodeField({ onChange, ...props }: CodeFieldProps) {
  return (
    <div className="code-field">
      <TextField
        {...props}
        isUpperCase
        name="couponCode"
        autoComplete="off"
        spellCheck="false"
        onChange={(code) => onChange(code.toUpperCase())}
        validate={invisibleProblem}
      />
      <Button onPress={() => onChange(drawCode())}>{text.generate}</Button>
    </div>
  );
}

/** As in the codes of a batch: none that look alike. */
const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

function drawCode(): string {
  return [...crypto.getRandomValues(new Uint32Array(10))].map((n) => letters[n % letters.length]).join('');
}

/** Returns the problem with the first invisible character of a code; undefined if it has none. */
function invisibleProblem(code: string): string | undefined {
  const typed = code.trim();
  const [found] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u.exec(typed) ?? [];
  if (found === undefined) return undefined;
  const number = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return text.invisible(number, typed.slice(0, typed.indexOf(found)));
}
