import { SignInAgain } from '../sign-in/sign-in-again.tsx';
import { NoticeRegion } from './notice-region.tsx';

/** What comes up over the page: notices, and the sign-in when a session has ended. Fetched after the first list. */
export function OverPage() {
  return (
    <>
      <NoticeRegion />
      <SignInAgain />
    </>
  );
}
