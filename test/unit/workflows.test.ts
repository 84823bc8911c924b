import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesIn, matches, read } from '../support/repository.ts';

const workflows = filesIn('.github/workflows').map(read);
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));

describe('The scripts of package.json', () => {
  it('The scripts that build remove what they build, and nothing of one another', () => {
    const removed = Object.entries(scripts).flatMap(([name, script]) =>
      matches(script, /\brm -rf ([^&]+?) &&/g).flatMap((folders) => folders.split(' ').map((folder) => [folder, name])),
    );
    expect(removed.toSorted()).toEqual([
      ['dist/client', 'build:client'],
      ['dist/services', 'build'],
      ['dist/shared', 'build'],
    ]);
  });
});

describe('The workflows of GitHub', () => {
  it('The workflows of GitHub use actions by their commits, which nobody can move', () => {
    const used = workflows.flatMap((workflow) => matches(workflow, /\buses: ([^.].*)$/gm));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it('The workflows of GitHub run stages and scripts that there are, and every stage but the sum of them', () => {
    const stages = matches(read('.ci/run'), /^# {3}\.ci\/run (\w+) /gm);
    const run = workflows.flatMap((workflow) => matches(workflow, / run: \.ci\/run (\w+)$/gm));
    expect(run.toSorted()).toEqual(stages.toSorted());
    const named = workflows.flatMap((workflow) => matches(workflow, /npm run ([\w:]+)/g));
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('The workflows of GitHub test the versions of Node and PostgreSQL that the documentation names', () => {
    const { matrix } = parse(read('.github/workflows/ci.yml')).jobs.tests.strategy;
    expect(read('docs/promises.md')).toContain('Node 20 (from 20.19), 22 and 24');
    expect(matrix).toEqual({ node: [20, 22, 24], postgres: [14, 18] });
    expect(read('docs/deploying.md')).toContain(`PostgreSQL ${matrix.postgres[0]} or newer`);
    expect(read('docker-compose.yml')).toContain(`image: postgres:${matrix.postgres[1]}\n`);
  });
});
