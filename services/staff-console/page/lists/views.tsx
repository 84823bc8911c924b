import { Bookmark } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { NavLink, useLocation, useNavigate } from 'react-router';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { usePreference } from '../session/preference.ts';
import { Dialog } from '../ui/dialog.tsx';
import { MoreMenu } from '../ui/more-menu.tsx';
import { words } from '../words.ts';

const text = words.lists;
const write = { isPending: false, failure: undefined };

interface ViewsProps {
  /** Says what the views are of, such as "Views of the slots". */
  readonly label: string;
  /** The paths of the views, each with its name. */
  readonly links: readonly (readonly [path: string, name: string])[];
  /** The controls of the view on show. */
  readonly children?: ReactNode;
}

/** The bar above a list: links to the views that lie side by side, and the view's own controls. */
export function Views({ label, links, children }: ViewsProps): ReactNode {
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
export function SavedFilters(): ReactNode {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const [kept, keep] = usePreference(`filters of ${pathname}`);
  const saved = readSaved(kept);
  const [name, setName] = useState<string>();
  const set = (next: Readonly<Record<string, string>>) => keep(JSON.stringify(next));
  const shown = Object.keys(saved).find((each) => saved[each] === search);
  const add = () => {
    set({ ...saved, [name?.trim() ?? '']: search });
    setName(undefined);
  };
  return (
    <>
      <MoreMenu
        label={text.saved}
        icon={<Bookmark />}
        actions={[
          ...Object.entries(saved).map(([each, query]) => ({ name: each, run: () => void navigate(pathname + query) })),
          ...(shown === undefined
            ? [{ name: text.saveFilters, run: () => setName('') }]
            : [{ name: text.deleteFilters(shown), run: () => keep(JSON.stringify({ ...saved, [shown]: undefined })) }]),
        ]}
      />
      <Dialog title={text.saveFilters} isOpen={name !== undefined} onClose={() => setName(undefined)}>
        <EditForm write={write} onSend={add} onCancel={() => setName(undefined)}>
          <TextField
            label={text.filtersName}
            isRequired
            autoFocus
            maxLength={40}
            value={name ?? ''}
            onChange={setName}
          />
        </EditForm>
      </Dialog>
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
