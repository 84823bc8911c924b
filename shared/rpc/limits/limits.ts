const MiB = 1024 * 1024;

/** The largest message that either port takes: 4 MiB. */
export const maxMessageBytes = 4 * MiB;

/** The longest time that a timer of Node waits; told to wait longer it does not wait at all. */
export const maxTimerMs = 2 ** 31 - 1;

/** What the requests on one port of a process may hold that are not small. */
export const maxRequestMemoryBytes = 64 * MiB;

/** A request of this size is taken whatever the others hold: its connection costs as much. */
export const smallRequestBytes = 16 * 1024;

/** What the callers on one port of a process may leave unread of their answers. */
export const maxUnreadBytes = 128 * MiB;

/** How long an answer may lie there without a part of it being read. */
export const responseTimeoutMs = 60_000;

/** How long a request may take to arrive. */
export const requestTimeoutMs = 30_000;

/** Connections on one port of a process: what comes beyond is closed at once. */
export const maxConnections = 15_000;

/** Requests on one port of a process whose answers are not delivered: most of so many are half-sent or not read. */
export const maxRequestStreams = 10_000;

/** Open streams of health and reflection in one process. */
export const maxLongLivedStreams = 1_000;

/** Concurrent calls of one HTTP/2 connection, while few have calls. */
export const callsOfOneConnection = 100;

/** Concurrent calls of all HTTP/2 connections together: more make none of them faster. */
export const callsOfAllConnections = 500;
