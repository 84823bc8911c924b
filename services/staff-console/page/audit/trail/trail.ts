import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '#gen/audit/v1/audit_service_pb';
import { useTransports } from '../../rpc/transport.ts';
import type { Kind } from './deeds.ts';
import type { TrailRequest } from './filters.ts';

/** A service, which keeps the audit trail of its own records. */
export type TrailOwner = 'slot' | 'coupon';

const ofSlotService: readonly Kind[] = ['slot', 'booking', 'product', 'product_group', 'order', 'database'];

/** Returns the service that keeps the trail of a kind of record (design 10). Both write users. */
export const ownerOf = (kind: Kind): TrailOwner => (ofSlotService.includes(kind) ? 'slot' : 'coupon');

interface TrailOptions {
  readonly isEnabled?: boolean;
  /** How many entries are read at a time. */
  readonly limit: number;
  /** Whether to reload the trail together with the page's slots after others have changed them. */
  readonly followsStore?: boolean;
}

/** Reads the trail of a service page by page, newest first. */
export function useTrail(
  owner: TrailOwner,
  request: TrailRequest,
  { isEnabled = true, limit, followsStore = false }: TrailOptions,
) {
  const transports = useTransports();
  const query = useInfiniteQuery(
    AuditService.method.listEntries,
    { ...request, limit, pageToken: '' },
    {
      transport: transports[owner],
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: isEnabled,
      meta: { followsStore },
    },
  );
  const entries: readonly AuditEntry[] = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return { ...query, entries };
}

/** Reads the newest entry of a record; undefined while it loads, and if there is none. */
export function useLastChange(kind: Kind, id: number): AuditEntry | undefined {
  const transports = useTransports();
  const { data, isFetching } = useQuery(
    AuditService.method.listEntries,
    { resourceType: kind, resourceId: id, limit: 1 },
    { transport: transports[ownerOf(kind)], staleTime: 0 },
  );
  // A cached entry may no longer be the last one.
  return isFetching ? undefined : data?.entries[0];
}
