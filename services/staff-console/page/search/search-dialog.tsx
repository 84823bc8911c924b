import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import { useNavigate } from 'react-router';
import { Dialog } from '../ui/dialog.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { type Match, useMatches } from './matches.ts';
import { actionsOfPage } from './page-actions.ts';
import './search.css';

/** Finds everything by one field: the page's actions, other pages, slots, coupons and users. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  // The page behind the dialog stays as it is.
  const [actions] = useState(actionsOfPage);
  const sought = useDebounced(text);
  const { sections, isSearching } = useMatches(sought, actions);
  const isEmpty = sections.every(({ matches }) => matches.length === 0);
  const choose = ({ run }: Match) => {
    onClose();
    run?.();
  };
  // Enter waits for the matches, and chooses the first one, unless an arrow has led to another one. The list itself would
  // take the key before its first row is there to be chosen.
  const [isEntered, setIsEntered] = useState(false);
  const [isPicked, setIsPicked] = useState(false);
  const isSettled = sought === text && !isSearching;
  const [first] = sections.flatMap(({ matches }) => matches);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the matches change with what is sought.
  useEffect(() => {
    if (!isEntered || !isSettled) return;
    setIsEntered(false);
    if (first?.href !== undefined) void navigate(first.href);
    if (first !== undefined) choose(first);
  }, [isEntered, isSettled]);
  // Before the list takes the key.
  const press = (event: KeyboardEvent) => {
    // Escape would only empty the field.
    if (event.key === 'Escape') return onClose();
    const isOnMatch = event.target instanceof Element && event.target.hasAttribute('aria-activedescendant');
    const isEarly = event.key === 'Enter' && !(isOnMatch && isPicked);
    setIsEntered(isEarly);
    setIsPicked(isPicked || event.key.startsWith('Arrow'));
    if (isEarly) event.stopPropagation();
  };
  return (
    <Dialog title="Search" isOpen onClose={onClose}>
      <Autocomplete
        inputValue={text}
        onInputChange={(typed) => {
          setText(typed);
          setIsPicked(false);
        }}
      >
        <SearchField className="field" aria-label="Search everything" autoFocus>
          <Input
            placeholder="A slot’s number, a product, a snippet, a code, an order, a name, a mobile number, or an action"
            onKeyDownCapture={press}
          />
        </SearchField>
        <Menu
          className="matches"
          aria-label="Matches"
          renderEmptyState={() => (isSearching ? 'Searching…' : 'Nothing found.')}
        >
          {isEmpty
            ? null
            : sections
                .filter(({ matches }) => matches.length > 0)
                .map(({ title, matches }) => (
                  <MenuSection key={title} aria-label={title}>
                    <Header>{title}</Header>
                    {matches.map((match) => (
                      <MenuItem
                        key={match.key}
                        id={match.key}
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
      </Autocomplete>
    </Dialog>
  );
}
