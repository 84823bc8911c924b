import { FieldError } from 'react-aria-components/FieldError';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Text } from 'react-aria-components/Text';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly name?: string;
  readonly value: Value;
  /** The values, each with its text. */
  readonly options: Readonly<Record<NoInfer<Value>, string>>;
  onChange(value: NoInfer<Value>): void;
}

/** A choice between a few options, which are all visible. */
export function Choice<Value extends string>({ label, hint, options, onChange, ...props }: ChoiceProps<Value>) {
  const values = Object.keys(options).filter((value): value is Value => value in options);
  const choose = (chosen: string) => {
    const value = values.find((each) => each === chosen);
    if (value !== undefined) onChange(value);
  };
  return (
    <RadioGroup {...props} onChange={choose} className="choice">
      <Label>{label}</Label>
      <div className="options">
        {values.map((value) => (
          <Radio key={value} value={value} className="option">
            {options[value]}
          </Radio>
        ))}
      </div>
      {hint !== undefined && <Text slot="description">{hint}</Text>}
      <FieldError />
    </RadioGroup>
  );
}
