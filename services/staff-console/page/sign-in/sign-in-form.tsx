import { useState } from 'react';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { clock } from '../session/clock.ts';
import { session } from '../session/session.ts';
import { readToken } from '../session/token.ts';
import { words } from '../words.ts';

const write = { isPending: false, failure: undefined };

/** The form for a token that staff paste. */
export function SignInForm() {
  const [text, setText] = useState('');
  const token = readToken(text);
  return (
    <EditForm action={words.signIn.signIn} write={write} onSend={() => token && session.signIn(token)}>
      <TextField
        label={words.signIn.token}
        name="token"
        type="password"
        autoComplete="off"
        autoFocus
        isRequired
        validate={problemOf}
        value={text}
        onChange={setText}
        hint={words.signIn.tokenHint}
      />
    </EditForm>
  );
}

function problemOf(text: string): string | undefined {
  const token = readToken(text);
  if (token === undefined) return words.signIn.noToken;
  return token.expiresAt <= clock.now() ? words.signIn.endedToken : undefined;
}
