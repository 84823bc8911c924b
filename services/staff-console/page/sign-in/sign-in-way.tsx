import { useEffect, useState } from 'react';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { clock } from '../session/clock.ts';
import { session, useSession } from '../session/session.ts';
import { hasProvider, prepareSignIn, signInByPopup, signInByRedirect } from '../session/sign-in.ts';
import { readToken } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import { words } from '../words.ts';

const text = words.signIn;

/**
 * Lets staff sign in: with the provider if there is one, otherwise with a token that they paste. With a provider, only
 * the provider issues tokens, so there is nothing to paste. Before that, it asks whether to follow a link on another
 * site, which may sign the person in as somebody else.
 *
 * @param isOver whether this covers a page on which nothing may be lost.
 */
export function SignInWay({ isOver = false }: { readonly isOver?: boolean }) {
  const { problem, offered } = useSession();
  return (
    <>
      {offered !== undefined && (
        <div className="problem" role="alert">
          <strong>{text.otherSite(offered.subject)}</strong>
          <p>{text.otherSiteAdvice(offered.staffId)}</p>
          <Button onPress={() => session.signIn(offered)}>{text.signInAs(offered.subject)}</Button>{' '}
          <Button onPress={() => session.update({ offered: undefined })}>{text.dont}</Button>
        </div>
      )}
      {problem !== undefined && <Problem failure={problem} />}
      {hasProvider ? <ProviderButton isOver={isOver} /> : <TokenForm />}
    </>
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

function TokenForm() {
  const [pasted, setPasted] = useState('');
  const token = readToken(pasted);
  return (
    <EditForm action={text.signIn} onSend={() => token && session.signIn(token)}>
      <TextField
        label={text.token}
        name="token"
        type="password"
        autoComplete="off"
        autoFocus
        isRequired
        validate={problemOf}
        value={pasted}
        onChange={setPasted}
        hint={text.tokenHint}
      />
    </EditForm>
  );
}

function problemOf(pasted: string): string | undefined {
  const token = readToken(pasted);
  if (token === undefined) return text.noToken;
  return token.expiresAt <= clock.now() ? text.endedToken : undefined;
}
