import { parseEnv } from 'node:util';
import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import type { IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { CronJob, Job } from 'kubernetes-types/batch/v1.js';
import type {
  ConfigMap,
  Container,
  PersistentVolumeClaim,
  PodSpec,
  Secret,
  Service,
  ServiceAccount,
} from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { parseAllDocuments } from 'yaml';
import { filesIn, read } from './repository.ts';

/** One of the resources in docker/kubernetes. `test/unit/kubernetes.test.ts` holds them to these types. */
export type Resource =
  | ConfigMap
  | CronJob
  | Deployment
  | HorizontalPodAutoscaler
  | IPodMonitor
  | IPrometheusRule
  | Job
  | NetworkPolicy
  | PersistentVolumeClaim
  | PodDisruptionBudget
  | Secret
  | Service
  | ServiceAccount;

const folder = 'docker/kubernetes';

/** Reads what some text holds, one resource for each of its documents. Throws where it is no YAML. */
export const parseResources = (text: string): Resource[] =>
  parseAllDocuments(text, { strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join());
    return document.toJS();
  });

/** The ConfigMaps that Kustomize generates of files with variables. */
const configMaps = [
  { name: 'delivery-admin', file: 'config.env' },
  { name: 'staff-console', file: 'console.env' },
].map(
  ({ name, file }): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    data: Object.fromEntries(
      Object.entries(parseEnv(read(`${folder}/base/${file}`))).map(([variable, value = '']) => [variable, value]),
    ),
  }),
);

/** All resources, as the files have them. */
export const resources: readonly Resource[] = [
  ...filesIn(folder)
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('/kustomization.yaml'))
    .flatMap((file) => parseResources(read(file))),
  ...configMaps,
];

/** The resources of a kind. */
export function ofKind<Kind extends NonNullable<Resource['kind']>>(kind: Kind): Extract<Resource, { kind?: Kind }>[] {
  return resources.filter((resource): resource is Extract<Resource, { kind?: Kind }> => resource.kind === kind);
}

/** What makes pods, by its name. */
const owners = [
  ...[...ofKind('Deployment'), ...ofKind('Job')].map(({ metadata, spec }) => ({ metadata, template: spec?.template })),
  ...ofKind('CronJob').map(({ metadata, spec }) => ({ metadata, template: spec?.jobTemplate.spec?.template })),
];

/** The pods of a Deployment, a Job or a CronJob, and the one container that they have. */
export function podOf(name: string): { readonly spec: PodSpec; readonly container: Container } {
  const spec = owners.find(({ metadata }) => metadata?.name === name)?.template?.spec;
  const [container, ...others] = spec?.containers ?? [];
  if (spec === undefined || container === undefined || others.length > 0)
    throw new Error(`${name} has no one container`);
  return { spec, container };
}
