import { createClient, type Transport } from '@connectrpc/connect';
import { focusManager, onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
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
