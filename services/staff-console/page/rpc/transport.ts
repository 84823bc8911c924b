import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { createContext, useContext } from 'react';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { reasonOf } from '../../../client/connect/errors.ts';
import { clock } from '../session/clock.ts';
import { pageConfig } from '../session/config.ts';
import { session } from '../session/session.ts';
import { Signal } from '../session/signal.ts';
import { isForStaff } from './failure.ts';

// No call may keep a person waiting longer than this.
const timeoutMs = 20_000;
// Nobody should wait longer than this without being told.
const patienceMs = 5_000;

/** The calls that have had no answer for five seconds. One that is aborted fails with the code CANCELED. */
export const lateCalls = new Signal<readonly AbortController[]>([]);

export const TransportsContext = createContext<ReturnType<typeof createTransports> | undefined>(undefined);

/** Returns the page's transports, for reads of a procedure that both services have. */
export function useTransports() {
  const transports = useContext(TransportsContext);
  if (transports === undefined) throw new Error('nothing here provides the transports');
  return transports;
}

/** Creates the transports of the signed-in person. A retry that continues after them is not sent as the next person. */
export function createTransports() {
  const person = [watchLateCalls, authorize(session.state.token?.subject)];
  const create = (baseUrl: string, interceptors: Interceptor[]) =>
    createConnectTransport({ baseUrl, useBinaryFormat: true, defaultTimeoutMs: timeoutMs, interceptors });
  const slot = create(pageConfig.slotUrl, [...person, readOwnWrites()]);
  const coupon = create(pageConfig.couponUrl, person);
  const of = (typeName: string) => (typeName.startsWith('coupon.v1.') ? coupon : slot);
  // Sends each call to the service that has its procedure. Both have AuditService; its calls use slot-service.
  const any: Transport = {
    unary: (method, ...rest) => of(method.parent.typeName).unary(method, ...rest),
    stream: (method, ...rest) => of(method.parent.typeName).stream(method, ...rest),
  };
  return { slot, coupon, any };
}

/** Finds the calls that are late. A stream has no answer for as long as nothing changes. */
const watchLateCalls: Interceptor = (next) => async (request) => {
  if (request.stream) return next(request);
  request.signal.throwIfAborted();
  const call = new AbortController();
  const timer = setTimeout(() => lateCalls.set([...lateCalls.state, call]), patienceMs);
  try {
    return await next({ ...request, signal: AbortSignal.any([request.signal, call.signal]) });
  } finally {
    clearTimeout(timer);
    lateCalls.set(lateCalls.state.filter((each) => each !== call));
  }
};

/** Sends calls as one person only. */
function authorize(subject: string | undefined): Interceptor {
  return (next) => async (request) => {
    const { token } = session.state;
    if (token === undefined || token.subject !== subject) throw new ConnectError('Signed out', Code.Unauthenticated);
    request.header.set('authorization', `Bearer ${token.text}`);
    const refuse = (error: unknown): never => {
      // Whoever refuses the token: a proxy before the services gives no reason.
      if (!isForStaff(error) && ConnectError.from(error).code === Code.Unauthenticated) session.end(token);
      if (isForStaff(error) && session.state.token?.subject === subject) session.update({ isDenied: true });
      throw error;
    };
    const sentAt = Date.now();
    const response = await next(request).catch(refuse);
    // The middle of the second that the header names, and of the time that the call has taken.
    clock.correct(Date.parse(response.header.get('date') ?? '') + 500, (sentAt + Date.now()) / 2);
    // A stream is refused only at its end, after its headers.
    if (response.stream) return { ...response, message: watch(response.message, () => session.accept(token), refuse) };
    session.accept(token);
    return response;
  };
}

/** Yields a stream's messages, and calls `arrive` at each, and `fail` with the error that ends the stream. */
async function* watch<M>(messages: AsyncIterable<M>, arrive: () => void, fail: (error: unknown) => never) {
  try {
    for await (const message of messages) {
      arrive();
      yield message;
    }
  } catch (error) {
    fail(error);
  }
}

/** Makes each read of the derived stores wait until they cover the last slot write of this tab (design 4). */
function readOwnWrites(): Interceptor {
  let lastWrite: string | null = null;
  return (next) => async (request) => {
    const isStoreRead = request.service.typeName === SlotStoreService.typeName && !request.stream;
    const hasId = request.header.has('store-request-id');
    if (isStoreRead && lastWrite !== null && !hasId) request.header.set('store-request-id', lastWrite);
    try {
      const response = await next(request);
      lastWrite = response.header.get('store-request-id') ?? lastWrite;
      return response;
    } catch (error) {
      // The database was restored to an earlier state, so no version of the stores will cover that write.
      if (reasonOf(error) === 'STORE_REQUEST_LOST') lastWrite = null;
      throw error;
    }
  };
}
