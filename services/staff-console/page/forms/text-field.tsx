import type { InputEvent } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from 'react-aria-components/TextField';

export interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The problem that the service reported, if the form does not have it under the field's `name`. */
  readonly problem?: string | undefined;
  readonly lines?: number;
  /** Whether letters become capital ones as they are typed. */
  readonly isUpperCase?: boolean;
  readonly placeholder?: string;
}

// Beyond a year of four digits, a browser lets what is typed next run on into the year.
const lastDay = '9999-12-31';

/** A labelled field, also for dates and times. It shows the problem that the form has under its `name`. */
export function TextField(props: TextFieldProps) {
  const { label, hint, problem, lines = 1, isUpperCase = false, ...rest } = props;
  const { type = 'text' } = rest;
  const { placeholder = type === 'search' ? label : '' } = rest;
  return (
    <AriaTextField
      {...rest}
      {...(problem !== undefined && { isInvalid: true })}
      className={type === 'search' ? 'field search' : 'field'}
    >
      <Label>{label}</Label>
      {lines === 1 ? (
        <Input
          {...(type === 'date' && { max: lastDay })}
          placeholder={placeholder}
          onInput={isUpperCase ? capitalize : checkAgain}
        />
      ) : (
        <TextArea rows={lines} placeholder={placeholder} onInput={checkAgain} />
      )}
      {hint !== undefined && <Text slot="description">{hint}</Text>}
      <FieldError>{problem}</FieldError>
    </AriaTextField>
  );
}

/** Makes letters capital ones where they stand. A value that is replaced later would move the caret to its end. */
function capitalize(event: InputEvent<HTMLInputElement>): void {
  const field = event.currentTarget;
  const { selectionStart, selectionEnd, value } = field;
  if (value !== value.toUpperCase()) {
    field.value = value.toUpperCase();
    field.setSelectionRange(selectionStart, selectionEnd);
  }
  checkAgain(event);
}

/** Hides a fixed problem at once: when the field loses focus, the button would move away from the pointer. */
function checkAgain({ currentTarget }: InputEvent<HTMLInputElement | HTMLTextAreaElement>): void {
  if (currentTarget.getAttribute('aria-invalid') === 'true') currentTarget.dispatchEvent(new Event('change'));
}
