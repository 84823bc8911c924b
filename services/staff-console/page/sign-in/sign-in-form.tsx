import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { TextField } from '../forms/text-field.tsx';
import { clock } from '../session/clock.ts';
import { session } from '../session/session.ts';
import { readToken } from '../session/token.ts';
import { Button } from '../ui/button.tsx';

/** The form for a token that staff paste. */
export function SignInForm(): ReactNode {
  const [text, setText] = useState('');
  const [errors, setErrors] = useState({});
  const setProblem = (token: string) => setErrors({ token });
  const change = (changed: string) => {
    setText(changed);
    // If the error disappeared only when the field loses focus, the button would move away from the pointer.
    setErrors({});
  };
  const signIn = () => {
    const token = readToken(text);
    if (token === undefined) setProblem('This is no token: it has three parts with dots between them.');
    else if (token.expiresAt <= clock.now()) setProblem('This token has ended. Ask for a new one.');
    else session.signIn(token);
  };
  return (
    <Form
      validationErrors={errors}
      onSubmit={(event) => {
        event.preventDefault();
        signIn();
      }}
    >
      <TextField
        label="Token"
        name="token"
        type="password"
        autoComplete="off"
        autoFocus
        isRequired
        value={text}
        onChange={change}
        hint="It was given to you by an administrator. It stays in this tab."
      />
      <Button type="submit" emphasis="primary">
        Sign in
      </Button>
    </Form>
  );
}
