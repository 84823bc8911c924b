import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { readConfig } from '../../shared/config/config.ts';
import { shutdownDeadlineMs } from '../../shared/runtime/start-service.ts';
import { root } from '../bench/calls-stage.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { ofKind, parseResources, podOf, type Resource, resources } from '../support/manifests.ts';
import { matches, read } from '../support/repository.ts';

const nameOf = ({ metadata }: Resource) => metadata?.name ?? '';
const config = (service: 'slot' | 'coupon') =>
  readConfig(service, { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: 'x'.repeat(32) });

const services = ['slot', 'coupon'] as const;
const deployments = ofKind('Deployment').map(nameOf);
const cronJobs = ofKind('CronJob').map(nameOf);
const partOf = { 'app.kubernetes.io/part-of': 'delivery-admin' };
const pods = [...deployments, ...ofKind('Job').map(nameOf), ...cronJobs];
const operator = 'monitoring.coreos.com/v1';

const kubectl = process.env.KUBECTL ?? 'kubectl';
const noKustomize =
  spawnSync(kubectl, ['kustomize', '--help']).status === 0 ? undefined : 'no kubectl at KUBECTL or on the PATH';

/**
 * What the compiler has against resources as the types have them that are made from the OpenAPI schema of Kubernetes 1.30. Like
 * the strict validation of its server, it refuses a field that the schema has not.
 */
