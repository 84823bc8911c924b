import type { Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Link, type LinkProps } from 'react-aria-components/Link';

/** How much a button stands out: the main action, one of several, a minor one, or one that can't be undone. */
export type Emphasis = 'primary' | 'plain' | 'quiet' | 'danger';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  readonly emphasis?: Emphasis;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button. While `isPending` is set, it keeps the focus, announces that it is busy, and can't be pressed. */
export function Button({ emphasis = 'plain', ...props }: ButtonProps) {
  return <AriaButton {...props} className={`button ${emphasis}`} />;
}

/** A link that looks like a button. */
export function ButtonLink({ emphasis = 'plain', ...props }: LinkProps & { readonly emphasis?: Emphasis }) {
  return <Link {...props} className={`button ${emphasis}`} />;
}
