const MiB = 1024 * 1024;

/** The largest message that either port accepts. */
export const maxMessageBytes = 4 * MiB;

/**
 * The values of a request. In binary form a field is one value, and so are five packed integers; in
 * JSON an entry of a list or an object is one.
 */
export const maxRequestValues = 120_000;

/** The nesting of a request: protobuf decodes neither form any deeper. */
export const maxRequestDepth = 100;

/** The longest delay of a Node timer; a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** The memory that the large requests on one port of a process may reserve together. */
export const maxRequestMemoryBytes = 64 * MiB;

/** A request up to this size needs no reservation: its connection costs as much memory anyway. */
export const unreservedRequestBytes = 16 * 1024;

/** The response bytes that the clients of one port of a process may leave unread together. */
export const maxUnreadBytes = 128 * MiB;

/** How long a response may wait without its client reading any of it. */
export const responseTimeoutMs = 60_000;

/** How long a request may take to arrive. */
export const requestTimeoutMs = 30_000;

/** The connections on one port of a process; further ones are closed at once. */
export const maxConnections = 15_000;

/**
 * The requests on one port of a process whose responses are not delivered. When there are so many, most
 * are half-sent or not read.
 */
export const maxRequestStreams = 10_000;

/** The open streams of health and reflection in one process. */
export const maxLongLivedStreams = 1_000;

/** The concurrent calls of one HTTP/2 connection while few connections are active. */
export const maxCallsPerConnection = 100;

/** The concurrent calls of all HTTP/2 connections together; more would make none of them faster. */
export const maxConcurrentCalls = 500;
