import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { business } from '../business/business.ts';
import { formatDay, useNow } from '../business/time.tsx';
import { dateInput, fromTimeInput, shiftDay } from '../business/time-input.ts';
import { readEvery } from '../rpc/query-client.ts';
import { Page } from '../ui/page.tsx';
import { words } from '../words.ts';
import { LatestChanges } from './latest-changes.tsx';
import { Ending, Uses } from './redemption-sections.tsx';
import { SlotRows } from './slot-rows.tsx';
import { Tiles } from './tiles.tsx';
import './overview.css';

const daysInChart = 30;
// Not while the tab is hidden.
const options = { refetchInterval: readEvery(15_000), placeholderData: keepPreviousData } as const;
const startOf = (day: string) => fromTimeInput(`${day}T00:00`);

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
          <SlotRows {...{ now, today }} sums={slots.data} />
          <Uses query={redemptions} />
        </div>
        <aside>
          <Ending {...{ now }} query={redemptions} />
          <LatestChanges now={now} />
        </aside>
      </div>
    </Page>
  );
}
