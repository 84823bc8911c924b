import { type ReactNode, useEffect } from 'react';
import { SignInForm } from './sign-in-form.tsx';

/** What everybody sees who is not signed in, at any address. Once signed in, they see what they came for. */
export function SignInPage(): ReactNode {
  useEffect(() => {
    document.title = 'Sign in · Staff console';
  }, []);
  return (
    <main className="sign-in card">
      <h1>Staff console</h1>
      <SignInForm />
    </main>
  );
}
