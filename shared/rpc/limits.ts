/** The largest message that either port takes: 4 MiB. */
export const maxMessageBytes = 4 * 1024 * 1024;
