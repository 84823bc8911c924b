import type { DescService } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectQueryKey } from '@connectrpc/connect-query';
import { focusManager, onlineManager, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { useTransports } from '../rpc/transport.ts';
import { session } from '../session/session.ts';
import { StoreWatch } from './store-watch.ts';

// A connection that died unnoticed is detected after at most this time.
const streamMs = 300_000;

/** The watch of each signed-in person. */
const watches = new WeakMap<Transport, StoreWatch>();

/**
 * Returns the version of the derived stores, by WatchStore (design 4). All components of a tab share one stream, which
 * is open only while the tab is visible, the device online and somebody signed in. Over HTTP/1.1, a browser opens only
 * six connections to a server for all of its tabs, and each stream takes one.
 */
export function useStoreVersion() {
  const { slot } = useTransports();
  const watch = watches.get(slot) ?? watchStores(slot);
  return useSyncExternalStore(watch.subscribe, watch.read);
}

function watchStores(transport: Transport): StoreWatch {
  const { watchStore } = createClient(SlotStoreService, transport);
  const watch = new StoreWatch({
    open: (afterVersion, signal) =>
      watchStore(afterVersion === undefined ? {} : { afterVersion }, { signal, timeoutMs: streamMs }),
    mayWatch: () => focusManager.isFocused() && onlineManager.isOnline() && session.state.ended === undefined,
    followChanges(listener) {
      const ends = [focusManager, onlineManager, session].map(({ subscribe }) => subscribe(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    pause: (ms, signal) =>
      new Promise((resolve) => {
        setTimeout(resolve, ms);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  });
  watches.set(transport, watch);
  return watch;
}

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
