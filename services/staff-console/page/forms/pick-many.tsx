import { X } from 'lucide-react';
import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import { Checkbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { Group } from 'react-aria-components/Group';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { SearchField } from 'react-aria-components/SearchField';
import { Tag, TagGroup, TagList } from 'react-aria-components/TagGroup';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import { Picture } from './picture.tsx';

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
  /** The name of the choice, such as "Products". */
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
  /** The problem with the choice that the service reported. */
  readonly problem?: string | undefined;
}

// More tags than this make a page slow, and nobody reads them.
const shownMost = 100;

/** A choice of any number of options. Staff search for them, tick them in a list, and remove them as tags. */
export function PickMany(props: PickManyProps) {
  const { label, hint, search, onSearch, found, chosen, onChange, problem } = props;
  const [pasted, setPasted] = useState('');
  // A key that comes before the search has ended waits for it.
  const [pressed, setPressed] = useState<'Enter' | 'ArrowDown'>();
  const latest = useRef(chosen);
  useEffect(() => {
    latest.current = chosen;
  });
  const ids = new Set(chosen.map(({ id }) => id));
  const select = (keys: 'all' | Set<string | number>) => {
    const isSelected = ({ id }: Option) => keys === 'all' || keys.has(id);
    const listed = new Set(found?.map(({ id }) => id));
    onChange([
      ...chosen.filter((option) => !listed.has(option.id) || isSelected(option)),
      ...(found ?? []).filter((option) => !ids.has(option.id) && isSelected(option)),
    ]);
  };
  const add = (numbers: readonly string[]) => {
    setPasted(text.lookingUp(numbers.length));
    const take = (options: readonly Option[]) => {
      const had = new Set(latest.current.map(({ id }) => id));
      onChange([...latest.current, ...options.filter(({ id }) => !had.has(id))]);
      setPasted(describePasted(numbers, options));
    };
    props.readByNumbers(numbers).then(take, () => setPasted(text.notLookedUp));
  };
  const type = (text: string) => {
    setPasted('');
    setPressed(undefined);
    onSearch(text);
  };
  const list = useRef<HTMLDivElement>(null);
  // Once the rows of what was found stand in it.
  const goToList = () =>
    void requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[role=row]')?.focus());
  // Enter chooses the numbers of a list or, once they are found, the only option, or the one of this very name. Of several
  // it goes to the first. It does not submit the form around it.
  const enter = () => {
    const numbers = readList(search);
    if (numbers.length === 0) return setPressed('Enter');
    onSearch('');
    return add(numbers);
  };
  useEffect(() => {
    if (pressed === undefined || props.isSearching) return;
    setPressed(undefined);
    const meant = (found?.length === 1 ? found : found?.filter(({ name }) => isSameName(name, search))) ?? [];
    if (pressed === 'ArrowDown' || meant.length !== 1) return goToList();
    onChange([...chosen, ...meant.filter(({ id }) => !ids.has(id))]);
  });
  const paste = (event: ClipboardEvent) => {
    const numbers = readList(event.clipboardData.getData('text'));
    if (numbers.length === 0) return;
    event.preventDefault();
    add(numbers);
  };
  return (
    <Group className="pick-many" aria-label={label}>
      <SearchField
        className="field"
        value={search}
        onChange={type}
        onSubmit={enter}
        autoFocus={props.autoFocus === true}
        validate={(typed) => (readList(typed).length > 0 ? text.enterNumbers : undefined)}
      >
        <Label>{label}</Label>
        <Input
          placeholder={text.searchByName}
          onPaste={paste}
          onKeyDown={({ key }) => key === 'ArrowDown' && setPressed(key)}
        />
        <FieldError />
      </SearchField>
      {hint !== undefined && <p className="hint">{hint}</p>}
      <p className="hint" role="status">
        {pasted}
      </p>
      <GridList
        ref={list}
        aria-label={text.found(label)}
        className="options-list"
        items={found ?? []}
        selectionMode="multiple"
        selectedKeys={ids}
        onSelectionChange={select}
        renderEmptyState={() =>
          readList(search).length > 0 ? text.enterNumbers : found === undefined ? text.searching : text.nothingFound
        }
      >
        {(option) => (
          <GridListItem id={option.id} textValue={option.name} className="option-row">
            <Checkbox slot="selection" className="tick" />
            {option.image !== undefined && <Picture url={option.image} />}
            {option.name} <span className="detail">{option.detail}</span>
          </GridListItem>
        )}
      </GridList>
      <TagGroup
        aria-label={text.chosen(label)}
        className="tags"
        onRemove={(keys) => onChange(chosen.filter(({ id }) => !keys.has(id)))}
      >
        <TagList items={chosen.slice(0, shownMost)} renderEmptyState={() => text.noneChosen}>
          {(option) => (
            <Tag id={option.id} textValue={option.name} className="tag">
              {option.name}
              <Button slot="remove" emphasis="quiet">
                <X />
              </Button>
            </Tag>
          )}
        </TagList>
      </TagGroup>
      {chosen.length > shownMost && <p className="hint">{text.andMore(chosen.length - shownMost)}</p>}
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </Group>
  );
}

const isSameName = (name: string, typed: string) => name.toLowerCase() === typed.trim().toLowerCase();

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
