import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../session/session.ts';
import { hasProvider, prepareSignIn, signInByPopup, signInByRedirect } from '../session/sign-in.ts';
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
  const { problem } = useSession();
  return (
    <>
      {problem !== undefined && <Problem failure={problem} />}
      {hasProvider ? <ProviderButton isOver={isOver} /> : <SignInForm />}
    </>
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
