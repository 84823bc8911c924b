import { useQuery } from '@connectrpc/connect-query';
import { RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Facts, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';

const text = words.coupon.usage;

/** Reads how often a coupon is held, used and given back. Holds run out while the page is open, too. */
export const useUsage = (couponId: number) =>
  useQuery(RedemptionService.method.getUsage, { couponIds: [couponId] }, { refetchInterval: 20_000 });

/** Shows how often a coupon was used, of how many times, and what it has taken off orders. */
export function UsageSection({ id, maxUses = 0 }: { readonly id: number; readonly maxUses?: number | undefined }) {
  const query = useUsage(id);
  return (
    <Section title={text.title}>
      <Read query={{ ...query, data: query.data?.usage[0] }} what={text.what}>
        {({ held, used, released, expired, discountUsed }) => (
          <>
            <Facts
              rows={[
                [words.coupons.used, words.coupons.usedOf(used, maxUses)],
                [text.given, formatAmount(discountUsed, currencyDigits())],
                [text.held, held],
                [text.returned, released],
                [text.expired, expired],
              ]}
            />
            {maxUses > 0 && <progress aria-label={text.title} value={used} max={maxUses} />}
          </>
        )}
      </Read>
    </Section>
  );
}
