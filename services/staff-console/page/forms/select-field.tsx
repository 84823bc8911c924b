import { ChevronDown } from 'lucide-react';
import { FieldError } from 'react-aria-components/FieldError';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select, SelectValue } from 'react-aria-components/Select';
import { Button } from '../ui/button.tsx';

interface SelectFieldProps {
  readonly label: string;
  readonly name: string;
  /** Empty if the first option is selected, which means no choice. `none` is its text. */
  readonly value: string;
  readonly none: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  onChange(value: string): void;
}

/** A drop-down list from which staff choose one option or none. */
export function SelectField({ label, none, options, onChange, ...props }: SelectFieldProps) {
  return (
    <Select {...props} className="field" onChange={(key) => onChange(String(key ?? ''))} placeholder={props.value}>
      <Label>{label}</Label>
      <Button>
        <SelectValue /> <ChevronDown />
      </Button>
      <FieldError />
      <Popover className="popover">
        <ListBox className="options-list">
          {[['', none] as const, ...options].map(([id, words]) => (
            <ListBoxItem key={id} id={id} textValue={words} className="option-row">
              {words}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}
