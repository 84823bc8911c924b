import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { TextField } from '../../forms/text-field.tsx';
import type { Search } from '../../ui/use-search.ts';

interface CouponViewsProps {
  readonly search: Search;
  /** What is searched by, such as "Search by code". */
  readonly label: string;
}

/** The bar above the lists of coupons: which of them, and the search. */
export function CouponViews({ search, label }: CouponViewsProps): ReactNode {
  return (
    <div className="bar">
      <nav aria-label="Kinds of coupons" className="tabs">
        <NavLink to="/coupons" end>
          Coupons
        </NavLink>
        <NavLink to="/coupons/reserved">Reserved</NavLink>
      </nav>
      <TextField label={label} type="search" autoComplete="off" value={search.text} onChange={search.type} />
    </div>
  );
}
