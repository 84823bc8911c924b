import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { OverviewDay, GetOverviewResponse as RedemptionSums } from '#gen/coupon/v1/redemption_service_pb';
import type { GetOverviewResponse as SlotSums } from '#gen/slot/v1/slot_plan_service_pb';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { timeLeft } from '../business/time.tsx';
import { CapacityBar } from '../slots/record/capacity-bar.tsx';
import { ordersClose, slotsInWords } from '../slots/record/slot-state.tsx';
import { slotTime } from '../slots/record/slot-time.ts';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.overview;
const most = 20;
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
  const isRead = slots.data !== undefined && redemptions.data !== undefined;
  return (
    <div className="tiles">
      <Tile
        label={text.booked}
        href={`/slots?day=${today}`}
        of={slots}
        figure={capacity === 0 ? slotsInWords(count) : words.slots.ofCapacity(booked + held, capacity)}
      >
        {capacity > 0 && <CapacityBar booked={booked + held} {...{ held, capacity }} />}
        {text.state(full, held)}
      </Tile>
      <Tile
        label={text.closing}
        href={`/slots/list?from=${today}&state=open`}
        of={slots}
        figure={`${closing.length}${closing.length === most ? '+' : ''}`}
      >
        {closing.slice(0, 2).map((slot) => (
          <Link key={slot.id} href={`/slots/${slot.id}`}>
            {text.closes(slotTime(slot, true), ordersClose(slot, now))}
          </Link>
        ))}
        {closing.length === 0 && text.noneCloses}
      </Tile>
      <Tile label={text.uses} href="/coupons" of={redemptions} figure={sumsOf(ofToday)}>
        {text.yesterday(sumsOf(yesterday))}
      </Tile>
      <Tile
        label={text.needs}
        href={needs[0]?.href ?? '/audit'}
        of={isRead ? slots : { ...slots, data: undefined, error: slots.error ?? redemptions.error }}
        figure={`${needs.length}`}
      >
        {needs.map(({ href, what }) => (
          <Link key={what} href={href}>
            {what}
          </Link>
        ))}
        {needs.length === 0 && text.nothingNeeded}
      </Tile>
    </div>
  );
}

/** Formats a sum of discounts, in the currency's digits. */
export const money = (amount: string | number = 0) => formatAmount(amount, currencyDigits());

const sumsOf = (day: OverviewDay | undefined) =>
  `${(day?.uses ?? 0).toLocaleString('en')} · ${money(day?.discountGiven)}`;

interface TileProps {
  readonly label: string;
  readonly href: string;
  readonly of: { readonly data: unknown; readonly error: unknown };
  readonly figure: string;
  readonly children: ReactNode;
}

function Tile({ label, href, of: { data, error }, figure, children }: TileProps) {
  return (
    <section className="card tile" aria-label={label}>
      <p className="detail">{label}</p>
      {data === undefined ? (
        <p className="figure">{error === null ? '…' : text.notRead}</p>
      ) : (
        <>
          <Link className="figure" href={href}>
            {figure}
          </Link>
          <div className="detail">{children}</div>
        </>
      )}
    </section>
  );
}

/** Returns what a person has to look after, with the page for it. */
function useNeeds({ slots, redemptions, now }: TilesProps) {
  const isLate = (at: Timestamp | undefined) => at !== undefined && timestampMs(at) < now - lagMs;
  const senders = [slots.data, redemptions.data].filter((sums) => isLate(sums?.oldestUnsentAt));
  const unsent = Math.max(0, ...senders.map((sums) => sums?.unsentEntries ?? 0));
  const oldest = Math.min(...senders.flatMap((sums) => (sums?.oldestUnsentAt ? timestampMs(sums.oldestUnsentAt) : [])));
  const pending = useLasting(slots.data?.pendingRequests ?? 0, slots.dataUpdatedAt);
  return [
    ...(unsent > 0 ? [{ href: '/audit', what: text.webhooks(unsent, timeLeft(now, oldest) ?? '') }] : []),
    ...(pending > 0 ? [{ href: '/live', what: text.storefront(pending) }] : []),
    ...(redemptions.data?.nearlyUsedUp ?? []).map(({ coupon, usesLeft }) => ({
      href: `/coupons/${coupon?.id}`,
      what: `${isolate(coupon?.couponCode ?? '')}: ${text.fewLeft(usesLeft)}`,
    })),
  ];
}

/** Returns a count once it was above 0 in two readings, one after the other: 0 until then. */
function useLasting(count: number, readAt: number): number {
  const [since, setSince] = useState<number>();
  useEffect(() => {
    setSince((before) => (count > 0 ? (before ?? readAt) : undefined));
  }, [count, readAt]);
  return since !== undefined && since < readAt ? count : 0;
}
