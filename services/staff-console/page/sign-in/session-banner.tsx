import { Suspense } from 'react';
import { useSession } from '../session/session.ts';
import { late, useLater } from '../ui/pauses.ts';
import { words } from '../words.ts';

const text = words.signIn;
const EndsSoon = late(async () => (await import('./ends-soon.tsx')).EndsSoon);

/** Warns at the top of every page if the session ends soon or the account is not staff. */
export function SessionBanner() {
  const { token, ended, isDenied } = useSession();
  const isLater = useLater();
  if (token === undefined) return null;
  return (
    <>
      {isDenied && (
        <p className="banner" role="status">
          {text.notStaff}
        </p>
      )}
      {isLater && token.renewal === undefined && ended === undefined && (
        <Suspense>
          <EndsSoon key={token.text} token={token} />
        </Suspense>
      )}
    </>
  );
}
