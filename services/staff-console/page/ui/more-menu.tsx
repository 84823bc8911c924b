import { Ellipsis } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { words } from '../words.ts';
import { Button } from './button.tsx';

/** An action behind the dots: a link, or what it runs. */
export type MoreAction = { readonly name: string } & ({ readonly href: string } | { readonly run: () => void });

/** The actions that stand behind dots on the page, for the search. */
export const moreActions = new Set<MoreAction>();

interface MoreMenuProps {
  readonly actions: readonly MoreAction[];
  /** Says what opens; "More actions" unless told. */
  readonly label?: string;
  /** Dots unless told. */
  readonly icon?: ReactNode;
}

/** The actions of a page that are not pressed each day, behind dots. */
export function MoreMenu({ actions, label = words.more, icon = <Ellipsis /> }: MoreMenuProps): ReactNode {
  useEffect(() => {
    for (const action of actions) moreActions.add(action);
    return () => {
      for (const action of actions) moreActions.delete(action);
    };
  });
  return (
    <MenuTrigger>
      <Button emphasis="quiet" aria-label={label}>
        {icon}
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="options-list">
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
    </MenuTrigger>
  );
}
