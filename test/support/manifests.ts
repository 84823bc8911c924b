import { readdirSync, readFileSync } from 'node:fs';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { ConfigMap, Container, PodSpec, Secret, Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { parseAllDocuments } from 'yaml';

/** One of the resources in docker/kubernetes. `test/unit/kubernetes.test.ts` holds them to these types. */
export type Resource =
  | ConfigMap
  | Deployment
  | HorizontalPodAutoscaler
  | Job
  | NetworkPolicy
  | PodDisruptionBudget
  | Secret
  | Service;

const folder = new URL('../../docker/kubernetes/', import.meta.url);

/** The files that hold resources. */
export const manifestFiles = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');

/** What a file holds, one entry for each of its documents. */
export const parseManifests = (file: string) =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8'), { strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join()}`);
    return document.toJS();
  });

/** All resources. */
export const resources: readonly Resource[] = manifestFiles.flatMap(parseManifests);

/** The resources of a kind. */
export function ofKind<Kind extends NonNullable<Resource['kind']>>(kind: Kind): Extract<Resource, { kind?: Kind }>[] {
  return resources.filter((resource): resource is Extract<Resource, { kind?: Kind }> => resource.kind === kind);
}

/** The pods of a Deployment or a Job, and the one container that they have. */
export function podOf(name: string): { readonly spec: PodSpec; readonly container: Container } {
  const owner = [...ofKind('Deployment'), ...ofKind('Job')].find(({ metadata }) => metadata?.name === name);
  const spec = owner?.spec?.template.spec;
  const [container, ...others] = spec?.containers ?? [];
  if (spec === undefined || container === undefined || others.length > 0)
    throw new Error(`${name} has no one container`);
  return { spec, container };
}
