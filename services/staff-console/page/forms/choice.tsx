import type { ReactNode } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components/Switch';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly name?: string;
  readonly value: Value;
  /** The values, each with its text. */
  readonly options: Readonly<Record<NoInfer<Value>, string>>;
  onChange(value: NoInfer<Value>): void;
}

/** A choice between a few options, which are all visible. */
export function Choice<Value extends string>({ label, options, onChange, ...props }: ChoiceProps<Value>) {
  const isValue = (value: string): value is Value => value in options;
  return (
    <RadioGroup {...props} onChange={(value) => isValue(value) && onChange(value)} className="choice">
      <Label>{label}</Label>
      <div className="options">
        {Object.entries<string>(options).map(([value, words]) => (
          <Radio key={value} value={value} className="option">
            {words}
          </Radio>
        ))}
      </div>
      <FieldError />
    </RadioGroup>
  );
}

/** A switch between two states, with its meaning beside it. */
export function Switch({ children, ...props }: SwitchProps & { readonly children: ReactNode }) {
  return (
    <AriaSwitch {...props} className="switch">
      <span className="track" aria-hidden="true" />
      {children}
    </AriaSwitch>
  );
}
