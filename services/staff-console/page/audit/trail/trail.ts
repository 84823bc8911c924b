import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService, type ListEntriesRequestSchema } from '#gen/audit/v1/audit_service_pb';
import { useTransports } from '../../rpc/transport.ts';
import { mergeTrails } from './merge-trails.ts';

type TrailRequest = MessageInitShape<typeof ListEntriesRequestSchema>;
type Owner = 'slot' | 'coupon';

const owners: readonly Owner[] = ['slot', 'coupon'];
const ofSlotService = ['slot', 'booking', 'product', 'product_group', 'order', 'database'];

/** Returns the service that keeps the trail of a kind of record (design 10). Both write users. */
export const ownerOf = (kind: string): Owner => (ofSlotService.includes(kind) ? 'slot' : 'coupon');

/** Returns the services to ask, without one that can't have matching entries. Either one refuses an unknown kind. */
function ownersOf({ resourceType = '', procedure = '' }: TrailRequest): readonly Owner[] {
  if (resourceType !== '' && resourceType !== 'user') return [ownerOf(resourceType)];
  // slot-service has the imports, too.
  const named = owners.find((owner) => procedure.replace(/^catalog/, 'slot').startsWith(`${owner}.`));
  return named === undefined ? owners : [named];
}

/**
 * Reads the trail of a service page by page, newest first. One that follows the store is read again together with the page's
 * slots after others have changed them.
 */
export function useTrail(owner: Owner, request: TrailRequest, { enabled = true, followsStore = false }) {
  const query = useInfiniteQuery(
    AuditService.method.listEntries,
    { ...request, pageToken: '' },
    {
      enabled,
      meta: { followsStore },
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
  const ofSlots = useTrail('slot', page, { enabled: asked.includes('slot') });
  const ofCoupons = useTrail('coupon', page, { enabled: asked.includes('coupon') });
  const trails = [ofSlots, ofCoupons]
    .filter(({ owner }) => asked.includes(owner))
    .map((trail) => {
      // Tells the first failed attempt: retries may take long, and the other service's entries must not wait for them.
      const error = trail.error ?? trail.failureReason;
      const isPending = trail.isPending && error === null;
      return { ...trail, error, isPending, hasMore: isPending || (trail.hasNextPage && error === null) };
    });
  const { entries, lagging = -1 } = mergeTrails(trails);
  return { trails, entries, lagging: trails[lagging] };
}

/** Reads the whole trails of the services that may have matching entries, one after the other. */
export async function* eachPage(
  transports: ReturnType<typeof useTransports>,
  request: TrailRequest,
  signal: AbortSignal,
) {
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
