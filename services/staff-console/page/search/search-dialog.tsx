import { type ReactNode, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import { Dialog } from '../ui/dialog.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { type Match, useMatches } from './matches.ts';
import { actionsOfPage } from './page-actions.ts';
import './search.css';

/** Finds everything by one field: the page's actions, other pages, slots, coupons and users. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  // The page behind the dialog stays as it is.
  const [actions] = useState(actionsOfPage);
  const { sections, isSearching } = useMatches(useDebounced(text), actions);
  const isEmpty = sections.every(({ matches }) => matches.length === 0);
  const choose = ({ run }: Match) => {
    onClose();
    run?.();
  };
  return (
    <Dialog title="Search" isOpen onClose={onClose}>
      <Autocomplete inputValue={text} onInputChange={setText}>
        {/* Escape would only empty the field. */}
        <SearchField
          className="field"
          aria-label="Search everything"
          autoFocus
          onKeyDown={(event) => (event.key === 'Escape' ? onClose() : event.continuePropagation())}
        >
          <Input placeholder="A slot’s number, a product, a snippet, a code, a name, a mobile number, or an action" />
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
