import type { JsonValue } from '@bufbuild/protobuf';

/** The protocols that a browser can speak with the services. */
export const protocols = ['Connect', 'Connect with GET', 'gRPC-Web'] as const;

/** How a page reaches a service. */
export interface PageTarget {
  readonly protocol: (typeof protocols)[number];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A call that a page makes. */
export interface PageCall extends PageTarget {
  /** Such as `slot.v1.SlotService/GetAll`. */
  readonly procedure: string;
  readonly request: JsonValue;
}

/** What a page gets for a call. */
export type PageAnswer =
  | {
      readonly message: JsonValue;
      /** Those that the browser lets the page read. */
      readonly headers: Readonly<Record<string, string>>;
      readonly error?: never;
    }
  | {
      readonly message?: never;
      readonly headers?: never;
      /** What has failed, its reason (docs/errors.md), and the fields of the request that were refused. */
      readonly error: { readonly message: string; readonly reason: string; readonly fields: readonly string[] };
    };
