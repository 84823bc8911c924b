import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { findFreePort } from '../../services/dev/ports.ts';
import { eventually } from './eventually.ts';

const folder = new URL('../../docker/monitoring/', import.meta.url);

/** Where Prometheus's configuration, rules, dashboard and recorded series are. */
export const monitoringFolder = folder.pathname;

export const promtool = process.env.PROMTOOL ?? 'promtool';
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

/** Why tests with promtool can't run here; undefined when they can. */
export const noPromtool = isThere(promtool) ? undefined : 'no promtool at PROMTOOL or on the PATH';

/** Why tests with Prometheus can't run here; undefined when they can. */
export const noPrometheus = noPromtool ?? (isThere('prometheus') ? undefined : 'no prometheus on the PATH');

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

/** The queries of the dashboard. */
export function readDashboard(): string[] {
  const file = new URL('grafana/dashboards/delivery-admin.json', folder);
  const { panels }: Dashboard = JSON.parse(readFileSync(file, 'utf8'));
  // Grafana puts in a time that depends on what is shown.
  return panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '1m'));
}

/** The selectors of the metrics in PromQL, such as `up{job="slot-service"}`. */
export function selectorsIn(promQl: string): string[] {
  const selectors = promQl.matchAll(/\b(?:up|jobs|[a-z]+(?:_[a-z]+)+)\b(?!\s*\()(?:\{[^}]*\})?/g);
  return [...new Set([...selectors].map(([selector]) => selector))];
}

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook: string };
}

/** The rules of docker/monitoring/alerts.yml. */
export function readAlertRules(): readonly AlertRule[] {
  const { groups }: { groups: { rules: AlertRule[] }[] } = parse(readFileSync(new URL('alerts.yml', folder), 'utf8'));
  return groups.flatMap(({ rules }) => rules);
}

export interface Target {
  readonly job: string;
  readonly instance: string;
  readonly port: number;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Pairs of the Unix time and the value. */
  readonly values: readonly (readonly [number, string])[];
}

export const scrapeEveryS = 15;

/** A Prometheus of a test's own, which scrapes as that of docker-compose.yml does. */
export class Prometheus {
  readonly #port: number;
  readonly #stop: () => Promise<void>;

  private constructor(port: number, stop: () => Promise<void>) {
    this.#port = port;
    this.#stop = stop;
  }

  static async start(targets: readonly Target[]): Promise<Prometheus> {
    const data = await mkdtemp(path.join(tmpdir(), 'prometheus-test-'));
    const port = await findFreePort();
    const configOf = (job: string) => ({
      job_name: job,
      static_configs: targets
        .filter((target) => target.job === job)
        .map((target) => ({ targets: [`127.0.0.1:${target.port}`], labels: { instance: target.instance } })),
    });
    const jobs = [...new Set(targets.map(({ job }) => job))];
    // JSON is YAML.
    const config = { global: { scrape_interval: `${scrapeEveryS}s` }, scrape_configs: jobs.map(configOf) };
    const file = path.join(data, 'prometheus.yml');
    await writeFile(file, JSON.stringify(config));
    const settings = [`--config.file=${file}`, `--storage.tsdb.path=${data}/data`, '--log.level=error'];
    const args = ['prometheus', ...settings, `--web.listen-address=127.0.0.1:${port}`];
    // It stops with this process, however that ends.
    const child = spawn('setpriv', ['--pdeathsig', 'INT', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(child, 'exit');
    const prometheus = new Prometheus(port, async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(data, { recursive: true, force: true });
    });
    await eventually(async () => {
      const { length } = await prometheus.series('up', Date.now() / 1_000, Date.now() / 1_000);
      if (length < targets.length) throw new Error('not every target was scraped');
    });
    return prometheus;
  }

  /** The series that match, with a value for each time of the scrapes' grid at which they have one. */
  async series(selector: string, from: number, to: number): Promise<readonly Series[]> {
    const query = new URLSearchParams({ query: selector, start: `${from}`, end: `${to}`, step: `${scrapeEveryS}` });
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/v1/query_range?${query}`);
    const { data }: { data: { result: Series[] } } = JSON.parse(await response.text());
    return data.result;
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
