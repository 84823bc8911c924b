import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { UseQueryResult } from '@tanstack/react-query';
import { Suspense, useId, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { GetOverviewResponse, OverviewDay } from '#gen/coupon/v1/redemption_service_pb';
import { formatDay, formatTime, timeLeft } from '../business/time.tsx';
import { readTimeInput } from '../business/time-input.ts';
import type { Column } from '../lists/column.ts';
import { ListTable } from '../lists/list-table.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Badge, Empty, Section } from '../ui/page.tsx';
import { late } from '../ui/pauses.ts';
import { Read } from '../ui/read.tsx';
import { isolate } from '../ui/text.ts';
import { counted, words } from '../words.ts';
import { money } from './tiles.tsx';

const text = words.overview;
// Until it is here, there are the sums and the table.
const Plot = late(async () => (await import('./plot.tsx')).Plot);

interface SectionProps {
  readonly query: UseQueryResult<GetOverviewResponse>;
}

/** Names a day of the overview, such as "Mon 23 Nov". */
const nameOf = ({ date }: OverviewDay) => formatDay(readTimeInput(`${date}T12:00`) ?? new Date(date));

const columns: readonly Column<OverviewDay>[] = [
  { title: text.day, text: nameOf },
  { title: text.usesOfDay, text: ({ uses }) => String(uses), className: 'number' },
  { title: text.given, text: ({ discountGiven }) => money(discountGiven), className: 'number' },
];

/** Shows the uses of coupons and their discounts day by day, as a chart or, as screen readers have it always, as a table. */
export function Uses({ query }: SectionProps) {
  const id = useId();
  const [isTable, setIsTable] = useState(false);
  const [pointed, setPointed] = useState<number>();
  return (
    <Section
      title={text.chart}
      actions={<Button onPress={() => setIsTable(!isTable)}>{isTable ? text.showChart : text.showTable}</Button>}
    >
      <Read query={query} what={text.theUses}>
        {({ days }) => {
          const day = days[pointed ?? -1];
          const uses = days.reduce((sum, each) => sum + each.uses, 0);
          const given = days.reduce((sum, each) => sum + Number(each.discountGiven), 0);
          return (
            <>
              {uses === 0 && (
                <Empty>
                  {text.noUses}
                  <ButtonLink href="/coupons/new">{text.newCoupon}</ButtonLink>
                </Empty>
              )}
              <p id={id} className="chart-key">
                <span className="detail">{day === undefined ? counted(days.length, 'days') : nameOf(day)}</span>
                <span>{counted(day?.uses ?? uses, 'uses')}</span>
                <span className="given">{text.givenIn(money(day?.discountGiven ?? given))}</span>
              </p>
              {uses > 0 && !isTable && (
                <div className="plot" aria-hidden="true">
                  <Suspense>
                    <Plot days={days} onPoint={setPointed} />
                  </Suspense>
                </div>
              )}
              <div className={isTable ? '' : 'visually-hidden'}>
                <ListTable labelledBy={id} columns={columns} rows={days.toReversed()} keyOf={({ date }) => date} />
              </div>
            </>
          );
        }}
      </Read>
    </Section>
  );
}

/** Lists the coupons that end within a week, with the uses that are left of those that are nearly used up. */
export function Ending({ query, now }: SectionProps & { readonly now: number }) {
  return (
    <Section title={text.ending}>
      <Read query={query} what={text.theCoupons}>
        {({ ending, nearlyUsedUp }) => (
          <ul className="plain feed">
            {ending.slice(0, 8).map(({ id, couponCode, validTill }) => {
              const few = nearlyUsedUp.find(({ coupon }) => coupon?.id === id);
              const end = validTill === undefined ? 0 : timestampMs(validTill);
              return (
                <li key={id}>
                  <Link href={`/coupons/${id}`}>{isolate(couponCode)}</Link>{' '}
                  {few && <Badge kind="warn">{text.fewLeft(few.usesLeft)}</Badge>}
                  <p className="detail">{text.ends(formatTime(validTill), timeLeft(end, now))}</p>
                </li>
              );
            })}
            {ending.length === 0 && <li className="detail">{text.noneEnds}</li>}
          </ul>
        )}
      </Read>
    </Section>
  );
}
