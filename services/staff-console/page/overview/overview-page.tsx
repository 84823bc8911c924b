import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { AuditService } from '#gen/audit/v1/audit_service_pb';
import { type GetOverviewResponse, type OverviewDay, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { Deed } from '../audit/history.tsx';
import { byNewest } from '../audit/trail/merge-trails.ts';
import { business } from '../business/business.ts';
import { formatDay, formatTime, timeLeft, timeSince, useNow } from '../business/time.tsx';
import { dateInput, fromTimeInput, readTimeInput, shiftDay } from '../business/time-input.ts';
import type { Column } from '../lists/column.tsx';
import { ListTable } from '../lists/list-table.tsx';
import { readEvery } from '../rpc/query-client.ts';
import { useTransports } from '../rpc/transport.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Badge, Empty, Page, Read, Section } from '../ui/page.tsx';
import { late } from '../ui/pauses.tsx';
import { isolate } from '../ui/text.ts';
import { counted, words } from '../words.ts';
import { money, SlotRows, Tiles } from './today.tsx';
import './overview.css';

const text = words.overview;
const daysInChart = 30;
const couponsShown = 8;
const limit = 10;
// Not while the tab is hidden.
const options = { refetchInterval: readEvery(15_000), placeholderData: keepPreviousData } as const;
const startOf = (day: string) => fromTimeInput(`${day}T00:00`);
// Until it is here, there are the sums and the table.
const Plot = late(async () => (await import('./plot.tsx')).Plot);

/** The first page: what today needs, its slots and those of tomorrow, and what coupons have brought in 30 days (design 17). */
export function Component() {
  const now = useNow(10_000);
  const today = dateInput(new Date(now));
  const until = startOf(shiftDay(today, 1));
  const slots = useQuery(SlotPlanService.method.getOverview, { from: startOf(today), until }, options);
  const ofChart = { from: startOf(shiftDay(today, 1 - daysInChart)), until, timeZone: business.timeZone };
  const redemptions = useQuery(RedemptionService.method.getOverview, ofChart, options);
  return (
    <Page title={words.frame.overview} beside={<span className="detail">{formatDay(new Date(now))}</span>}>
      <Tiles {...{ slots, redemptions, now, today }} />
      <div className="split">
        <div>
          <SlotRows {...{ slots, now, today }} />
          <Uses query={redemptions} />
        </div>
        <aside>
          <Section title={text.ending}>
            <Read query={redemptions} what={text.theCoupons}>
              {({ ending, nearlyUsedUp }) => (
                <ul className="plain feed">
                  {ending.slice(0, couponsShown).map(({ id, couponCode, validTill }) => {
                    const few = nearlyUsedUp.find(({ coupon }) => coupon?.id === id);
                    const left = validTill && timeLeft(timestampMs(validTill), now);
                    return (
                      <li key={id}>
                        <Link href={`/coupons/${id}`}>{isolate(couponCode)}</Link>{' '}
                        {few && <Badge kind="warn">{text.fewLeft(few.usesLeft)}</Badge>}
                        <p className="detail">{text.ends(formatTime(validTill), left)}</p>
                      </li>
                    );
                  })}
                  {ending.length === 0 && <li className="detail">{text.noneEnds}</li>}
                </ul>
              )}
            </Read>
          </Section>
          <LatestChanges now={now} />
        </aside>
      </div>
    </Page>
  );
}

/** Names a day of the overview, such as "Mon 23 Nov". */
const nameOf = ({ date }: OverviewDay) => formatDay(readTimeInput(`${date}T12:00`) ?? new Date(date));

const columns: readonly Column<OverviewDay>[] = [
  { title: words.day, text: nameOf },
  { title: text.usesOfDay, text: ({ uses }) => String(uses), className: 'number' },
  { title: words.coupon.usage.given, text: ({ discountGiven }) => money(discountGiven), className: 'number' },
];

/** Shows the uses of coupons and their discounts day by day, as a chart or, as screen readers have it always, as a table. */
export function Uses({ query }: { readonly query: UseQueryResult<GetOverviewResponse> }) {
  const id = useId();
  const [isTable, setIsTable] = useState(false);
  const [pointed = -1, setPointed] = useState<number>();
  return (
    <Section
      title={text.chart}
      actions={<Button onPress={() => setIsTable(!isTable)}>{isTable ? text.showChart : text.showTable}</Button>}
    >
      <Read query={query} what={text.theUses}>
        {({ days }) => {
          const day = days[pointed];
          const uses = days.reduce((sum, each) => sum + each.uses, 0);
          const given = days.reduce((sum, each) => sum + Number(each.discountGiven), 0);
          return (
            <>
              {uses === 0 && (
                <Empty>
                  {text.noUses}
                  <ButtonLink href="/coupons/new">{words.coupon.newOne}</ButtonLink>
                </Empty>
              )}
              <p id={id} className="chart-key">
                <span className="detail">{day === undefined ? counted(days.length, 'days') : nameOf(day)}</span>
                <span>{counted(day?.uses ?? uses, 'uses')}</span>
                <span className="given">{text.givenIn(money(day?.discountGiven ?? given))}</span>
              </p>
              {uses > 0 && !isTable && (
                <div className="plot" aria-hidden="true">
                  <Plot days={days} onPoint={setPointed} />
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

/** Lists the last changes of both services, or of the one that answers. */
function LatestChanges({ now }: { readonly now: number }) {
  const { slot, coupon } = useTransports();
  const { listEntries } = AuditService.method;
  const refetchInterval = readEvery(60_000);
  const ofSlots = useQuery(listEntries, { limit }, { transport: slot, refetchInterval });
  const ofCoupons = useQuery(listEntries, { limit }, { transport: coupon, refetchInterval });
  const entries = [ofSlots, ofCoupons].flatMap(({ data }) => data?.entries ?? []).sort(byNewest);
  return (
    <Section title={text.changes} actions={<ButtonLink href="/audit">{text.all}</ButtonLink>}>
      <Read query={ofSlots} what={text.changesOfSlots}>
        {() => null}
      </Read>
      <Read query={ofCoupons} what={text.changesOfCoupons}>
        {() => null}
      </Read>
      <ul className="plain feed">
        {entries.slice(0, limit).map((entry) => (
          <li key={`${entry.resourceType} ${entry.id}`}>
            <Deed entry={entry} />
            {entry.at !== undefined && <p className="detail">{timeSince(timestampMs(entry.at), now)}</p>}
          </li>
        ))}
        {ofSlots.data && ofCoupons.data && entries.length === 0 && <li className="detail">{words.activity.noneYet}</li>}
      </ul>
    </Section>
  );
}
