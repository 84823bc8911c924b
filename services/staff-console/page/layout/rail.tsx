import {
  CalendarDays,
  CircleQuestionMark,
  History,
  LayoutDashboard,
  LogOut,
  type LucideIcon,
  Menu,
  Monitor,
  Moon,
  PanelLeft,
  Store,
  Sun,
  TicketPercent,
  Users,
} from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, NavLink, useLocation } from 'react-router';
import { business, foreignTimeZone } from '../business/business.ts';
import { formatTimeOfDay, useNow } from '../business/time.tsx';
import { useStaff } from '../lookup/names.ts';
import { isField, SearchButton } from '../search/search-button.tsx';
import { usePreference } from '../session/preference.ts';
import { useSession } from '../session/session.ts';
import { signOut } from '../session/sign-in.ts';
import { Button, type ButtonProps } from '../ui/button.tsx';
import { late } from '../ui/pauses.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import icon from './icon.svg';

// Fetched when they are first needed.
const PhoneMenu = late(async () => (await import('./over-page.tsx')).PhoneMenu);
const KeysHelp = late(async () => (await import('./over-page.tsx')).KeysHelp);
const LeaveQuestion = late(async () => (await import('../forms/question.tsx')).LeaveQuestion);

const text = words.frame;
const places = [
  ['/', text.overview, LayoutDashboard],
  ['/slots', words.slots.title, CalendarDays],
  ['/coupons', words.coupons.title, TicketPercent],
  ['/users', text.customers, Users],
  ['/live', text.storefront, Store],
  ['/audit', text.activity, History],
] as const;

/** The looks of the page, each with the one that its button brings next. '' is that of the computer. */
const themes = {
  '': [text.themes.system, Monitor, 'light'],
  light: [text.themes.light, Sun, 'dark'],
  dark: [text.themes.dark, Moon, ''],
} as const;

/** The rail beside every page: where staff may go, and who and when it is. It can be folded to its icons. */
export function Rail() {
  const [folded, keep] = usePreference('rail');
  const [name, next] = folded === '' ? [text.fold, 'folded'] : [text.unfold, ''];
  return (
    <header className="rail">
      <Parts>
        <Tool name={name} Icon={PanelLeft} onPress={() => keep(next)} />
      </Parts>
    </header>
  );
}

/** The bar of a phone, whose menu has what the rail has. */
export function PhoneBar() {
  const [isOpen, setIsOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu.
  useEffect(() => setIsOpen(false), [pathname]);
  return (
    <header className="phone-bar">
      <Tool name={text.menu} Icon={Menu} onPress={() => setIsOpen(true)} />
      <Brand />
      {isOpen && (
        <PhoneMenu onClose={() => setIsOpen(false)}>
          <Parts />
        </PhoneMenu>
      )}
    </header>
  );
}

function Tool({ name, Icon, ...props }: ButtonProps & { readonly name: string; readonly Icon: LucideIcon }) {
  return (
    <Button {...props} emphasis="quiet" aria-label={name}>
      <Icon />
    </Button>
  );
}

function Brand() {
  return (
    <Link className="brand" to="/">
      <img src={icon} alt="" width="20" height="20" /> <span className="word">{text.product}</span>
    </Link>
  );
}

function Parts({ children }: { readonly children?: ReactNode }) {
  const { token } = useSession();
  const staff = useStaff();
  // A token without a name has its subject there.
  const name = token?.name === token?.subject ? staff.get(token?.staffId ?? 0) : undefined;
  return (
    <>
      <Brand />
      <SearchButton />
      <nav aria-label="Main" className="places">
        {places.map(([path, word, Icon]) => (
          <NavLink key={path} to={path} end={path === '/'} title={word}>
            <Icon /> <span className="word">{word}</span>
          </NavLink>
        ))}
      </nav>
      <div className="account">
        <BusinessTime />
        <p className="word">{token?.isAccepted ? (name ?? isolate(token.name)) : '\u00a0'}</p>
        <div className="actions">
          <HelpButton />
          <ThemeButton />
          <SignOutButton />
          {children}
        </div>
      </div>
    </>
  );
}

/** Shows the time of the business, in which the whole page is, and says so where the computer has another time. */
function BusinessTime() {
  const now = new Date(useNow(10_000));
  const foreign = foreignTimeZone(now);
  return (
    <div className="clock">
      <p>
        {formatTimeOfDay(now)} {placeOf(business.timeZone)}
      </p>
      {foreign !== undefined && <p>{text.otherZone(placeOf(foreign))}</p>}
    </div>
  );
}

/** The place that a time zone is named after, such as "New York". */
const placeOf = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');

/** Shows the keys of the console, as does a question mark outside of fields. */
function HelpButton() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const open = ({ key, target }: KeyboardEvent) => {
      if (key === '?' && !isField(target)) setIsOpen(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <Tool name={text.help} Icon={CircleQuestionMark} aria-keyshortcuts="?" onPress={() => setIsOpen(true)} />
      {isOpen && <KeysHelp onClose={() => setIsOpen(false)} />}
    </>
  );
}

function ThemeButton() {
  const [kept, keep] = usePreference('theme');
  const [name, Icon, next] = themes[kept === 'light' || kept === 'dark' ? kept : ''];
  return <Tool name={text.theme(name)} Icon={Icon} onPress={() => keep(next)} />;
}

/** Signs out, after a question if something has not been saved. */
function SignOutButton() {
  const [isAsking, setIsAsking] = useState(false);
  // A form with unsaved changes would let the browser ask before the tab is closed.
  const hasUnsaved = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }));
  const leave = () => void signOut();
  return (
    <>
      <Tool name={text.signOut} Icon={LogOut} onPress={() => (hasUnsaved() ? setIsAsking(true) : leave())} />
      {isAsking && <LeaveQuestion onStay={() => setIsAsking(false)} onLeave={leave} />}
    </>
  );
}
