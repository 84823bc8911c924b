import { createClient, type Transport } from '@connectrpc/connect';
import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { useTransports } from '../rpc/transport.ts';
import { session } from '../session/session.ts';
import { StoreWatch, type WatchState } from './store-watch.ts';

// A connection that died unnoticed is detected after at most this time.
const streamMs = 300_000;

const watches = new WeakMap<Transport, StoreWatch>();

/**
 * Returns the version of the derived stores, by WatchStore (design 4). All components of a tab share one stream, which
 * is open only while the tab is visible, the device online and somebody signed in. Over HTTP/1.1, a browser opens only
 * six connections to a server for all of its tabs, and each stream takes one.
 */
export function useStoreVersion(): WatchState {
  const watch = watchOf(useTransports().slot);
  return useSyncExternalStore(watch.subscribe, watch.read);
}

function watchOf(transport: Transport): StoreWatch {
  const known = watches.get(transport);
  if (known !== undefined) return known;
  const client = createClient(SlotStoreService, transport);
  const watch = new StoreWatch({
    open(afterVersion, signal) {
      const request = afterVersion === undefined ? {} : { afterVersion };
      return client.watchStore(request, { signal, timeoutMs: streamMs });
    },
    mayWatch: () =>
      document.visibilityState === 'visible' && onlineManager.isOnline() && session.state.ended === undefined,
    followChanges,
    pause,
  });
  watches.set(transport, watch);
  return watch;
}

function followChanges(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  const ends = [onlineManager.subscribe(listener), session.subscribe(listener)];
  return () => {
    document.removeEventListener('visibilitychange', listener);
    for (const end of ends) end();
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
