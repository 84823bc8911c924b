import {
  create,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { Call } from './call.ts';
import { commonErrors, type ErrorRow, fail } from './errors.ts';

/** A unary procedure: takes the decoded, valid request and answers with the response's fields. */
type UnaryHandler<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageShape<Input>, call: Call) => Promise<MessageInitShape<Output>>
    : never;

/** A handler whose messages are only known to its method's descriptor. */
type UntypedHandler = (request: never, call: Call) => Promise<Record<string, unknown>>;

/** The handlers of a service by method name; one that is left out answers UNIMPLEMENTED. */
export type Handlers<Service extends DescService> = {
  [Name in keyof Service['method'] as Service['method'][Name] extends DescMethodUnary ? Name : never]?: UnaryHandler<
    Service['method'][Name]
  >;
};

/** One procedure, ready to be mounted on a server stack. */
export interface Rpc {
  readonly method: DescMethod;
  /** What a caller without a staff identity gets; undefined where the procedure does not ask. */
  readonly staffOnly: ErrorRow | undefined;
  invoke(request: Message, call: Call): Promise<Message>;
}

/** A service with its procedures. */
export interface Implementation {
  readonly service: DescService;
  readonly rpcs: readonly Rpc[];
}

export interface StaffRule<Service extends DescService> {
  readonly error: ErrorRow;
  readonly except: readonly (keyof Service['method'])[];
}

/**
 * Binds handlers to a service once, for every server stack (design 1).
 *
 * @param staffOnly the error of procedures that need a staff identity before their body, and the
 * procedures that don't.
 */
export function implement<Service extends DescService>(
  service: Service,
  handlers: Handlers<Service>,
  staffOnly?: StaffRule<Service>,
): Implementation {
  const byName = new Map<string, UntypedHandler>(Object.entries(handlers));
  const open = new Set<PropertyKey>(staffOnly?.except);
  const rpcs = service.methods.map((method): Rpc => {
    const handler = byName.get(method.localName);
    return {
      method,
      staffOnly: open.has(method.localName) ? undefined : staffOnly?.error,
      async invoke(request, call) {
        if (handler === undefined) throw fail(commonErrors.unimplemented, { params: { method: method.name } });
        // `Handlers` ties each handler to its method's messages; the map by name forgets that.
        return create(method.output, await handler(request as never, call));
      },
    };
  });
  return { service, rpcs };
}
