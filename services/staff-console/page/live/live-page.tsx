import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { SlotStoreService } from '../../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { Empty, Page, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { OpenSlots } from './open-slots.tsx';
import { ProductSlots } from './product-slots.tsx';
import { ConnectionState, StoreState } from './store-state.tsx';
import { useStoreVersion } from './use-store-version.ts';

const behindMs = 1_000;

/** Shows what the storefront shows at this moment, from the derived stores (design 4). */
export function Component(): ReactNode {
  const { latest } = useStoreVersion();
  const query = useQuery(
    SlotStoreService.method.getOpenSlots,
    {},
    {
      // A different replica than the stream's may answer, and may be a moment behind.
      refetchInterval: ({ state }) => isBehind(state.data?.version, latest?.version) && behindMs,
    },
  );
  return (
    <Page title="Live" beside={<ConnectionState />}>
      <p>What customers can choose in the storefront at this moment. It follows each change by itself.</p>
      <StoreState />
      <div className="live-columns">
        <ProductSlots />
        <Section title="Open slots">
          <Read query={query} what="the open slots">
            {({ slots }) => <OpenSlots slots={slots} empty={<Empty>No slots take orders.</Empty>} />}
          </Read>
        </Section>
      </div>
    </Page>
  );
}

function isBehind(shown: number | undefined, latest: number | undefined): boolean {
  return shown !== undefined && latest !== undefined && shown < latest;
}
