import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { OverviewDay, GetOverviewResponse as RedemptionSums } from '#gen/coupon/v1/redemption_service_pb';
import {
  type PlannedSlot,
  SlotPlanService,
  type GetOverviewResponse as SlotSums,
} from '#gen/slot/v1/slot_plan_service_pb';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { timeLeft } from '../business/time.tsx';
import { dateInput, fromTimeInput, shiftDay } from '../business/time-input.ts';
import type { Column } from '../lists/column.tsx';
import { ListTable } from '../lists/list-table.tsx';
import { endsAt, reachingBack } from '../slots/record/ends.ts';
import {
  CapacityBar,
  describeEnd,
  ordersClose,
  SlotBadge,
  slotsInWords,
  slotTime,
  slotTimeOn,
} from '../slots/record/slot-state.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Empty, Read, Section } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.overview;
// Of the slots that close soon, the service names no more.
const closingMost = 20;
// So that the chart begins on a laptop's first screen.
const shown = 8;
const lagMs = 60_000;

interface TilesProps {
  readonly slots: UseQueryResult<SlotSums>;
  readonly redemptions: UseQueryResult<RedemptionSums>;
  /** In Unix ms. */
  readonly now: number;
  /** Such as 2026-11-23. */
  readonly today: string;
}

/** The figures of today, each with the link to where staff act on it. */
export function Tiles(props: TilesProps) {
  const { slots, redemptions, now, today } = props;
  const { booked = 0, held = 0, capacity = 0, closing = [], slots: count = 0, full = 0 } = slots.data ?? {};
  const [yesterday, ofToday] = redemptions.data?.days.slice(-2) ?? [];
  const needs = useNeeds(props);
  const tiles = [
    {
      label: text.booked,
      href: `/slots?day=${today}`,
      of: [slots],
      figure: capacity === 0 ? slotsInWords(count) : words.slots.ofCapacity(booked + held, capacity),
      detail: (
        <>
          {capacity > 0 && <CapacityBar booked={booked + held} {...{ held, capacity }} />}
          {text.state(full, held)}
        </>
      ),
    },
    {
      label: text.closing,
      href: `/slots/list?from=${today}&state=open`,
      of: [slots],
      figure: `${closing.length}${closing.length === closingMost ? '+' : ''}`,
      detail: closing.slice(0, 2).map((slot) => (
        <Link key={slot.id} href={`/slots/${slot.id}`}>
          {text.closes(slotTime(slot, true), ordersClose(slot, now))}
        </Link>
      )),
      none: text.noneCloses,
    },
    {
      label: text.uses,
      href: '/coupons',
      of: [redemptions],
      figure: sumsOf(ofToday),
      detail: text.yesterday(sumsOf(yesterday)),
    },
    {
      label: text.needs,
      href: needs[0]?.href ?? '/audit',
      of: [slots, redemptions],
      figure: String(needs.length),
      detail: needs.map(({ href, what }) => (
        <Link key={what} href={href}>
          {what}
        </Link>
      )),
      none: text.nothingNeeded,
    },
  ];
  return (
    <div className="row tiles">
      {tiles.map(({ label, href, of, figure, detail, none }) => (
        <section key={label} className="card tile" aria-label={label}>
          <p className="detail">{label}</p>
          {of.some(({ data }) => data === undefined) ? (
            <p className="figure">{of.every(({ error }) => error === null) ? '…' : words.coupons.unknown}</p>
          ) : (
            <>
              <Link className="figure" href={href}>
                {figure}
              </Link>
              <div className="detail">{Array.isArray(detail) && detail.length === 0 ? none : detail}</div>
            </>
          )}
        </section>
      ))}
    </div>
  );
}

/** Formats a sum of discounts, in the currency's digits. */
export const money = (amount: string | number = 0) => formatAmount(amount, currencyDigits());

const sumsOf = (day: OverviewDay | undefined) =>
  `${(day?.uses ?? 0).toLocaleString('en')} · ${money(day?.discountGiven)}`;

