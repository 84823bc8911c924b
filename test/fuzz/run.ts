import { setTimeout as delay } from 'node:timers/promises';
import type { FuzzRequest } from './exchange.ts';
import type { FuzzData } from './fixture.ts';
import type { Memory } from './fuzzed-service.ts';
import type { FuzzedServices } from './fuzzed-services.ts';
import { judge } from './judge.ts';

const inFlight = 48;
const restoredAfter = 1_000;
const settleMs = 1_000;

/** A fault, with the request that caused it where one did. */
export interface Finding {
  readonly fault: string;
  readonly index?: number;
  readonly request?: FuzzRequest;
}

export interface RunResult {
  readonly sent: number;
  /** The number of requests by `protocol | procedure | kind | outcome`. */
  readonly counts: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
  /** The memory of each service after each check. */
  readonly memory: readonly { readonly sent: number; readonly slot: Memory; readonly coupon: Memory }[];
}

export interface RunOptions {
  readonly requests: number;
  /** The number of requests between two checks of the services. */
  readonly checkedAfter: number;
  requestAt(index: number): FuzzRequest;
  onFinding?(finding: Finding): void;
  onProgress?(sent: number, findings: number): void;
}

/** Sends the requests, several at a time, and judges each answer. */
export async function runFuzz(services: FuzzedServices, data: FuzzData, options: RunOptions): Promise<RunResult> {
  const counts = new Map<string, number>();
  const findings: Finding[] = [];
  const memory: { sent: number; slot: Memory; coupon: Memory }[] = [];
  let next = 0;

  function find(finding: Finding): void {
    findings.push(finding);
    options.onFinding?.(finding);
  }

  async function sendUntil(end: number): Promise<void> {
    while (next < end) {
      const index = next;
      next += 1;
      const request = options.requestAt(index);
      const { outcome, faults } = judge(request, await services.send(request));
      const { protocol, procedure, kind } = request.label;
      const key = [protocol, procedure, kind, outcome].join('|');
      counts.set(key, (counts.get(key) ?? 0) + 1);
      for (const fault of faults) find({ fault, index, request });
    }
  }

  while (next < options.requests) {
    const end = Math.min(next + restoredAfter, options.requests);
    await Promise.all(Array.from({ length: inFlight }, () => sendUntil(end)));
    const isChecked = next % options.checkedAfter === 0 || next >= options.requests;
    if (isChecked) {
      await delay(settleMs);
      const faults = await services.check();
      for (const fault of faults) find({ fault: `after ${next} requests: ${fault}` });
      if (faults.some((fault) => fault.includes('-service ended'))) break;
      const [slot, coupon] = await Promise.all(services.services.map((service) => service.memory()));
      if (slot !== undefined && coupon !== undefined) memory.push({ sent: next, slot, coupon });
      options.onProgress?.(next, findings.length);
    }
    await data.restore();
  }
  return { sent: next, counts, findings, memory };
}
