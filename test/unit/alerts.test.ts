import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { describeUnless } from '../support/describe-unless.ts';
import { run } from '../support/processes.ts';
import { monitoringFolder, noPromtool, promtool, readAlertRules, readDashboard } from '../support/prometheus.ts';
import { matches, read, root } from '../support/repository.ts';

interface ScrapeConfig {
  readonly job_name: string;
  readonly dns_sd_configs: readonly { readonly names: readonly string[]; readonly port: number }[];
}

const rules = readAlertRules();
const names = rules.map(({ alert }) => alert);
const recordings = readdirSync(path.join(monitoringFolder, 'tests'));
const operating = read('docs/operating.md');
const [, alertsSection = ''] = /^## Alerts$(.*?)^## /ms.exec(operating) ?? [];

const promtoolSucceeds = async (...args: string[]) => {
  expect(await run(promtool, args)).toMatchObject({ code: 0 });
};

describeUnless(noPromtool, 'Promtool', undefined, () => {
  it('Promtool takes the configuration of Prometheus and the alert rules', () =>
    promtoolSucceeds('check', 'config', path.join(monitoringFolder, 'prometheus.yml')));

  it('Promtool takes each query of the dashboard', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dashboard-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'queries.yml');
    const asRules = readDashboard().map((expr, n) => ({ record: `query_${n}`, expr }));
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    await promtoolSucceeds('check', 'rules', file);
  });

  it('The alert of late backups fires 30 hours after the last one, 8 days after the last drill, and if there never was one', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'backups-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { groups } = parse(read('docker/kubernetes/monitoring/backup-rules.yaml')).spec;
    await writeFile(path.join(folder, 'rules.yml'), JSON.stringify({ groups }));
    const series = (name: string, cronjob: string, value: number) => ({
      series: `${name}{namespace="shop",cronjob="delivery-admin-${cronjob}"}`,
      values: `${value}x300`,
    });
    const succeeded = 'kube_cronjob_status_last_successful_time';
    const late = (cronjob: string, time: string) => ({
      exp_labels: {
        alertname: 'BackupLate',
        severity: 'ticket',
        namespace: 'shop',
        cronjob: `delivery-admin-${cronjob}`,
      },
      exp_annotations: {
        runbook: 'docs/recovery.md#in-kubernetes',
        summary: `delivery-admin-${cronjob} in shop last succeeded ${time} ago.`,
      },
    });
    const at = (eval_time: string, ...exp_alerts: object[]) => ({ eval_time, alertname: 'BackupLate', exp_alerts });
    const tests = [
      {
        interval: '1h',
        input_series: [
          series(succeeded, 'backup', 0),
          series('kube_cronjob_created', 'backup', -9e9),
          series(succeeded, 'restore-drill', 0),
        ],
        alert_rule_test: [
          at('30h'),
          at('31h', late('backup', '1d 7h 0m 0s')),
          at('192h', late('backup', '8d 0h 0m 0s')),
          at('193h', late('backup', '8d 1h 0m 0s'), late('restore-drill', '8d 1h 0m 0s')),
        ],
      },
      {
        interval: '1h',
        input_series: [series('kube_cronjob_created', 'backup', 0)],
        alert_rule_test: [at('30h'), at('31h', late('backup', '1d 7h 0m 0s'))],
      },
    ];
    const file = path.join(folder, 'tests.yml');
    await writeFile(file, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1h', tests }));
    await promtoolSucceeds('test', 'rules', file);
  });

  it.each(recordings)('The alerts fire in the recording %s as it says, once each, and no others', (file) =>
    promtoolSucceeds('test', 'rules', path.join(monitoringFolder, 'tests', file)),
  );
});

describe('The alert rules', () => {
  it('The alert rules each fire in a recording', () => {
    const expected = recordings.flatMap((file) =>
      matches(read(`docker/monitoring/tests/${file}`), /labels: '\{alertname="(\w+)"\}'/g),
    );
    expect([...new Set(expected)].sort()).toEqual([...names].sort());
  });

  it('The alert rules each have a paragraph in docs/operating.md, pages first, and lead to it', () => {
    expect(matches(alertsSection, /^### (.*)$/gm)).toEqual(names);
    const severities = rules.map(({ labels }) => labels.severity);
    expect(severities).toEqual([...severities].sort());
    expect(new Set(severities)).toEqual(new Set(['page', 'ticket']));
    const lastPage = names[severities.lastIndexOf('page')];
    expect(alertsSection).toContain(`Those up to ${lastPage} are pages`);
    const anchors = names.map((name) => `docs/operating.md#${name.toLowerCase()}`);
    expect(rules.map(({ annotations }) => annotations.runbook)).toEqual(anchors);
  });
});

describe('The profile monitoring', () => {
  interface Container {
    readonly volumes?: readonly string[];
    readonly profiles?: readonly string[];
    readonly environment?: Readonly<Record<string, unknown>>;
  }
  const { services }: { services: Record<string, Container> } = parse(read('docker-compose.yml'), { merge: true });

  it('The profile monitoring scrapes the services at the ports of their metrics', () => {
    const { scrape_configs: scrapes }: { scrape_configs: ScrapeConfig[] } = parse(
      read('docker/monitoring/prometheus.yml'),
    );
    for (const { job_name: name, dns_sd_configs: found } of scrapes) {
      const variable = `${name.split('-', 1)[0]?.toUpperCase()}_METRICS_PORT`;
      expect(found).toMatchObject([{ names: [name], port: services[name]?.environment?.[variable] }]);
    }
    expect(scrapes.map(({ job_name: name }) => name)).toEqual(['slot-service', 'coupon-service']);
  });

  it('The profile monitoring and all others mount files that are there', () => {
    const volumes = Object.values(services).flatMap((service) => service.volumes ?? []);
    const mounted = volumes
      .filter((volume) => volume.startsWith('./'))
      .map((volume) => volume.slice(2).split(':')[0] ?? '');
    expect(mounted).toContain('docker/monitoring/alerts.yml');
    expect(mounted.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it('The profile monitoring is left out unless it is asked for', () => {
    const ofProfiles = Object.entries(services).filter(([, { profiles }]) => profiles !== undefined);
    expect(ofProfiles.map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['prometheus', ['monitoring']],
      ['grafana', ['monitoring']],
    ]);
  });
});
