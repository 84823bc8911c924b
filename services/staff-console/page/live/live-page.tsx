import { useQuery } from '@connectrpc/connect-query';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { ButtonLink } from '../ui/button.tsx';
import { Empty, Page, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';
import { OpenSlots } from './open-slots.tsx';
import { ProductSlots } from './product-slots.tsx';
import { ConnectionState, StoreState } from './store-state.tsx';
import { useStoreVersion } from './use-store-version.ts';

const text = words.storefront;
const behindMs = 1_000;

/** Shows what the storefront shows at this moment, from the derived stores (design 4). */
export function Component() {
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
    <Page title={words.frame.storefront} beside={<ConnectionState />}>
      <p>{text.now}</p>
      <StoreState />
      <div className="split">
        <div>
          <Section title={text.openSlots}>
            <Read query={query} what={text.theOpenSlots}>
              {({ slots }) => (
                <OpenSlots
                  slots={slots}
                  empty={
                    <Empty>
                      {text.noneOpen}
                      <ButtonLink href="/slots/new">{words.slots.newSlot}</ButtonLink>
                    </Empty>
                  }
                />
              )}
            </Read>
          </Section>
        </div>
        <aside>
          <ProductSlots />
        </aside>
      </div>
    </Page>
  );
}

function isBehind(shown: number | undefined, latest: number | undefined): boolean {
  return shown !== undefined && latest !== undefined && shown < latest;
}
