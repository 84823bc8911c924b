import { type AuditEntry, AuditService, type ListEntriesResponse } from '#gen/audit/v1/audit_service_pb';
import { byToken, useEachPage } from '../../lists/source.ts';
import { describeFailure, type Failure } from '../../rpc/failure.ts';
import { useTransports } from '../../rpc/transport.ts';
import { isKind } from './deeds.ts';
import type { TrailRequest } from './filters.ts';
import { mergeTrails } from './merge-trails.ts';
import { ownerOf, type TrailOwner, useTrail } from './trail.ts';

/** The merged trail of both services. */
export interface BothTrails {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Whether nothing can be shown yet. */
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** The services that can't be reached or refuse to answer. The entries of the others are shown. */
  readonly failures: readonly TrailFailure[];
  /** Reads the next page of the trail that holds up the others. */
  readMore(): void;
}

/** Why the entries of a service are missing. */
export interface TrailFailure {
  readonly owner: TrailOwner;
  readonly failure: Failure;
  retry(): void;
}

const pageSize = 50;
const owners = ['slot', 'coupon'] as const;

/** Reads the trails of the services that may have matching entries, and merges them. */
export function useMergedTrail(request: TrailRequest, isEnabled: boolean): BothTrails {
  const asked = ownersOf(request);
  const options = (owner: TrailOwner) => ({ limit: pageSize, isEnabled: isEnabled && asked.includes(owner) });
  const all = {
    slot: useTrail('slot', request, options('slot')),
    coupon: useTrail('coupon', request, options('coupon')),
  };
  const trails = (isEnabled ? asked : []).map((owner) => {
    const trail = all[owner];
    // Reports the first failed attempt: retries may take long, and the other service's entries must not wait for them.
    const error = trail.error ?? trail.failureReason;
    return { owner, trail, error, isPending: trail.isPending && error === null };
  });
  const isLoading = trails.some(({ isPending }) => isPending);
  const { entries, lagging } = mergeTrails(
    trails.map(({ trail, error }) => ({ entries: trail.entries, hasMore: trail.hasNextPage && error === null })),
  );
  return {
    entries: isLoading ? [] : entries,
    isLoading,
    hasMore: !isLoading && lagging !== undefined,
    isLoadingMore: trails.some(({ trail }) => trail.isFetchingNextPage),
    failures: trails.flatMap(({ owner, trail, error }) =>
      error === null
        ? []
        : [
            {
              owner,
              failure: describeFailure(error),
              retry: () => void (trail.isFetchNextPageError ? trail.fetchNextPage() : trail.refetch()),
            },
          ],
    ),
    readMore() {
      if (lagging !== undefined) void trails[lagging]?.trail.fetchNextPage();
    },
  };
}

/** Returns a function that reads the whole trails of the services that may have matching entries, one after the other. */
export function useEachTrailPage(request: TrailRequest) {
  const transports = useTransports();
  const source = {
    method: AuditService.method.listEntries,
    request: { ...request, limit: 1_000 },
    rowsOf,
    next: byToken,
  };
  const readers = {
    slot: useEachPage({ ...source, transport: transports.slot }),
    coupon: useEachPage({ ...source, transport: transports.coupon }),
  };
  return async function* (signal: AbortSignal) {
    for (const owner of ownersOf(request)) yield* readers[owner](signal);
  };
}

const rowsOf = ({ entries }: ListEntriesResponse) => entries;

/** Returns the services to ask, without one that can't have matching entries. Either one refuses an unknown kind. */
function ownersOf({ resourceType = '', procedure = '' }: TrailRequest): readonly TrailOwner[] {
  if (resourceType !== '' && resourceType !== 'user') return [isKind(resourceType) ? ownerOf(resourceType) : 'slot'];
  // slot-service has the imports, too.
  const named = owners.find((owner) => procedure.replace(/^catalog/, 'slot').startsWith(`${owner}.`));
  return named === undefined ? owners : [named];
}
