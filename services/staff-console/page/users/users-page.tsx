import { Link } from 'react-aria-components/Link';
import { CouponService, type GetUsersMiniInfoResponse, type UserMiniInfo } from '#gen/coupon/v1/coupon_service_pb';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.tsx';
import { useSearch } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { userSearch } from '../lookup/names.ts';
import { Page } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.customers;
const pageSize = 50;
const rowsOf = ({ users }: GetUsersMiniInfoResponse) => users;
// The page after one that is not full would be empty.
const next = ({ users }: GetUsersMiniInfoResponse, offset: number) =>
  users.length < pageSize ? undefined : { offset };

const columns: readonly Column<UserMiniInfo>[] = [
  {
    title: words.fields.name,
    show: ({ id, name }) => <Link href={`/users/${id}`}>{isolate(name)}</Link>,
    text: ({ name }) => name,
  },
  { title: words.fields.mobile, text: ({ mobile }) => mobile },
  { title: text.number, text: ({ id }) => String(id), className: 'number' },
];

/** Lists the customers by name, and finds them by name or mobile number. */
export function Component() {
  const { search, field } = useSearch();
  const request = { search: userSearch(search) };
  return (
    <Page title={words.frame.customers}>
      <div className="bar">
        {/* On a phone, the keyboard would hide the list. */}
        <TextField
          label={text.search}
          placeholder={text.search}
          autoFocus={matchMedia('(hover: hover)').matches}
          {...field}
        />
      </div>
      <List
        source={{ method: CouponService.method.getUsersMiniInfo, request, mostRows: pageSize, rowsOf, next }}
        what={text.what}
        empty={text.none}
        create={{ name: words.coupon.phone.title, href: '/coupons/phone' }}
        noMatch={text.noMatch}
        caption={text.byName}
        columns={columns}
      />
    </Page>
  );
}
