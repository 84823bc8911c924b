import type { ReactNode } from 'react';
import { NavLink } from 'react-router';

/** The bar above the slots: links to the board and the list, and the view's own controls. */
export function SlotViews({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="bar">
      <nav aria-label="Views of the slots" className="tabs">
        <NavLink to="/slots" end>
          Board
        </NavLink>
        <NavLink to="/slots/list">List</NavLink>
      </nav>
      {children}
    </div>
  );
}
