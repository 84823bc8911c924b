import { FieldError } from 'react-aria-components/FieldError';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';

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
