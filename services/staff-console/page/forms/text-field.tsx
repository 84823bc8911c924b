import type { InputEvent, ReactNode } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from 'react-aria-components/TextField';

export interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  readonly label: string;
  /** What to enter, where the label does not say it. */
  readonly hint?: string | undefined;
  /** The problem that the service has with it, where the form does not know it by the field's `name`. */
  readonly problem?: string | undefined;
  /** The number of lines; 1 unless told. */
  readonly lines?: number;
  /** An example of what to enter. */
  readonly placeholder?: string;
}

/**
 * A labelled text field, also for numbers, dates and times: those get the keyboards and pickers of the device. A problem that the
 * form knows under its `name` stands below it.
 */
export function TextField({ label, hint, problem, lines = 1, placeholder = '', ...props }: TextFieldProps): ReactNode {
  return (
    <AriaTextField {...props} {...(problem === undefined ? {} : { isInvalid: true })} className="field">
      <Label>{label}</Label>
      {lines === 1 ? (
        <Input placeholder={placeholder} onInput={checkAgain} />
      ) : (
        <TextArea rows={lines} placeholder={placeholder} onInput={checkAgain} />
      )}
      {hint !== undefined && <Text slot="description">{hint}</Text>}
      <FieldError>{problem}</FieldError>
    </AriaTextField>
  );
}

/**
 * Lets a problem go as soon as it is mended. The library checks a field when it is left: a problem that goes only then moves the
 * button that staff are about to press from under their pointer.
 */
function checkAgain({ currentTarget }: InputEvent<HTMLInputElement | HTMLTextAreaElement>): void {
  if (currentTarget.getAttribute('aria-invalid') === 'true') currentTarget.dispatchEvent(new Event('change'));
}
