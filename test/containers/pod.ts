import { setTimeout as pause } from 'node:timers/promises';
import type { Probe } from 'kubernetes-types/core/v1.js';
import { ofKind, podOf } from '../support/manifests.ts';
import { docker } from './engine.ts';

/** What pods run in: the network of the engine, and the values of the Secret by their keys. */
export interface Cluster {
  readonly network: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** A pod of docker/kubernetes, run by the engine as the kubelet would: with its command, variables, account and limits. */
export class Pod {
  readonly #name: string;
  readonly #id: string;

  private constructor(name: string, id: string) {
    this.#name = name;
    this.#id = id;
  }

  static async start(name: string, cluster: Cluster): Promise<Pod> {
    return new Pod(name, await docker('run', '--detach', ...argumentsOf(name, cluster)));
  }

  get #container() {
    return podOf(this.#name).container;
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number> {
    return Number(await docker('wait', this.#id));
  }

  log(): Promise<string> {
    return docker('logs', this.#id);
  }

  exec(...command: readonly string[]): Promise<string> {
    return docker('exec', this.#id, ...command);
  }

  /** Where one of its ports is on this machine. */
  async addressOf(port: string | number): Promise<string> {
    const { containerPort } = this.#container.ports?.find(({ name }) => name === port) ?? {};
    return docker('port', this.#id, `${containerPort}`);
  }

  /** Asks once, as the probe says. */
  async probe({ httpGet, timeoutSeconds = 1 }: Probe = {}): Promise<boolean> {
    const ask = async () =>
      fetch(`http://${await this.addressOf(httpGet?.port ?? '')}${httpGet?.path}`, {
        signal: AbortSignal.timeout(timeoutSeconds * 1_000),
      });
    return ask().then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Asks as often as the probe says. Resolves with whether it succeeded in time. */
  async succeeds(probe: Probe = {}): Promise<boolean> {
    const { periodSeconds = 10, failureThreshold = 3 } = probe;
    for (let attempt = 0; attempt < failureThreshold; attempt++) {
      if (await this.probe(probe)) return true;
      await pause(periodSeconds * 1_000);
    }
    return false;
  }

  /** The memory that it takes, of what it may. */
  memory(): Promise<string> {
    return docker('stats', '--no-stream', '--format', '{{.MemUsage}}', this.#id);
  }

  /** Ends it as the kubelet does: by the hook, then by SIGTERM, and at the end of the grace period by SIGKILL. */
  async stop(): Promise<void> {
    const { command } = this.#container.lifecycle?.preStop?.exec ?? {};
    if (command !== undefined) await this.exec(...command);
    const { terminationGracePeriodSeconds: grace = 30 } = podOf(this.#name).spec;
    await docker('stop', '--time', `${grace}`, this.#id);
  }

  /** Ends it at once. */
  async remove(): Promise<void> {
    await docker('rm', '--force', '--volumes', this.#id);
  }
}

function argumentsOf(name: string, { network, secrets }: Cluster): string[] {
  const { spec, container } = podOf(name);
  const { env = [], envFrom = [], ports = [], securityContext, resources } = container;
  const maps = envFrom.flatMap(({ configMapRef }) =>
    ofKind('ConfigMap').filter(({ metadata }) => metadata?.name === configMapRef?.name),
  );
  const variables = {
    ...Object.assign({}, ...maps.map(({ data }) => data)),
    ...Object.fromEntries(
      // What is not told is as empty as in the template of the Secret.
      env.map(({ name, value, valueFrom }) => [name, value ?? secrets[valueFrom?.secretKeyRef?.key ?? ''] ?? '']),
    ),
  };
  const { runAsUser, runAsGroup } = spec.securityContext ?? {};
  const [program = '', ...args] = container.command ?? [];
  return [
    ...['--network', network, '--label', network, '--user', `${runAsUser}:${runAsGroup}`],
    ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...ports.flatMap(({ containerPort }) => ['--publish', `127.0.0.1::${containerPort}`]),
    ...(securityContext?.readOnlyRootFilesystem ? ['--read-only'] : []),
    ...(securityContext?.allowPrivilegeEscalation === false ? ['--security-opt', 'no-new-privileges'] : []),
    ...(securityContext?.capabilities?.drop ?? []).flatMap((capability) => ['--cap-drop', capability]),
    // Its units are those of the engine, without their `i`.
    ...['--memory', `${resources?.limits?.memory}`.replace('i', '').toLowerCase()],
    ...['--entrypoint', program, container.image ?? '', ...args],
  ];
}
