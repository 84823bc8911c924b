import type { DescService } from '@bufbuild/protobuf';
import { createConnectQueryKey } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { useStoreVersion } from './use-store-version.ts';

const keyOf = (schema: DescService) => createConnectQueryKey({ schema, cardinality: undefined });
const keys = [SlotService, SlotPlanService, SlotStoreService].map(keyOf);

// The shortest time between two reloads, however fast versions follow one another.
const shortestMs = 1_000;

/**
 * Keeps the page up to date when others change slots: each new version of the derived stores reloads the page's slot
 * data. Reads that failed while the service was unreachable are repeated once it is back.
 */
export function FollowStore() {
  const queryClient = useQueryClient();
  const { latest: { version } = {}, connection } = useStoreVersion();
  const seen = useRef<number>(undefined);
  const readAt = useRef(0);
  useEffect(() => {
    const isNew = seen.current !== undefined && seen.current !== version;
    seen.current = version;
    // The page's data was read at about the time of the first version.
    if (!isNew) return;
    const reload = () => {
      readAt.current = Date.now();
      for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
      void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.followsStore === true });
    };
    const timer = setTimeout(reload, readAt.current + shortestMs - Date.now());
    return () => clearTimeout(timer);
  }, [version, queryClient]);
  useEffect(() => {
    if (connection !== 'live') return;
    // The names of products and groups don't change with the slots, but may be missing after an outage, too.
    for (const queryKey of [...keys, keyOf(CatalogService)]) {
      void queryClient.refetchQueries({ queryKey, type: 'active', predicate: ({ state }) => state.error !== null });
    }
  }, [connection, queryClient]);
  return null;
}
