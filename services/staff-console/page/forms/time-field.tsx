import { business, foreignTimeZone } from '../business/business.ts';
import { repeatedTimes } from '../business/time-input.ts';
import { clock } from '../session/clock.ts';
import { words } from '../words.ts';
import { Choice } from './choice.tsx';
import { TextField, type TextFieldProps } from './text-field.tsx';

interface TimeFieldProps extends Pick<TextFieldProps, 'label' | 'name' | 'hint' | 'isRequired' | 'problem'> {
  /** In the format of time-input.ts; empty for none. */
  readonly value: string;
  onChange(value: string): void;
}

const text = words.forms;
const minutes = 'YYYY-MM-DDThh:mm'.length;

/** A field for a date and time in the business's time zone. It asks which one is meant where an hour comes twice. */
export function TimeField({ value, hint = '', onChange, ...props }: TimeFieldProps) {
  const [first, second] = repeatedTimes(value);
  const zone = foreignTimeZone(new Date(clock.now())) === undefined ? '' : text.zone(business.timeZone);
  return (
    <div className="field">
      <TextField
        {...props}
        type="datetime-local"
        hint={zone + hint || undefined}
        value={first === undefined ? value : value.slice(0, minutes)}
        // The second of two stays the second while its minutes are changed.
        onChange={(typed) => onChange((value === second && repeatedTimes(typed)[1]) || typed)}
      />
      {first !== undefined && second !== undefined && (
        <Choice
          label={text.twice(value.slice(11, minutes))}
          value={value === second ? 'second' : 'first'}
          options={{ first: text.first(first.slice(minutes)), second: text.second(second.slice(minutes)) }}
          onChange={(which) => onChange(which === 'second' ? second : first)}
        />
      )}
    </div>
  );
}
