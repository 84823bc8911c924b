import { useEffect, useState } from 'react';
import { session, useSession } from '../session/session.ts';
import { hasProvider, prepareSignIn, signInByPopup, signInByRedirect } from '../session/sign-in.ts';
import type { Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import { words } from '../words.ts';
import { SignInForm } from './sign-in-form.tsx';

const text = words.signIn;

/**
 * Lets staff sign in: with the provider if there is one, otherwise with a token that they paste. With a provider, only
 * the provider issues tokens, so there is nothing to paste.
 *
 * @param isOver whether this covers a page on which nothing may be lost.
 */
export function SignInWay({ isOver = false }: { readonly isOver?: boolean }) {
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
function Offered({ token }: { readonly token: Token }) {
  return (
    <div className="problem" role="alert">
      <strong>{text.otherSite(token.subject)}</strong>
      <p>{text.otherSiteAdvice(token.staffId)}</p>
      <Button onPress={() => session.signIn(token)}>{text.signInAs(token.subject)}</Button>{' '}
      <Button onPress={() => session.update({ offered: undefined })}>{text.dont}</Button>
    </div>
  );
}

function ProviderButton({ isOver }: { readonly isOver: boolean }) {
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
      {hasOpened && problem === undefined && <p role="status">{text.inWindow}</p>}
      <Button emphasis="primary" autoFocus isPending={isPending} onPress={isOver ? open : leave}>
        {text.signIn}
      </Button>
      {isOver && problem?.kind === 'blocked' && (
        <>
          <p>{text.orHere}</p>
          <Button isPending={isPending} onPress={leave}>
            {text.leaveToSignIn}
          </Button>
        </>
      )}
    </>
  );
}
