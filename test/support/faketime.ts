import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const library =
  process.env.LIBFAKETIME ??
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;

/** Why tests of wrong clocks can't run here; undefined when they can. */
export const noFaketime = existsSync(library) ? undefined : 'no libfaketime at LIBFAKETIME or where Debian has it';

/** The clock of a process, which its monotonic clock does not follow. */
export interface FakeClock {
  /** The variables of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock, such as to `-10m`: within a second. */
  set(offset: string): Promise<void>;
  remove(): Promise<void>;
}

/** @param offset how far the clock is off, such as `+1d`. */
export async function fakeClock(offset: string): Promise<FakeClock> {
  const folder = await mkdtemp(path.join(tmpdir(), 'clock-'));
  const file = path.join(folder, 'offset');
  const set = (text: string) => writeFile(file, text);
  await set(offset);
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { env, set, remove: () => rm(folder, { recursive: true, force: true }) };
}
