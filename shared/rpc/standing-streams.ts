import { EventEmitter } from 'node:events';
import type { Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { commonErrors } from './errors.ts';

/**
 * Mounts services whose streams stay open for as long as the caller likes, such as the health
 * service's Watch, and ends them when the server stops: it would wait for them for ever.
 */
export class StandingStreams {
  readonly #server: Server;
  readonly #open = new Set<EventEmitter>();

  constructor(server: Server) {
    this.#server = server;
  }

  addService(service: ServiceDefinition, implementation: UntypedServiceImplementation): void {
    const methods = Object.entries(service);
    const handlers = Object.entries(implementation).map(([name, handle]) => {
      // An implementation may have either of a method's names.
      const method = methods.find(([key, { originalName }]) => key === name || originalName === name)?.[1];
      if (!method?.responseStream) return [name, handle] as const;
      const track = (...args: unknown[]) => {
        const [call] = args;
        if (call instanceof EventEmitter) this.#track(call);
        Reflect.apply(handle, undefined, args);
      };
      return [name, track] as const;
    });
    this.#server.addService(service, Object.fromEntries(handlers));
  }

  /** Ends all that are open with UNAVAILABLE: their callers go to another server. */
  end(): void {
    const { code, message: details } = commonErrors.stopping;
    for (const call of this.#open) call.emit('error', { code: Number(code), details });
  }

  #track(call: EventEmitter): void {
    this.#open.add(call);
    // grpc-js emits it at every end of a call.
    call.once('cancelled', () => this.#open.delete(call));
  }
}
