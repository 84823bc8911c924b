/** slot-service, and a token of a staff user. */
export interface Target {
  readonly grpcPort: number;
  readonly webPort: number;
  readonly token: string;
}

/** What a client sees of its calls. */
export interface Outcome {
  /** The delivery time of the slot that it has created, as it reads it. */
  readonly read: string;
  /** Those of the stores, before and after the write. */
  readonly versions: readonly number[];
  /** Whether the write, sent again under its key, has the same answer. */
  readonly isSame: boolean;
  /** Whether the service says of the first and of the second answer that the write was carried out before. */
  readonly replayed: readonly boolean[];
  /** Those of the error for a slot that does not exist. */
  readonly reasons: readonly string[];
  /** Those that the service finds invalid in a request. */
  readonly fields: readonly string[];
  /** The units that are left of the slot before and after it has booked one. */
  readonly remaining: readonly number[];
  /** The states of its booking: held, confirmed and released. */
  readonly states: readonly string[];
}

/** The slot that a client in TypeScript creates. */
export const newSlot = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z', capacity: 2 };
/** One with a product that can't be. */
export const refusedSlot = { ...newSlot, vendorSnippets: [{ name: 'refused', productIds: [2, 0] }] };
export const unknownSlot = { id: 2_147_483_647 };
