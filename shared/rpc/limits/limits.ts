const MiB = 1024 * 1024;

// A request.

/** The largest message that either port accepts. */
export const maxMessageBytes = 4 * MiB;

/**
 * The values of a request. In binary form a field is one value, and so are five packed integers; in
 * JSON an entry of a list or an object is one.
 */
export const maxRequestValues = 120_000;

/** The nesting of a request: protobuf decodes neither form any deeper. */
export const maxRequestDepth = 100;

/** How long a request may take to arrive. */
export const requestTimeoutMs = 30_000;

/** How long a response may wait without its client reading any of it. */
export const responseTimeoutMs = 60_000;

/** The longest delay of a Node timer; a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

// What the callers of a process share.

/** The calls that wait for a permit. */
export const maxWaitingCalls = 7_000;

/** The memory of open requests. */
export const maxRequestBytes = 64 * MiB;

/** The memory that an open request counts as, at least. */
export const minRequestBytes = 8 * 1024;

/** The bytes of large responses that clients have not read. */
export const maxUnreadBytes = 128 * MiB;

/** A response up to this size is not counted. */
export const smallResponseBytes = 16 * 1024;

/** The connections on one port. */
export const maxConnections = 15_000;

/** The concurrent requests of an HTTP/2 connection. The rest waits at the client. */
export const maxStreamsPerConnection = 100;

/** A request is counted when its client resets it sooner after its begin, and sooner than half of its timeout. */
export const rapidResetMs = 100;

/** It is counted anyway when it is reset sooner than this. */
export const leastPatienceMs = 10;

/** The requests of a connection that may be reset so at once; as many are forgotten in `resetsPeriodMs`. */
export const maxResets = 100;

/** The same for a connection without a caller. */
export const maxUnauthenticatedResets = 10;

export const resetsPeriodMs = 10_000;

/** How long after a connection was closed for resets new ones wait for `cautionDelayMs` before they are served. */
export const cautionMs = 1_000;

export const cautionDelayMs = 100;

// Requests of unauthenticated clients, which have shown no valid credential.

/** Their open requests on a connection without a caller; one more closes it. */
export const maxUnauthenticatedRequestsPerConnection = 10;

/** The memory of their open requests; the oldest makes room for the newest. */
export const maxUnauthenticatedBytes = 8 * MiB;

/** A header may have so many bytes. A GET query carries its request in the URL; 64 KiB hold about 4,000 ids. */
export const maxHeaderBytes = 64 * 1024;

/**
 * What they may have sent on all connections without a caller, each counted up to `maxHeaderBytes`; the oldest makes
 * room for the newest. It bounds headers that never end, which are no requests yet.
 */
export const maxUnauthenticatedSentBytes = 32 * MiB;

/** A request to health or reflection, which unauthenticated clients may call. */
export const maxOpenServiceRequestBytes = 16 * 1024;
