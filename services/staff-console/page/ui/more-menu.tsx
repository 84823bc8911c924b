import { Ellipsis } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { words } from '../words.ts';
import type { MoreAction } from './action-list.tsx';
import { Button } from './button.tsx';
import { late, useLater } from './pauses.tsx';

const load = async () => (await import('./action-list.tsx')).ActionList;
const ActionList = late(load);

/** The actions that stand behind dots on the page, for the search. */
export const moreActions = new Set<MoreAction>();

interface MoreMenuProps {
  readonly actions: readonly MoreAction[];
  /** Says what opens; "More actions" unless told. */
  readonly label?: string;
  readonly icon?: ReactNode;
  /** Whether they are of a part of the page, and not for the search. */
  readonly isOfPart?: boolean;
}

/** The actions of a page that are not pressed each day, behind dots. */
export function MoreMenu({ actions, label = words.more, icon = <Ellipsis />, isOfPart }: MoreMenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    for (const action of isOfPart ? [] : actions) moreActions.add(action);
    return () => {
      for (const action of actions) moreActions.delete(action);
    };
  });
  const isLater = useLater();
  useEffect(() => void (isLater && load().catch(() => undefined)), [isLater]);
  return (
    <>
      <Button
        ref={button}
        emphasis="quiet"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPress={() => setIsOpen(true)}
      >
        {icon}
      </Button>
      {isOpen && <ActionList {...{ actions, label }} trigger={button} onClose={() => setIsOpen(false)} />}
    </>
  );
}