function complaintsAbout(candidates: readonly Resource[]): string[] {
  const file = path.join(root, 'manifests-of-the-test.ts');
  const lines = candidates.map((resource, index) => {
    const [group = 'core', version] = (resource.apiVersion ?? '').replace(/^(?=v\d+$)/, 'core/').split('/');
    const type =
      resource.apiVersion === operator
        ? `import('@kubernetes-models/prometheus-operator/${operator}/${resource.kind}').I${resource.kind}`
        : `import('kubernetes-types/${group.replace('.k8s.io', '')}/${version}.js').${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)};`;
  });
  const settings = { strict: true, noEmit: true, types: [], skipLibCheck: true };
  const options = { ...settings, lib: ['lib.es5.d.ts'], module: ts.ModuleKind.NodeNext };
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (name, target, ...rest) =>
    name === file ? ts.createSourceFile(name, lines.join('\n'), target) : getSourceFile(name, target, ...rest);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('The manifests of Kubernetes', () => {
  it('The manifests of Kubernetes have the fields of its schema, and no others', () => {
    expect(resources.length).toBeGreaterThan(15);
    expect(complaintsAbout(resources)).toEqual([]);
  });

  it.each([
    ['a misspelt field', /"readinessProbe"/, '"readynessProbe"', /"readynessProbe"' does not exist/],
    ['a field in another place', /"minReadySeconds":5/, '"hostNetwork":true', /"hostNetwork"' does not exist/],
    [
      'a value of another type',
      /"periodSeconds":2\b/,
      '"periodSeconds":"2s"',
      /'string' is not assignable to type 'number'/,
    ],
    ['a field without its value', /"command":\[[^\]]*\]/, '"command":null', /'null' is not assignable/],
    ['no selector', /"selector":\{"matchLabels":\{[^}]*\}\},/, '', /'selector' is missing/],
    ['a version that there is not', /"apps\/v1"/, '"apps/v9"', /Cannot find module 'kubernetes-types\/apps\/v9/],
    ['a kind that there is not', /"Deployment"/, '"Deplyment"', /no exported member 'Deplyment'/],
  ])('The manifests of Kubernetes are not those of a Deployment with %s', (_what, sound, broken, complaint) => {
    const text = JSON.stringify(ofKind('Deployment')[0]).replace(sound, broken);
    expect(complaintsAbout([JSON.parse(text)])).toEqual([expect.stringMatching(complaint)]);
  });

  it('The manifests of Kubernetes are not those of a PodMonitor with a misspelt field', () => {
    const text = JSON.stringify(ofKind('PodMonitor')[0]).replace('"jobLabel"', '"jobLable"');
    expect(complaintsAbout([JSON.parse(text)])).toEqual([expect.stringMatching(/"jobLable"' does not exist/)]);
  });

  it('The manifests of Kubernetes have the alert rules of docker/monitoring for the Prometheus Operator', async () => {
    const { groups } = parse(read('docker/monitoring/alerts.yml'));
    const rule = {
      apiVersion: operator,
      kind: 'PrometheusRule',
      metadata: { name: 'delivery-admin', labels: { 'app.kubernetes.io/part-of': 'delivery-admin' } },
      spec: { groups },
    };
    const head = '# Made of docker/monitoring/alerts.yml by `npx vitest run test/unit/kubernetes.test.ts -u`.\n';
    await expect(head + stringify(rule, { lineWidth: 120 })).toMatchFileSnapshot(
      '../../docker/kubernetes/monitoring/rules.yaml',
    );
    const [monitor] = ofKind('PodMonitor');
    expect(monitor?.spec.jobLabel).toBe('app.kubernetes.io/name');
    expect(monitor?.spec.selector.matchExpressions?.flatMap(({ values = [] }) => values)).toEqual(
      services.map((service) => `${service}-service`),
    );
    expect(monitor?.spec.podMetricsEndpoints?.map(({ port }) => port)).toEqual(['metrics']);
  });

  it('The manifests of Kubernetes let pods connect to what they need alone, and the console and the drill to nothing', () => {
    const policy = (name: string) => ofKind('NetworkPolicy').find((one) => nameOf(one) === name)?.spec;
    const all = policy('delivery-admin');
    const others = [policy('database-clients'), policy('services')];
    expect(ofKind('NetworkPolicy')).toHaveLength(3);
    expect(all).toMatchObject({ policyTypes: ['Ingress', 'Egress'], podSelector: { matchLabels: partOf } });
    expect(all?.egress).toBeUndefined();
    const selected = others.map((spec) => spec?.podSelector.matchExpressions?.flatMap(({ values = [] }) => values));
    const ports = others.map((spec) => spec?.egress?.flatMap((rule) => rule.ports?.map(({ port }) => port)));
    expect(selected[0]?.toSorted()).toEqual(
      [...services.map((service) => `${service}-service`), 'migrate', 'staff', 'backup'].toSorted(),
    );
    expect(ports[0]).toEqual([53, 53, 5432]);
    expect(selected[1]).toEqual(services.map((service) => `${service}-service`));
    expect(ports[1]).toEqual([6379, 443, 4318]);
  });

  it('The manifests of Kubernetes set no variable without a row in docs/variables.md', () => {
    const rows = matches(read('docs/variables.md'), /^\| (`[^|]*) \|/gm).join();
    const ours = pods.filter((name) => !cronJobs.includes(name));
    const set = ours.flatMap((name) => (podOf(name).container.env ?? []).map((variable) => variable.name));
    const names = [...set, ...ofKind('ConfigMap').flatMap(({ data = {} }) => Object.keys(data))];
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
  });

  it('The manifests of Kubernetes refer to ConfigMaps and to keys of the Secret that are there, and to no value of it', () => {
    const [secret] = ofKind('Secret');
    expect(new Set(Object.values(secret?.stringData ?? {}))).toEqual(new Set(['']));
    const containers = pods.map((name) => podOf(name).container);
    const references = containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef));
    const keys = references.filter((reference) => reference !== undefined);
    expect([...new Set(keys.map(({ key }) => key))].sort()).toEqual(Object.keys(secret?.stringData ?? {}).sort());
    expect(new Set(keys.map(({ name }) => name))).toEqual(new Set([secret?.metadata?.name]));
    const maps = containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name ?? ''));
    expect([...new Set(maps)].sort()).toEqual(ofKind('ConfigMap').map(nameOf).sort());
    expect(containers.flatMap(({ env = [] }) => env).filter(({ value = '' }) => value.includes('://'))).toEqual([]);
  });

  it('The manifests of Kubernetes give the owner of the schema to Jobs alone, and none of them to a pod that serves', () => {
    const isOwners = (name: string) =>
      (podOf(name).container.env ?? []).some(({ valueFrom }) => valueFrom?.secretKeyRef?.key === 'owner-database-url');
    expect(pods.filter(isOwners).toSorted()).toEqual(['delivery-admin-backup', 'migrate', 'staff']);
  });

  it('The manifests of Kubernetes lead to Deployments and to ports that are there', () => {
    const targets = [
      ...ofKind('Service').map(({ spec }) => spec?.selector),
      ...ofKind('PodDisruptionBudget').map(({ spec }) => spec?.selector?.matchLabels),
      ...ofKind('Deployment').flatMap(({ spec }) => [
        spec?.selector.matchLabels,
        ...(spec?.template.spec?.topologySpreadConstraints ?? []).map(
          ({ labelSelector }) => labelSelector?.matchLabels,
        ),
      ]),
    ].map((labels = {}) => labels['app.kubernetes.io/name'] ?? '');
    const scaled = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec?.scaleTargetRef.name ?? '');
    expect([...targets, ...scaled].filter((name) => !deployments.includes(name))).toEqual([]);
    expect([...new Set(targets)].sort()).toEqual([...deployments].sort());
    for (const { spec } of ofKind('Service')) {
      const { container } = podOf(spec?.selector?.['app.kubernetes.io/name'] ?? '');
      for (const { port, targetPort } of spec?.ports ?? [])
        expect(container.ports).toContainEqual({ name: targetPort, containerPort: port });
    }
    const open = ofKind('NetworkPolicy').flatMap(({ spec }) => spec?.ingress ?? []);
    expect(open.flatMap(({ ports = [] }) => ports.map(({ port }) => port))).toEqual(['grpc', 'web', 'metrics']);
  });
});

describeUnless(noKustomize, 'Kustomize', undefined, () => {
  let built: readonly Resource[];
  const named = (kind: string) => built.filter((resource) => resource.kind === kind).map(nameOf);

  beforeAll(() => {
    built = parseResources(execFileSync(kubectl, ['kustomize', 'docker/kubernetes/example'], { encoding: 'utf8' }));
  });

  it('Kustomize builds every resource of the manifests but the templates, and each fits its schema', () => {
    const templates = ['secret.yaml', 'staff.yaml'].flatMap((file) =>
      parseResources(read(`docker/kubernetes/example/${file}`)),
    );
    const titleOf = (resource: Resource) => `${resource.kind} ${nameOf(resource).replace(/-[a-z\d]{10}$/, '')}`;
    expect([...built, ...templates].map(titleOf).toSorted()).toEqual(resources.map(titleOf).toSorted());
    expect(complaintsAbout(built)).toEqual([]);
  });

  it('Kustomize gives all pods of ours the image of the example', () => {
    const images = matches(JSON.stringify(built), /"image":"([^"]*)"/g);
    expect(new Set(images)).toEqual(new Set(['registry.example.com/delivery-admin:VERSION', 'postgres:18']));
  });

  it('Kustomize takes what the example proposes beyond what it has: patches and a label', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'manifests-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp('docker/kubernetes', folder, { recursive: true });
    const file = path.join(folder, 'example/kustomization.yaml');
    const proposed = (await readFile(file, 'utf8')).replaceAll(/^# (patches:|labels:| {2}.*)/gm, '$1');
    await writeFile(file, proposed);
    const patched = execFileSync(kubectl, ['kustomize', path.join(folder, 'example')], { encoding: 'utf8' });
    for (const line of ['storageClassName: other-disks', '- port: 6432', '- name: registry', 'maxReplicas: 8'])
      expect(patched).toContain(line);
    expect(patched).not.toContain('maxReplicas: 4');
    expect(patched.match(/ release: kube-prometheus-stack/g)).toHaveLength(built.length);
  });

  it('Kustomize names what pods read of a configuration by a hash of it, so that a change replaces them', () => {
    const maps = named('ConfigMap');
    expect(maps).toEqual([
      expect.stringMatching(/^delivery-admin-[a-z\d]{10}$/),
      expect.stringMatching(/^staff-console-[a-z\d]{10}$/),
    ]);
    const read = matches(JSON.stringify(built), /"configMapRef":\{"name":"([^"]*)"/g);
    expect(new Set(read)).toEqual(new Set(maps));
  });

  it('Kustomize puts the configuration and the account before the migration, and that before the pods', () => {
    const waveOf = ({ metadata }: Resource) => Number(metadata?.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
    const ofWave = (wave: number) => [...new Set(built.filter((one) => waveOf(one) === wave).map(({ kind }) => kind))];
    expect([ofWave(-2), ofWave(-1)]).toEqual([['ServiceAccount', 'ConfigMap'], ['Job']]);
    const [migrate] = ofKind('Job');
    expect(migrate?.metadata?.annotations).toMatchObject({
      'argocd.argoproj.io/hook': 'Sync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
    });
    // What `kubectl apply -l app.kubernetes.io/component=migration` applies.
    const ofMigration = built.filter(
      ({ metadata }) => metadata?.labels?.['app.kubernetes.io/component'] === 'migration',
    );
    expect(ofMigration).toEqual(built.filter((one) => waveOf(one) < 0));
  });
});

it('The manifests of Kubernetes have no more replicas than PostgreSQL has connections for, by the numbers of docs/deploying.md', () => {
  const page = read('docs/deploying.md');
  const terms = services.map((service) => {
    const scaler = ofKind('HorizontalPodAutoscaler').find((one) => nameOf(one) === `${service}-service`);
    const [connections] = matches(page, new RegExp(`^\\| ${service}-service:[^|]*\\| (\\d+) \\|`, 'gm'));
    // In a rollout, one more starts while another one drains.
    return { replicas: Number(scaler?.spec?.maxReplicas) + 2, connections: Number(connections) };
  });
  const sum = terms.reduce((total, { replicas, connections }) => total + replicas * connections, 10);
  const counted = terms.map(({ replicas, connections }) => `${replicas} x ${connections}`).join(' + ');
  expect(page).toContain(`${counted} + 10 = ${sum}: set`);
  const settings = matches(page, /`max_connections = (\d+)`/g).map(Number);
  expect(settings.length).toBeGreaterThan(0);
  for (const setting of settings) expect(setting).toBeGreaterThanOrEqual(sum);
});

describe.each(pods)('The pods of %s', (name) => {
  const { spec, container } = podOf(name);

  it(`The pods of ${name} are confined, and have no account at the cluster`, () => {
    expect(spec.serviceAccountName).toBe('delivery-admin');
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources?.limits).toHaveProperty('memory');
    expect(container.resources?.requests).toHaveProperty('cpu');
  });
});

describe.each(deployments)('The Deployment %s', (name) => {
  const spec = ofKind('Deployment').find((deployment) => nameOf(deployment) === name)?.spec;

  it(`The Deployment ${name} replaces no pod before another serves, and is left one that a node is taken from`, () => {
    expect(spec?.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const budget = ofKind('PodDisruptionBudget').find((one) => nameOf(one) === name);
    expect(budget?.spec?.maxUnavailable).toBe(1);
    const scaler = ofKind('HorizontalPodAutoscaler').find((one) => nameOf(one) === name);
    expect(scaler?.spec?.minReplicas ?? spec?.replicas).toBeGreaterThan(1);
  });
});

describe.each(services)('The Deployment of %s-service', (service) => {
  const { spec, container } = podOf(`${service}-service`);
  const [deployment] = ofKind('Deployment').filter((one) => nameOf(one) === `${service}-service`);
  const [scaler] = ofKind('HorizontalPodAutoscaler').filter((one) => nameOf(one) === `${service}-service`);
  const numberOf = (name: string) => Number(container.env?.find((variable) => variable.name === name)?.value);

  it(`The Deployment of ${service}-service has the ports that it has unless told otherwise, and that of its metrics`, () => {
    const metrics = numberOf(`${service.toUpperCase()}_METRICS_PORT`);
    expect(container.ports).toEqual([
      { name: 'grpc', containerPort: config(service).grpcPort },
      { name: 'web', containerPort: config(service).webPort },
      { name: 'metrics', containerPort: metrics },
    ]);
  });

  it(`The Deployment of ${service}-service gives a stop the time that it may take`, () => {
    expect(spec.terminationGracePeriodSeconds).toBe(30 + numberOf('DRAIN_MS') / 1_000);
    expect(30_000).toBeGreaterThan(shutdownDeadlineMs + 5_000);
  });

  it(`The Deployment of ${service}-service waits as long as refused clients do before it goes on to the next pod`, () => {
    expect(deployment?.spec?.minReadySeconds).toBe(5);
  });

  it(`The Deployment of ${service}-service grows when half of the places for calls are taken`, () => {
    const [metric] = scaler?.spec?.metrics ?? [];
    expect(Number(metric?.pods?.target.averageValue) * 2).toBe(config(service).limits.calls);
  });
});