/** Returns what a person has to look after, with the page for it. */
function useNeeds({ slots, redemptions, now }: TilesProps) {
  const late = [slots.data, redemptions.data].flatMap((sums) => {
    const at = sums?.oldestUnsentAt && timestampMs(sums.oldestUnsentAt);
    return at !== undefined && at < now - lagMs ? [{ at, count: sums?.unsentEntries ?? 0 }] : [];
  });
  const unsent = Math.max(0, ...late.map(({ count }) => count));
  const oldest = Math.min(...late.map(({ at }) => at));
  // The storefront stays behind if it was so in two readings, one after the other.
  const [pending, readAt] = [slots.data?.pendingRequests ?? 0, slots.dataUpdatedAt];
  const [since, setSince] = useState<number>();
  useEffect(() => {
    setSince((before) => (pending > 0 ? (before ?? readAt) : undefined));
  }, [pending, readAt]);
  const isBehind = pending > 0 && since !== undefined && since < readAt;
  return [
    ...(unsent > 0 ? [{ href: '/audit', what: text.webhooks(unsent, timeLeft(now, oldest) ?? '') }] : []),
    ...(isBehind ? [{ href: '/live', what: text.storefront(pending) }] : []),
    ...(redemptions.data?.nearlyUsedUp ?? []).map(({ coupon, usesLeft }) => ({
      href: `/coupons/${coupon?.id}`,
      what: `${isolate(coupon?.couponCode ?? '')}: ${text.fewLeft(usesLeft)}`,
    })),
  ];
}

/** Lists the slots of today and tomorrow that are not over, soonest first, with what is booked and when orders close. */
export function SlotRows({ slots: { data: sums }, now, today }: Omit<TilesProps, 'redemptions'>) {
  const id = useId();
  const deliveryUntil = fromTimeInput(`${shiftDay(today, 2)}T00:00`);
  const request = { deliveryFrom: reachingBack(today), deliveryUntil, limit: 1_000 };
  const query = useQuery(SlotPlanService.method.listSlots, request, { placeholderData: keepPreviousData });
  // When the sums of today have changed, so have its slots.
  const state = sums && `${sums.booked} ${sums.held} ${sums.full}`;
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current !== undefined && seen.current !== state) void query.refetch();
    seen.current = state;
  }, [state, query.refetch]);
  const columns = columnsOf(now, today);
  const left = query.data?.slots.filter((slot) => endsAt(slot) > now);
  return (
    <Section
      title={text.slotsOf}
      actions={
        <>
          <span id={id} className="detail">
            {left && text.next(left.length, shown)}
          </span>
          <ButtonLink href={`/slots/sheets?day=${dateInput(new Date(now))}`}>{words.slots.sheets}</ButtonLink>
          <ButtonLink href="/slots">{words.slots.calendar}</ButtonLink>
        </>
      }
    >
      <Read query={{ ...query, data: left }} what={words.slots.theSlots}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              {text.noSlots}
              <ButtonLink href="/slots/new">{words.slots.newSlot}</ButtonLink>
            </Empty>
          ) : (
            <ListTable labelledBy={id} columns={columns} rows={rows.slice(0, shown)} keyOf={(slot) => slot.id} />
          )
        }
      </Read>
    </Section>
  );
}

const startOf = ({ deliveryTime }: PlannedSlot) => (deliveryTime === undefined ? 0 : timestampMs(deliveryTime));

function columnsOf(now: number, today: string): readonly Column<PlannedSlot>[] {
  const delivery = (slot: PlannedSlot) =>
    `${dateInput(new Date(startOf(slot))) > today ? text.tomorrow : words.today} ${slotTimeOn(today, slot)}`;
  const units = ({ booked = 0, capacity }: PlannedSlot) =>
    capacity === undefined ? words.noLimit : `${booked}/${capacity}`;
  return [
    {
      title: words.fields.deliveryTime,
      text: delivery,
      show: (slot) => <Link href={`/slots/${slot.id}`}>{delivery(slot)}</Link>,
      className: 'name',
    },
    {
      title: words.fields.bookedAt,
      text: units,
      show: (slot) =>
        slot.capacity === undefined ? (
          <span className="detail">{units(slot)}</span>
        ) : (
          <span className="booked">
            <CapacityBar booked={slot.booked ?? 0} capacity={slot.capacity} />
            <span aria-hidden="true">{units(slot)}</span>
          </span>
        ),
    },
    {
      title: words.fields.state,
      text: (slot) => describeEnd(slot, now),
      show: (slot) => (
        <>
          <SlotBadge slot={slot} now={now} /> <span className="detail">{describeEnd(slot, now)}</span>
        </>
      ),
      className: 'name',
    },
  ];
}
