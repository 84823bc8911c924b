import { stringify } from 'yaml';
import { type Prometheus, readAlertRules, type Series, scrapeEveryS, selectorsIn } from '../support/prometheus.ts';

/** A real run, in minutes from its start. */
export interface Recording {
  readonly prometheus: Prometheus;
  /** In Unix time. */
  readonly startedAt: number;
  readonly faultAt: number;
  readonly endAt: number;
  /** What was done to the services. */
  readonly cause: string;
  /** The alerts that fire, once each. */
  readonly alerts: readonly string[];
}

/** How often each alert has begun to fire in all the time before. */
const beginnings = (minutes: number) => {
  const firing = (offset = '') => `group by (alertname) (ALERTS{alertstate="firing"}${offset})`;
  const began = `${firing()} unless ${firing(` offset ${scrapeEveryS}s`)}`;
  return `sum by (alertname) (sum_over_time((${began})[${minutes}m:${scrapeEveryS}s]))`;
};

/** Writes a recording as rule tests of promtool, with the series that the rules use. */
export async function ruleTestsOf(recording: Recording): Promise<string> {
  const { prometheus, startedAt, faultAt, endAt, cause, alerts } = recording;
  const selectors = selectorsIn(
    readAlertRules()
      .map(({ expr }) => expr)
      .join('\n'),
  );
  const to = startedAt + endAt * 60;
  const series = new Map<string, string>();
  for (const selector of selectors) {
    for (const { metric, values } of await prometheus.series(selector, startedAt, to)) {
      // Of the calls' many counters, those that never grow change no rate.
      const isStill = new Set(values.map(([, value]) => value)).size === 1;
      if (metric.__name__ === 'rpc_server_handled_total' && isStill) continue;
      series.set(nameOf(metric), valuesOf(values, startedAt, (endAt * 60) / scrapeEveryS));
    }
  }
  const test = {
    rule_files: ['../alerts.yml'],
    evaluation_interval: `${scrapeEveryS}s`,
    tests: [
      {
        interval: `${scrapeEveryS}s`,
        input_series: [...series].sort().map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          { expr: beginnings(faultAt), eval_time: `${faultAt}m`, exp_samples: [] },
          {
            expr: beginnings(endAt),
            eval_time: `${endAt}m`,
            exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
          },
          { expr: 'ALERTS{alertstate="firing"}', eval_time: `${endAt}m`, exp_samples: [] },
          { expr: `count_over_time(ALERTS{job=""}[${endAt}m])`, eval_time: `${endAt}m`, exp_samples: [] },
        ],
      },
    ],
  };
  return `# Recorded by test/load/alerts.long.test.ts. From minute ${faultAt}: ${cause}\n${stringify(test, { lineWidth: 0 })}`;
}

function nameOf({ __name__: name, ...labels }: Series['metric']): string {
  const pairs = Object.entries(labels).sort();
  return `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join()}}`;
}

/** The values in promtool's notation, to a thousandth. */
function valuesOf(values: Series['values'], startedAt: number, last: number): string {
  const known = new Map(values.map(([time, value]) => [Math.round((time - startedAt) / scrapeEveryS), value]));
  const words: string[] = [];
  for (let n = 0; n <= last; ) {
    const at = (index: number) => {
      const value = index > last ? undefined : known.get(index);
      return value === undefined ? Number.NaN : Math.round(Number(value) * 1_000) / 1_000;
    };
    if (Number.isNaN(at(n))) {
      words.push(n > 0 && known.has(n - 1) ? 'stale' : '_');
      n += 1;
      continue;
    }
    const step = at(n + 1) - at(n);
    let length = 1;
    while (Number.isInteger(step) && at(n + length) - at(n + length - 1) === step) length += 1;
    words.push(length < 3 ? `${at(n)}` : `${at(n)}${step === 0 ? '' : step < 0 ? step : `+${step}`}x${length - 1}`);
    n += length < 3 ? 1 : length;
  }
  return words.join(' ').replace(/_(?: _)+/g, (blanks) => `_x${blanks.split(' ').length}`);
}
