import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { TextField } from '../../forms/text-field.tsx';
import type { Search } from '../../lists/use-search.ts';

interface CouponViewsProps {
  readonly search: Search;
  /** The label of the search field, such as "Search by code". */
  readonly label: string;
  /** The filters of the list. */
  readonly children?: ReactNode;
}

/** The bar above a list of coupons, with links to both lists, the search field and the filters. */
export function CouponViews({ search, label, children }: CouponViewsProps): ReactNode {
  return (
    <div className="bar">
      <nav aria-label="Kinds of coupons" className="tabs">
        <NavLink to="/coupons" end>
          Coupons
        </NavLink>
        <NavLink to="/coupons/reserved">Reserved</NavLink>
      </nav>
      <TextField label={label} type="search" autoComplete="off" value={search.text} onChange={search.type} />
      {children}
    </div>
  );
}
