export { type ConnectOptions, createConnectClient, createConnectTransport } from '../connect/connect.ts';
export { type FieldViolation, isTransient, reasonOf, violationsOf } from '../connect/errors.ts';
export { createKey } from '../connect/idempotency.ts';
export { Reason } from '../connect/reasons.ts';
export type { Token } from '../connect/token.ts';
