import { type ReactNode, useEffect, useState } from 'react';
import { session, useSession } from '../session/session.ts';
import { hasProvider, prepareSignIn, signInByPopup, signInByRedirect } from '../session/sign-in.ts';
import type { Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import { SignInForm } from './sign-in-form.tsx';

/**
 * Lets staff sign in: with the provider if there is one, otherwise with a token that they paste. With a provider, only
 * the provider issues tokens, so there is nothing to paste.
 *
 * @param isOver whether this covers a page on which nothing may be lost.
 */
export function SignInWay({ isOver = false }: { readonly isOver?: boolean }): ReactNode {
  const { problem, offered } = useSession();
  return (
    <>
      {offered !== undefined && <Offered token={offered} />}
      {problem !== undefined && <Problem failure={problem} />}
      {hasProvider ? <ProviderButton isOver={isOver} /> : <SignInForm />}
    </>
  );
}

/** Asks whether to follow a link on another site, which may sign the person in as somebody else. */
function Offered({ token }: { readonly token: Token }): ReactNode {
  return (
    <div className="problem" role="alert">
      <strong>A page of another site wants to sign you in as {token.subject}</strong>
      <p>
        Staff number {token.staffId ?? 'none'}. What you do is then recorded as theirs. Go on only if you know this
        link.
      </p>
      <Button onPress={() => session.signIn(token)}>Sign in as {token.subject}</Button>{' '}
      <Button onPress={() => session.update({ offered: undefined })}>Don’t</Button>
    </div>
  );
}

function ProviderButton({ isOver }: { readonly isOver: boolean }): ReactNode {
  const { problem } = useSession();
  const [isPending, setIsPending] = useState(false);
  const [hasOpened, setHasOpened] = useState(false);
  useEffect(prepareSignIn, []);
  const leave = () => {
    setIsPending(true);
    void signInByRedirect().finally(() => setIsPending(false));
  };
  const open = () => {
    setHasOpened(true);
    void signInByPopup();
  };
  return (
    <>
      {hasOpened && problem === undefined && (
        <p role="status">Go on in the window that has opened. If you have closed it, press “Sign in” again.</p>
      )}
      <Button emphasis="primary" autoFocus isPending={isPending} onPress={isOver ? open : leave}>
        Sign in
      </Button>
      {isOver && problem?.kind === 'blocked' && (
        <>
          <p>Or sign in on this page: what you have entered here and not saved is then lost.</p>
          <Button isPending={isPending} onPress={leave}>
            Leave this page to sign in
          </Button>
        </>
      )}
    </>
  );
}
