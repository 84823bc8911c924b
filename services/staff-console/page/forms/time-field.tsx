import { business, foreignTimeZone } from '../business/business.ts';
import { repeatedTimes } from '../business/time-input.ts';
import { clock } from '../session/clock.ts';
import { words } from '../words.ts';
import { Choice } from './choice.tsx';
import { TextField } from './text-field.tsx';

interface TimeFieldProps {
  readonly label: string;
  readonly name?: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly problem?: string | undefined;
  /** In the format of time-input.ts; empty for none. */
  readonly value: string;
  onChange(value: string): void;
}

const minutes = 'YYYY-MM-DDThh:mm'.length;

/** A field for a date and time in the business's time zone. It asks which one is meant where an hour comes twice. */
export function TimeField({ value, hint = '', onChange, ...props }: TimeFieldProps) {
  const [first, second] = repeatedTimes(value);
  const foreign = foreignTimeZone(new Date(clock.now()));
  const zone = foreign === undefined ? '' : words.forms.zone(business.timeZone);
  return (
    <div className="field">
      <TextField
        {...props}
        type="datetime-local"
        hint={zone + hint || undefined}
        value={first === undefined ? value : value.slice(0, minutes)}
        // The second of two stays the second while its minutes are changed.
        onChange={(text) => onChange((value === second && repeatedTimes(text)[1]) || text)}
      />
      {first !== undefined && second !== undefined && (
        <Choice
          label={words.forms.twice(value.slice(11, minutes))}
          value={value === second ? 'second' : 'first'}
          options={{
            first: words.forms.first(first.slice(minutes)),
            second: words.forms.second(second.slice(minutes)),
          }}
          onChange={(which) => onChange(which === 'second' ? second : first)}
        />
      )}
    </div>
  );
}
