import { ChevronDown } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { useProductNames, useUserNames } from './names.ts';
import { type PickerProps, ProductPicker, UserPicker } from './pickers.tsx';

interface FilterProps {
  readonly label?: string;
  readonly none?: string;
  /** The id in the URL; empty for none. */
  readonly value: string;
  onChange(value: string): void;
}

/** A filter of a list by a product. */
export function ProductFilter(props: FilterProps) {
  return <RecordFilter label={words.fields.productId} {...props} useNames={useProductNames} Picker={ProductPicker} />;
}

/** A filter of a list by a user. */
export function UserFilter(props: FilterProps) {
  return <RecordFilter label={words.fields.userId} {...props} useNames={useUserNames} Picker={UserPicker} />;
}

interface RecordFilterProps extends FilterProps {
  readonly label: string;
  readonly useNames: (ids: readonly number[]) => (id: number) => string;
  readonly Picker: (props: PickerProps) => ReactNode;
}

/** A filter as a button that names the chosen record and opens a picker for another one. */
function RecordFilter({ label, none = words.any, value, onChange, useNames, Picker }: RecordFilterProps) {
  const [isOpen, setIsOpen] = useState(false);
  const id = readId(value);
  const ids = id === undefined ? [] : [id];
  const nameOf = useNames(ids);
  const chosen = ids.map((each) => ({ id: each, name: nameOf(each) }));
  const choose = (changed: string) => {
    setIsOpen(false);
    onChange(changed);
  };
  const name = chosen[0]?.name;
  return (
    <div className="field">
      <span className="label">{label}</span>
      <Button aria-label={`${label}: ${name ?? none.toLowerCase()}`} onPress={() => setIsOpen(true)}>
        {name ?? none} <ChevronDown />
      </Button>
      <Dialog title={words.lookup.choose(label.toLowerCase())} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Picker
          autoFocus
          label={label}
          chosen={chosen}
          onChange={(options) => choose(String(options.at(-1)?.id ?? ''))}
        />
        <div className="actions">
          <Button onPress={() => choose('')}>{none}</Button>
          <Button onPress={() => setIsOpen(false)}>{words.close}</Button>
        </div>
      </Dialog>
    </div>
  );
}
