import { EventEmitter } from 'node:events';
import type { Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { commonErrors, type ErrorRow } from '../../errors/errors.ts';
import { maxLongLivedStreams } from '../limits/limits.ts';

/**
 * Mounts services whose streams stay open for as long as the caller likes, such as the health service's
 * Watch. Limits how many are open, because they need no credential. Ends them when the server stops,
 * because the shutdown would wait for them forever.
 */
export class LongLivedStreams {
  readonly #server: Server;
  readonly #open = new Set<EventEmitter>();

  constructor(server: Server) {
    this.#server = server;
  }

  addService(service: ServiceDefinition, implementation: UntypedServiceImplementation): void {
    const methods = Object.entries(service);
    const handlers = Object.entries(implementation).map(([name, handle]) => {
      // grpc-js finds a handler by either of a method's names.
      const method = methods.find(([key, { originalName }]) => key === name || originalName === name)?.[1];
      if (!method?.responseStream) return [name, handle] as const;
      const track = (...args: unknown[]) => {
        const [call] = args;
        if (!(call instanceof EventEmitter) || this.#admit(call)) Reflect.apply(handle, undefined, args);
      };
      return [name, track] as const;
    });
    this.#server.addService(service, Object.fromEntries(handlers));
  }

  /** Ends all open streams with UNAVAILABLE, so that their callers turn to another server. */
  end(): void {
    for (const call of this.#open) endWith(commonErrors.stopping, call);
  }

  /** Tracks a stream until it ends; when too many are open, ends it at once and returns false. */
  #admit(call: EventEmitter): boolean {
    if (this.#open.size >= maxLongLivedStreams) {
      endWith(commonErrors.overloaded, call);
      return false;
    }
    this.#open.add(call);
    // grpc-js emits it at every end of a call.
    call.once('cancelled', () => this.#open.delete(call));
    return true;
  }
}

function endWith({ code, message: details }: ErrorRow, call: EventEmitter): void {
  call.emit('error', { code: Number(code), details });
}
