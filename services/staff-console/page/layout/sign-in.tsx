import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { timeLeft, useNow } from '../business/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { clock } from '../session/clock.ts';
import { session, useSession } from '../session/session.ts';
import { hasProvider, prepareSignIn, signInByPopup, signInByRedirect, signOut } from '../session/sign-in.ts';
import { readToken, type Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loading, Problem } from '../ui/page.tsx';
import { words } from '../words.ts';

const text = words.signIn;
const noticeMs = 5 * 60_000;
const whyEnded = {
  expired: [text.ended, text.endedAdvice],
  refused: [text.refused, text.endedAdvice],
  unaccepted: hasProvider ? [text.unaccepted, text.unacceptedAdvice] : [text.badToken, text.badTokenAdvice],
} as const;

/** The page that people see at every URL until they sign in. Then they see the page that they came for. */
export function SignInPage() {
  const { isStarting } = useSession();
  useEffect(() => {
    document.title = `${text.signIn} · ${words.frame.product}`;
  }, []);
  return (
    <main className="sign-in card">
      <h1>{words.frame.product}</h1>
      {isStarting ? <Loading what={words.frame.thePage} /> : <SignInWay />}
    </main>
  );
}

/** Warns that the session ends soon, and lets staff sign in before it does. */
export function EndsSoon({ token: { expiresAt } }: { readonly token: Token }) {
  const now = useNow(10_000);
  const [isAsking, setIsAsking] = useState(false);
  if (expiresAt - now > noticeMs) return null;
  return (
    <div className="banner calm" role="status">
      {text.endsIn(timeLeft(expiresAt, now))}{' '}
      <Button emphasis="quiet" onPress={() => setIsAsking(true)}>
        {text.again}
      </Button>
      <Dialog title={text.again} isOpen={isAsking} onClose={() => setIsAsking(false)}>
        <p>{text.staysHere}</p>
        <SignInWay />
        <Button emphasis="quiet" onPress={() => setIsAsking(false)}>
          {text.later}
        </Button>
      </Dialog>
    </div>
  );
}

/** Asks staff to sign in again over the current page, so that nothing that they have entered is lost. */
export function SignInAgain() {
  const { ended, isRenewing } = useSession();
  const hadEnded = useRef(false);
  const queryClient = useQueryClient();
  // Everything is read again, because some reads were refused meanwhile.
  useEffect(() => {
    if (hadEnded.current && ended === undefined) void queryClient.invalidateQueries();
    hadEnded.current = ended !== undefined;
  }, [ended, queryClient]);
  const [title, advice] = whyEnded[ended ?? 'expired'];
  return (
    <Dialog title={title} isOpen={ended !== undefined && !isRenewing} role="alertdialog">
      <p>{advice}</p>
      {(ended !== 'unaccepted' || !hasProvider) && <SignInWay />}
      <Button emphasis="quiet" onPress={() => void signOut()}>
        {words.frame.signOut}
      </Button>
    </Dialog>
  );
}

/**
 * Lets staff sign in: with the provider if there is one, which alone issues tokens then, otherwise with a token that they
 * paste. A link on another site may sign the person in as somebody else, so it asks before it follows one.
 */
function SignInWay() {
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
      {hasProvider ? <ProviderButton /> : <TokenForm />}
    </>
  );
}

function ProviderButton() {
  const { problem, token } = useSession();
  const isOver = token !== undefined;
  const [isPending, setIsPending] = useState(false);
  const [hasOpened, setHasOpened] = useState(false);
  useEffect(prepareSignIn, []);
  const leave = () => {
    setIsPending(true);
    void signInByRedirect().finally(() => setIsPending(false));
  };
  // Nothing may be lost on the page that this covers.
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
  const hasEnded = token !== undefined && token.expiresAt <= clock.now();
  const problem = token === undefined ? text.noToken : hasEnded ? text.endedToken : undefined;
  return (
    <EditForm action={text.signIn} onSend={() => token && session.signIn(token)}>
      <TextField
        label={text.token}
        name="token"
        type="password"
        autoComplete="off"
        autoFocus
        isRequired
        validate={() => problem}
        value={pasted}
        onChange={setPasted}
        hint={text.tokenHint}
      />
    </EditForm>
  );
}
