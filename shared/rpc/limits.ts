/** The largest message that either port takes: 4 MiB. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** The longest time that a timer of Node waits; told to wait longer it does not wait at all. */
export const longestTimerMs = 2 ** 31 - 1;
