import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { SavedFilters } from './saved-filters.tsx';

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
