import { Bookmark } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { NavLink, useLocation, useNavigate } from 'react-router';
import { usePreference } from '../session/preference.ts';
import { MoreMenu } from '../ui/more-menu.tsx';
import { late } from '../ui/pauses.tsx';
import { words } from '../words.ts';

const text = words.lists;
// Fetched when it is first needed.
const SaveFilters = late(async () => (await import('./save-filters.tsx')).SaveFilters);

interface ViewsProps {
  readonly label: string;
  readonly links: readonly (readonly [path: string, name: string])[];
  readonly children?: ReactNode;
}

/** The bar above a list: links to the views that lie side by side, and the view's own controls. */
export function Views({ label, links, children }: ViewsProps) {
  return (
    <div className="bar">
      <nav aria-label={label} className="tabs">
        {links.map(([path, name]) => (
          <NavLink key={path} to={path} end>
            {name}
          </NavLink>
        ))}
      </nav>
      {children}
      <SavedFilters />
    </div>
  );
}

/** The filters of a list that staff have saved under names, in this browser. */
export function SavedFilters() {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const [kept, keep] = usePreference(`filters of ${pathname}`);
  const saved = readSaved(kept);
  const [isSaving, setIsSaving] = useState(false);
  const set = (next: Readonly<Record<string, string | undefined>>) => keep(JSON.stringify(next));
  const shown = Object.keys(saved).find((each) => saved[each] === search);
  return (
    <>
      <MoreMenu
        label={text.saved}
        icon={<Bookmark />}
        actions={[
          ...Object.entries(saved).map(([each, query]) => ({ name: each, run: () => void navigate(pathname + query) })),
          ...(shown === undefined
            ? [{ name: text.saveFilters, run: () => setIsSaving(true) }]
            : [{ name: text.deleteFilters(shown), run: () => set({ ...saved, [shown]: undefined }) }]),
        ]}
      />
      {isSaving && (
        <SaveFilters onSave={(name) => set({ ...saved, [name]: search })} onClose={() => setIsSaving(false)} />
      )}
    </>
  );
}

/** Reads what was saved: the query of the page's address by its name. */
function readSaved(text: string): Readonly<Record<string, string>> {
  try {
    const saved: unknown = JSON.parse(text);
    if (typeof saved !== 'object' || saved === null) return {};
    return Object.fromEntries(Object.entries(saved).filter(([, query]) => typeof query === 'string'));
  } catch {
    return {};
  }
}
