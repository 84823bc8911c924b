import { useRef } from 'react';
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
  /** The time of a day that is entered without one, such as 23:59. Without it, staff have to enter the time, too. */
  readonly usual?: string;
}

const text = words.forms;
const minutes = 'YYYY-MM-DDThh:mm'.length;

/**
 * A date and a time in the business's time zone, in two of the browser's fields, for which a phone has pickers. Asks which
 * time is meant where an hour comes twice.
 */
export function TimeField({ hint = '', usual = '', isRequired = false, ...props }: TimeFieldProps) {
  const { label, value, onChange } = props;
  const [first, second] = repeatedTimes(value);
  const zone = foreignTimeZone(new Date(clock.now())) === undefined ? '' : text.zone(business.timeZone);
  const [day = '', time = ''] = value.slice(0, minutes).split('T');
  // The date is empty for a moment while it is typed over. The time comes back with it.
  const lastTime = useRef(usual);
  const change = (toDay: string, toTime: string) => {
    lastTime.current = toTime;
    const typed = toDay === '' ? '' : `${toDay}T${toTime}`;
    // The second of two stays the second while its minutes are changed.
    onChange((value === second && repeatedTimes(typed)[1]) || typed);
  };
  return (
    <div className="field">
      <div className="with-button labelled">
        <TextField
          {...props}
          isRequired={isRequired}
          type="date"
          hint={zone + hint || undefined}
          value={day}
          onChange={(typed) => change(typed, time || lastTime.current)}
        />
        <TextField
          label={text.timeOf(label)}
          type="time"
          isRequired={day !== ''}
          isDisabled={day === ''}
          value={time}
          onChange={(typed) => change(day, typed)}
        />
      </div>
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
