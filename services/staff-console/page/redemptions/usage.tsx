import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { RedemptionService } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Facts, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';

/** Shows how often a coupon is held, used and given back, and what it has taken off orders. */
export function Usage({ couponId }: { readonly couponId: number }): ReactNode {
  // Holds run out while the page is open, too.
  const query = useQuery(RedemptionService.method.getUsage, { couponIds: [couponId] }, { refetchInterval: 20_000 });
  return (
    <Section title="Usage">
      <Read query={{ ...query, data: query.data?.usage[0] }} what="the usage">
        {({ held, used, released, expired, discountUsed }) => (
          <Facts
            rows={[
              ['Held', held],
              ['Used', used],
              ['Released', released],
              ['Run out', expired],
              ['Discount given', formatAmount(discountUsed, currencyDigits())],
            ]}
          />
        )}
      </Read>
    </Section>
  );
}
