import { type KeyboardEvent, useEffect, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import { useNavigate } from 'react-router';
import { Dialog } from '../ui/dialog.tsx';
import { moreActions } from '../ui/more-menu.tsx';
import { useDebounced } from '../ui/pauses.tsx';
import { words } from '../words.ts';
import { type Match, useMatches } from './matches.ts';
import './search.css';

const labels = words.search;

interface SearchDialogProps {
  /** What was typed before the field has the focus. */
  readonly typed: { current: string };
  onClose(): void;
}

/** Finds everything by one field: the page's actions, other pages, slots, coupons, orders and customers. */
export function SearchDialog({ typed, onClose }: SearchDialogProps) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const takeTyped = () => {
    const before = typed.current;
    typed.current = '';
    setText((now) => before + now);
  };
  // The page behind the dialog stays as it is.
  const [actions] = useState(actionsOfPage);
  const sought = useDebounced(text);
  const { sections, away, isSearching } = useMatches(sought, actions);
  const choose = ({ run }: Match) => {
    onClose();
    run?.();
  };
  // Enter waits for the matches, and chooses the first one, unless an arrow has led to another one. The list itself would
  // take the key before its first row is there to be chosen.
  const [last, setLast] = useState<'typed' | 'entered' | 'picked'>('typed');
  const isSettled = sought === text && !isSearching;
  const first = sections[0]?.matches[0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the matches change with what is sought.
  useEffect(() => {
    if (last !== 'entered' || !isSettled) return;
    setLast('typed');
    if (first?.href !== undefined) void navigate(first.href);
    if (first !== undefined) choose(first);
  }, [last, isSettled]);
  // Before the list takes the key.
  const press = (event: KeyboardEvent) => {
    // Escape would only empty the field.
    if (event.key === 'Escape') return onClose();
    const isOnMatch = event.target instanceof Element && event.target.hasAttribute('aria-activedescendant');
    if (event.key.startsWith('Arrow')) setLast('picked');
    if (event.key !== 'Enter' || (isOnMatch && last === 'picked')) return;
    setLast('entered');
    event.stopPropagation();
  };
  return (
    <Dialog title={words.frame.search} isOpen onClose={onClose}>
      <Autocomplete
        inputValue={text}
        onInputChange={(typed) => {
          setText(typed);
          setLast('typed');
        }}
      >
        <SearchField className="field" aria-label={labels.label} autoFocus onFocus={takeTyped}>
          <Input placeholder={labels.hint} onKeyDownCapture={press} />
        </SearchField>
        <Menu
          className="matches"
          aria-label={labels.matches}
          renderEmptyState={() => (isSearching ? words.forms.searching : away.length === 0 && words.forms.nothingFound)}
        >
          {sections.map(({ title, matches }) => (
            <MenuSection key={title} aria-label={title}>
              <Header>{title}</Header>
              {matches.map((match, place) => (
                <MenuItem
                  key={`${match.href ?? place} ${match.detail}`}
                  id={`${title} ${match.href ?? place} ${match.detail}`}
                  textValue={match.name}
                  className="option-row"
                  {...(match.href !== undefined && { href: match.href })}
                  onAction={() => choose(match)}
                >
                  {match.name} <span className="detail">{match.detail}</span>
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
        <p role="status" className="detail">
          {isSearching ? '' : away.map(labels.away).join(' ')}
        </p>
      </Autocomplete>
    </Dialog>
  );
}

/** Returns the actions of the page on show: its buttons and links in rows of actions, and those behind dots. */
function actionsOfPage(): readonly Match[] {
  const elements = document.querySelectorAll<HTMLElement>('main .actions :is(a, button):not(:disabled)');
  const found = [...elements].map((element) => ({
    name: element.ariaLabel ?? element.innerText,
    // After the dialog has closed and given back the focus.
    run: () => setTimeout(() => element.click()),
  }));
  return [...found, ...moreActions].map((action) => ({ ...action, detail: labels.onThisPage }));
}
