import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '../../../../../shared/gen/audit/v1/audit_service_pb.ts';
import { useTransports } from '../../rpc/transport.ts';
import type { Kind } from './deeds.ts';
import type { TrailRequest } from './filters.ts';

/** The services, each of which has the trail of its own records. */
export type TrailOwner = 'slot' | 'coupon';

/** The service that has the trail of a kind of records (design 10). */
export const ownerOf = (kind: Kind): TrailOwner => (kind === 'slot' ? 'slot' : 'coupon');

interface TrailOptions {
  readonly isEnabled?: boolean;
  /** How many entries are read at a time. */
  readonly limit: number;
  /** Whether it is read again with what the page shows of slots, when others have changed them. */
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

/** Reads the newest entry of a record; undefined while it is read, and when there is none. */
export function useLastChange(kind: Kind, id: number): AuditEntry | undefined {
  const transports = useTransports();
  const { data, isFetching } = useQuery(
    AuditService.method.listEntries,
    { resourceType: kind, resourceId: id, limit: 1 },
    { transport: transports[ownerOf(kind)], staleTime: 0 },
  );
  // One that was read before may not be the last any more.
  return isFetching ? undefined : data?.entries[0];
}
