import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { late, useLater } from '../ui/pauses.tsx';
import { words } from '../words.ts';

const load = async () => (await import('./search-dialog.tsx')).SearchDialog;
const SearchDialog = late(load);

/** Opens the search for everything, as do Ctrl-K and, outside of fields, the slash. */
export function SearchButton() {
  const [isOpen, setIsOpen] = useState(false);
  // What is typed while the dialog comes.
  const typed = useRef('');
  const isLater = useLater();
  useEffect(() => void (isLater && load().catch(() => undefined)), [isLater]);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (isOpen && event.key.length === 1 && !event.ctrlKey && !isField(document.activeElement)) {
        typed.current += event.key;
        return event.preventDefault();
      }
      const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      if (!isShortcut && (event.key !== '/' || isField(event.target) || isField(document.activeElement)))
        return undefined;
      event.preventDefault();
      typed.current = '';
      return setIsOpen(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, [isOpen]);
  return (
    <>
      <Button onPress={() => setIsOpen(true)} aria-keyshortcuts="Control+K /">
        <Search /> <span className="word">{words.frame.search}</span> <kbd>Ctrl K</kbd>
      </Button>
      {isOpen && <SearchDialog typed={typed} onClose={() => setIsOpen(false)} />}
    </>
  );
}

/** Whether keys that are pressed there are text. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
