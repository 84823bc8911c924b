/**
 * How long a test waits for what it awaits, in milliseconds: `expect.poll`, `eventually` and the actions of browsers. It
 * ends a wait for what never comes. It is no measure of speed: on a machine with a load of 15, a page may take half a minute.
 */
export const patienceMs = 150_000;
