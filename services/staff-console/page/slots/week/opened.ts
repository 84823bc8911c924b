import { createContext } from 'react';

/** The slot that is open in the panel beside the calendar. */
export interface Opened {
  readonly id: number | undefined;
  open(id: number | undefined): void;
}

/** What is open, for the slots' cards and the panel. */
export const OpenedContext = createContext<Opened>({ id: undefined, open: () => {} });
