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

/** The requests that are open, from their headers to the end of their responses. */
export const maxOpenRequests = 8_000;

/** The calls that wait for a place. */
export const maxWaitingCalls = 7_000;

/** The memory of large requests. */
export const maxRequestBytes = 64 * MiB;

/** A request up to this size is not counted: its connection takes as much memory anyway. */
export const smallRequestBytes = 16 * 1024;

/** The bytes of large responses that clients have not read. */
export const maxUnreadBytes = 128 * MiB;

/** A response up to this size is not counted. */
export const smallResponseBytes = 16 * 1024;

/** The connections on one port. */
export const maxConnections = 15_000;

/** The concurrent requests of an HTTP/2 connection. The rest waits at the client. */
export const maxStreamsPerConnection = 100;

// What those share who have shown no credential, the strangers. The oldest makes room for the newest.

/** The open requests of one connection on which nobody has shown a credential; one more closes it. */
export const maxStrangersRequestsPerConnection = 10;

/** Their open requests, such as half-sent ones, and those of health and reflection. */
export const maxStrangersRequests = 1_000;

/** The memory of their large requests. */
export const maxStrangersBytes = 16 * MiB;
