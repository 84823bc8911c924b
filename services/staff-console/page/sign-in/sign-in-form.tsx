import { type ReactNode, useState } from 'react';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { clock } from '../session/clock.ts';
import { session } from '../session/session.ts';
import { readToken } from '../session/token.ts';

const write = { isPending: false, failure: undefined };

/** The form for a token that staff paste. */
export function SignInForm(): ReactNode {
  const [text, setText] = useState('');
  const token = readToken(text);
  return (
    <EditForm action="Sign in" write={write} onSend={() => token && session.signIn(token)}>
      <TextField
        label="Token"
        name="token"
        type="password"
        autoComplete="off"
        autoFocus
        isRequired
        validate={problemOf}
        value={text}
        onChange={setText}
        hint="It was given to you by an administrator. It stays in this tab."
      />
    </EditForm>
  );
}

function problemOf(text: string): string | undefined {
  const token = readToken(text);
  if (token === undefined) return 'This is no token: it has three parts with dots between them.';
  return token.expiresAt <= clock.now() ? 'This token has ended. Ask for a new one.' : undefined;
}
