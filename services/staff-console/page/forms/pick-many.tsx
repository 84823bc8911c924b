import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Checkbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { Group } from 'react-aria-components/Group';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { SearchField } from 'react-aria-components/SearchField';
import { Tag, TagGroup, TagList } from 'react-aria-components/TagGroup';
import { isSame } from '../rpc/merge.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';

const text = words.forms;

/** An option that staff can choose by its name. */
export interface Option {
  readonly id: number;
  readonly name: string;
  /** Distinguishes options with the same name. */
  readonly detail?: string;
  /** The URL of its picture; empty if it has none. Undefined for options without pictures. */
  readonly image?: string;
}

interface PickManyProps {
  readonly label: string;
  readonly hint?: string;
  readonly autoFocus?: boolean;
  readonly search: string;
  onSearch(text: string): void;
  /** The results of the search; undefined while it runs. */
  readonly found: readonly Option[] | undefined;
  /** Whether `found` is not yet what the search has found. */
  readonly isSearching?: boolean;
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
  /** Reads options by a list of numbers that staff have entered. Leaves out unknown ones. */
  readonly readByNumbers: (numbers: readonly string[]) => Promise<readonly Option[]>;
  readonly problem?: string | undefined;
}

// More tags than this make a page slow, and nobody reads them.
const shownMost = 100;

/** A choice of any number of options. Staff search for them, tick them in a list, and remove them as tags. */
export function PickMany(props: PickManyProps) {
  const { label, hint, autoFocus = false, search, onSearch, found = [], isSearching = false, chosen, problem } = props;
  const { onChange, readByNumbers } = props;
  const [pasted, setPasted] = useState('');
  // A key that comes before the search has ended waits for it.
  const [pressed, setPressed] = useState<'Enter' | 'ArrowDown'>();
  const list = useRef<HTMLDivElement>(null);
  // A problem goes when something else is chosen.
  const [told, setTold] = useState({ problem, chosen });
  if (told.problem !== problem) setTold({ problem, chosen });
  const latest = useRef(chosen);
  useEffect(() => {
    latest.current = chosen;
  });
  const select = (keys: 'all' | Set<string | number>) => {
    const listed = new Set(found.map(({ id }) => id));
    onChange(union(chosen, found).filter(({ id }) => keys === 'all' || keys.has(id) || !listed.has(id)));
  };
  const add = (numbers: readonly string[]) => {
    setPasted(text.lookingUp(numbers.length));
    const take = (options: readonly Option[]) => {
      onChange(union(latest.current, options));
      setPasted(describePasted(numbers, options));
    };
    readByNumbers(numbers).then(take, () => setPasted(text.notLookedUp));
  };
  // Enter chooses the numbers of a list or, once they are found, the only option, or the one of this very name. Of several
  // it goes to the first. It does not submit the form around it.
  const enter = () => {
    const numbers = readList(search);
    if (numbers.length === 0) return setPressed('Enter');
    onSearch('');
    return add(numbers);
  };
  useEffect(() => {
    if (pressed === undefined || isSearching) return;
    setPressed(undefined);
    const typed = search.trim().toLowerCase();
    const meant = found.length === 1 ? found : found.filter(({ name }) => name.toLowerCase() === typed);
    if (pressed === 'Enter' && meant.length === 1) onChange(union(chosen, meant));
    // Once the rows of what was found stand in it.
    else requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[role=row]')?.focus());
  });
  const empty = props.found === undefined ? text.searching : text.nothingFound;
  return (
    <Group className="pick-many" aria-label={label}>
      <SearchField
        className="field"
        value={search}
        onChange={(typed) => {
          setPasted('');
          setPressed(undefined);
          onSearch(typed);
        }}
        onSubmit={enter}
        autoFocus={autoFocus}
        validate={(typed) => (readList(typed).length > 0 ? text.enterNumbers : undefined)}
      >
        <Label>{label}</Label>
        <Input
          placeholder={text.searchByName(label)}
          onPaste={(event) => {
            const numbers = readList(event.clipboardData.getData('text'));
            if (numbers.length === 0) return;
            event.preventDefault();
            add(numbers);
          }}
          onKeyDown={({ key }) => key === 'ArrowDown' && setPressed(key)}
        />
        <FieldError />
      </SearchField>
      {hint !== undefined && <p className="detail">{hint}</p>}
      <p className="detail" role="status">
        {pasted}
      </p>
      <GridList
        ref={list}
        aria-label={text.found(label)}
        className="options-list"
        items={found}
        selectionMode="multiple"
        selectedKeys={chosen.map(({ id }) => id)}
        onSelectionChange={select}
        renderEmptyState={() => (readList(search).length > 0 ? text.enterNumbers : empty)}
      >
        {({ id, name, detail, image }) => (
          <GridListItem id={id} textValue={name} className="option-row">
            <Checkbox slot="selection" className="tick" />
            {image !== undefined && <Picture url={image} />}
            {name} <span className="detail">{detail}</span>
          </GridListItem>
        )}
      </GridList>
      <TagGroup aria-label={text.chosen(label)} onRemove={(keys) => onChange(chosen.filter(({ id }) => !keys.has(id)))}>
        <TagList items={chosen.slice(0, shownMost)} renderEmptyState={() => text.noneChosen}>
          {({ id, name }) => (
            <Tag id={id} textValue={name} className="tag">
              {name}
              <Button slot="remove" emphasis="quiet">
                <X />
              </Button>
            </Tag>
          )}
        </TagList>
      </TagGroup>
      {chosen.length > shownMost && <p className="detail">{text.andMore(chosen.length - shownMost)}</p>}
      {problem !== undefined && isSame(told.chosen.map(idOf), chosen.map(idOf)) && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </Group>
  );
}

const idOf = ({ id }: Option) => id;

/** A small picture beside a name, or an empty place if there is none. The name says what it shows. */
function Picture({ url }: { readonly url: string }) {
  const [failed, setFailed] = useState('');
  const isShown = url !== '' && url !== failed;
  return (
    <span className="picture">
      {isShown && <img src={url} alt="" loading="lazy" decoding="async" onError={() => setFailed(url)} />}
    </span>
  );
}

/** Adds options to others that may have some of them. */
function union(options: readonly Option[], more: readonly Option[]): readonly Option[] {
  return [...new Map([...options, ...more].map((option) => [option.id, option])).values()];
}

/** Reads a list of at least two numbers. Up to 13 digits with only blanks between them may be one mobile number. */
function readList(text: string): readonly string[] {
  const numbers = text.trim().split(/[\s,;]+/);
  const mayBeMobile = !/[,;\t\r\n]/.test(text.trim()) && /^\d{10,13}$/.test(numbers.join(''));
  const isList = numbers.length > 1 && !mayBeMobile && numbers.every((number) => /^\d{1,13}$/.test(number));
  return isList ? [...new Set(numbers)] : [];
}

function describePasted(numbers: readonly string[], known: readonly Option[]): string {
  const found = new Set(known.flatMap(({ id, detail }) => [String(id), detail]));
  const unknown = numbers.filter((number) => !found.has(number));
  const added = text.addedNumbers(known.length, numbers.length);
  return unknown.length === 0 ? added : `${added} ${text.unknownNumbers(unknown.join(', '))}`;
}
