import type { RefObject } from 'react';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';

/** An action behind the dots: a link, or what it runs. */
export type MoreAction = { readonly name: string } & ({ readonly href: string } | { readonly run: () => void });

interface ActionListProps {
  readonly actions: readonly MoreAction[];
  readonly label: string;
  readonly trigger: RefObject<HTMLButtonElement | null>;
  onClose(): void;
}

/** The open list of a menu's actions. */
export function ActionList({ actions, label, trigger, onClose }: ActionListProps) {
  return (
    <Popover
      aria-label={label}
      className="popover"
      placement="bottom end"
      triggerRef={trigger}
      isOpen
      onOpenChange={onClose}
    >
      <Menu className="options-list" aria-label={label} autoFocus="first" onClose={onClose}>
        {actions.map((action) => (
          <MenuItem
            key={action.name}
            className="option-row"
            {...('href' in action ? { href: action.href } : { onAction: action.run })}
          >
            {action.name}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
