import { calculateJwkThumbprint, createLocalJWKSet, errors, type JWK } from 'jose';
import type { VerificationKey } from './keys.ts';

/** The algorithms of the keys that `fetchKeys` takes. A key set may hold others, which it leaves out. */
export const keySetAlgorithms: readonly string[] = ['RS256', 'ES256', 'EdDSA'];

const maxBytes = 1024 * 1024;

/**
 * Fetches a key set (RFC 7517) and resolves with its keys by their fingerprints. Rejects if the answer is no key set, or if one of its keys can't be imported: a set that was cut or
 * garbled must not look like one that keys have left.
 */
export async function fetchKeys(url: URL, signal: AbortSignal): Promise<ReadonlyMap<string, VerificationKey>> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  // A redirect would move the trust from the configured URL to another one.
  const response = await fetch(url, { headers, redirect: 'manual', signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the key set was answered with status ${response.status}`);
  }
  const { keys } = createLocalJWKSet(JSON.parse(await readText(response))).jwks();
  const imported = await Promise.all(keys.flatMap((jwk) => keySetAlgorithms.map((alg) => importKey(jwk, alg))));
  return new Map(imported.filter((key) => key !== undefined).map((key) => [key.fingerprint, key]));
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the key set is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Resolves with undefined if the key is not for verifying signatures of the algorithm. jose decides that. */
async function importKey(jwk: JWK, algorithm: string): Promise<VerificationKey | undefined> {
  try {
    const cryptoKey = await createLocalJWKSet({ keys: [jwk] })({ alg: algorithm });
    const fingerprint = JSON.stringify([algorithm, jwk.kid, await calculateJwkThumbprint(jwk)]);
    return { algorithm, kid: jwk.kid, fingerprint, cryptoKey };
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return undefined;
    throw new Error(`the key ${jwk.kid ?? 'without a kid'} of the key set can't be imported`, { cause });
  }
}
