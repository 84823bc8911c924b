import type { ReactNode } from 'react';
import { Switch as AriaSwitch, type SwitchProps } from 'react-aria-components/Switch';

/** A switch between two states, with its meaning beside it. */
export function Switch({ children, ...props }: SwitchProps & { readonly children: ReactNode }) {
  return (
    <AriaSwitch {...props} className="switch">
      <span className="track" aria-hidden="true" />
      {children}
    </AriaSwitch>
  );
}
