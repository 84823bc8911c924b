import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService, type ListEntriesRequestSchema } from '#gen/audit/v1/audit_service_pb';
import { type Transports, useTransports } from '../../rpc/transport.ts';
import { mergeTrails } from './merge-trails.ts';

type TrailRequest = MessageInitShape<typeof ListEntriesRequestSchema>;

const owners = ['slot', 'coupon'] as const;
const ofSlotService = ['slot', 'booking', 'product', 'product_group', 'order', 'database'];

/** Returns the service that keeps the trail of a kind of record (design 10). Both write users. */
export const ownerOf = (kind: string) => (ofSlotService.includes(kind) ? 'slot' : 'coupon');

/** Returns the services to ask, without one that can't have matching entries. Either one refuses an unknown kind. */
function ownersOf({ resourceType = '', procedure = '' }: TrailRequest): readonly (typeof owners)[number][] {
  if (resourceType !== '' && resourceType !== 'user') return [ownerOf(resourceType)];
  // slot-service has the imports, too.
  const named = owners.find((owner) => procedure.replace(/^catalog/, 'slot').startsWith(`${owner}.`));
  return named === undefined ? owners : [named];
}

interface TrailOptions {
  readonly enabled?: boolean;
  /** With `followsStore`, the trail is read again together with the page's slots after others have changed them. */
  readonly meta?: { readonly followsStore: boolean };
}

/** Reads the trail of a service page by page, newest first. */
export function useTrail(owner: (typeof owners)[number], request: TrailRequest, options: TrailOptions) {
  const query = useInfiniteQuery(
    AuditService.method.listEntries,
    { ...request, pageToken: '' },
    {
      ...options,
      transport: useTransports()[owner],
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  const entries: readonly AuditEntry[] = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return { ...query, owner, entries };
}

/** Reads the trails of the services that may have matching entries, and merges them. */
export function useMergedTrail(request: TrailRequest, isEnabled: boolean) {
  const asked = isEnabled ? ownersOf(request) : [];
  const page = { ...request, limit: 50 };
  const all = [
    useTrail('slot', page, { enabled: asked.includes('slot') }),
    useTrail('coupon', page, { enabled: asked.includes('coupon') }),
  ];
  const trails = all
    .filter(({ owner }) => asked.includes(owner))
    // Tells the first failed attempt: retries may take long, and the other service's entries must not wait for them.
    .map((trail) => ({ ...trail, error: trail.error ?? trail.failureReason }));
  const { entries, lagging = -1 } = mergeTrails(
    trails.map(({ entries, error, isPending, hasNextPage }) => ({
      entries,
      hasMore: error === null && (isPending || hasNextPage),
    })),
  );
  return { trails, entries, lagging: trails[lagging] };
}

/** Reads the whole trails of the services that may have matching entries, one after the other. */
export async function* eachPage(transports: Transports, request: TrailRequest, signal: AbortSignal) {
  for (const owner of ownersOf(request)) {
    const service = createClient(AuditService, transports[owner]);
    let pageToken = '';
    do {
      const page = await service.listEntries({ ...request, limit: 1_000, pageToken }, { signal });
      yield page.entries;
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
  }
}
