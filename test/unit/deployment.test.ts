import { spawnSync } from 'node:child_process';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConsoleConfig } from '../../services/staff-console/config.ts';
import { shutdownDeadlineMs } from '../../shared/runtime/start-service.ts';
import { root } from '../bench/calls-stage.ts';
import { matches, read } from '../support/repository.ts';

const compose = read('docker-compose.yml');
const dockerfile = read('Dockerfile');
const kubernetesConfig = ['config.env', 'console.env'].map((file) => read(`docker/kubernetes/base/${file}`)).join('');
const nginx = read('docker/nginx.conf');
const haproxy = read('docker/haproxy.cfg');
const variablePages = ['docs/variables.md', 'docs/deploying.md'].map(read).join('');
const packageJson = read('package.json');
const { dependencies, engines } = JSON.parse(packageJson);

/** What `npm run build` compiles. */
const build = ts.readConfigFile(`${root}tsconfig.build.json`, ts.sys.readFile);
const sources = ts
  .parseJsonConfigFileContent(build.config, ts.sys, root)
  .fileNames.map((file) => path.relative(root, file));

describe('The deployment files', () => {
  it('The deployment files start what the build makes', () => {
    const programs = matches([dockerfile, compose, packageJson].join('\n'), /\bdist\/([\w./-]+)\.js\b/g);
    expect(programs).toHaveLength(12);
    for (const program of programs) expect(sources).toContain(`${program}.ts`);
  });

  it('The deployment files have an HAProxy with the ports and the services of nginx', () => {
    expect(matches(haproxy, /^ +bind :(\d+)/gm)).toEqual(matches(nginx, /^ +listen (\d+);$/gm));
    expect(new Set(matches(haproxy, /^ +server.* ([a-z]+-service:\d+)/gm))).toEqual(
      new Set(matches(nginx, /^ +server ([a-z]+-service:\d+) /gm)),
    );
  });

  it('The deployment files pass on every variable of the console but its port', () => {
    const variables = new Set(matches(read('services/staff-console/config.ts'), /\b(CONSOLE_[A-Z_]+)\b/g));
    const passed = matches(compose, /^ +(CONSOLE_[A-Z_]+): \$\{\1:-/gm);
    expect([...passed, 'CONSOLE_PORT'].sort()).toEqual([...variables].sort());
  });

  it('The deployment files give the services and the console the variables of the business', () => {
    const variables = matches(read('shared/config/business.ts'), /\benv\.([A-Z_]+)\b/g);
    expect(variables).toHaveLength(3);
    // The last one is for imports.
    const ofConsole = variables.slice(0, -1);
    const passed = matches(compose, /^ +(BUSINESS_[A-Z_]+): \$\{\1:-\}$/gm);
    expect(passed).toEqual([...variables, ...ofConsole]);
    const mapped = matches(kubernetesConfig, /^(BUSINESS_[A-Z_]+)=/gm);
    expect(mapped).toEqual([...variables, ...ofConsole]);
  });

  it('The deployment files set no variable without a row in a page of the documentation', () => {
    const names = new Set(
      matches(compose, /(?:^ +|\$\{)([A-Z][A-Z_]+)[:}]/gm).filter((name) => !/^(POSTGRES|REDISCLI|GF)_/.test(name)),
    );
    expect(names.size).toBeGreaterThan(4);
    for (const name of names) expect(variablePages).toMatch(new RegExp(`^\\|[^|]*\`${name}\``, 'm'));
  });

  it('The deployment files give a stop more time than it may take', () => {
    const [graceS] = matches(compose, /stop_grace_period: (\d+)s/g);
    expect(Number(graceS) * 1_000).toBeGreaterThan(shutdownDeadlineMs + 5_000);
  });

  it.each([
    [
      'refuses a call over gRPC as gRPC has it',
      /default_type application\/grpc;\n.*grpc-status 14 always;\n.*\n +return 200;/,
    ],
    ['gives up a replica that is gone after a second', /grpc_connect_timeout 1s;[\s\S]*proxy_connect_timeout 1s;/],
    ['has room for the streams of two replicas', /worker_connections 16384;/],
    ['takes headers of 64 KiB', /large_client_header_buffers 4 64k;/],
    ['is not kept from its end by a stream', /worker_shutdown_timeout 5s;/],
  ])('The deployment files have an nginx that %s', (_what, directive) => {
    expect(nginx).toMatch(directive);
  });

  it.each<[what: string, found: RegExp, values: readonly string[]]>([
    [
      ...(['the address of coupon-service', /^ +CONSOLE_COUPON_URL: \$\{CONSOLE_COUPON_URL:-(.*)\}$/gm] as const),
      [readConsoleConfig({}).page.couponUrl],
    ],
    [
      ...(['another role than the migration', /DATABASE_URL: (?:&[a-z-]+ )?postgres:\/\/(\w+):/g] as const),
      ['service', 'admin'],
    ],
    ['an image that no registry has', /^ +image: delivery-admin\n(?: +#.*\n)* +pull_policy: (\w+)$/gm, ['never']],
    ['a check of staff', /^ +COUPON_STAFF_ONLY: \$\{COUPON_STAFF_ONLY:-(\w+)\}$/gm, ['true']],
  ])('The deployment files give the services and the console %s', (_what, found, values) => {
    expect(matches(compose, found)).toEqual(values);
  });

  it('The deployment files show no password on a command line', () => {
    type Container = { command?: string[]; healthcheck?: { test: string[] } };
    const { services }: { services: Record<string, Container> } = parse(compose, { merge: true });
    const words = Object.values(services).flatMap((each) => [
      ...(each.command ?? []),
      ...(each.healthcheck?.test ?? []),
    ]);
    expect(words.length).toBeGreaterThan(20);
    // Compose fills in a single `$`, and leaves `$$` to the shell.
    expect(words.filter((word) => /(?<!\$)\$(?!\$)/.test(word))).toEqual([]);
    const commands = ['docs/deploying.md', 'docs/recovery.md', 'docs/operating.md'].map(read).join('\n');
    expect(matches(commands, /^(.*--env=\S*\$(?:OWNER|SERVICE).*)$/gm)).toEqual([]);
  });

  it('The manifests of Kubernetes ask for staff wherever coupons are read or changed', () => {
    expect(matches(kubernetesConfig, /^COUPON_STAFF_ONLY=(.*)$/gm)).toEqual(['true']);
  });

  it('The deployment files open what was copied into the image to the user that runs it', () => {
    expect(dockerfile).toContain('chmod -R a+rX package.json dist');
  });
});

describe('The image', () => {
  it('The image runs on a Node that package.json allows', () => {
    const [least = ''] = matches(engines.node, /^>=(.*)$/g);
    const [major] = matches(dockerfile, /^FROM node:(\d+)-/gm);
    expect(Number(major)).toBeGreaterThan(Number(least.split('.', 1)[0]));
  });

  it('The image is built from what is committed alone', () => {
    const left = read('.dockerignore').split('\n');
    expect(left).toEqual(expect.arrayContaining(['.git', '.data', '**/.env*', 'dist', 'node_modules']));
  });
});

describe('Files with secrets or personal data', () => {
  // The patterns of .dockerignore begin at the root; `**/` stands for any folders.
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) =>
      line
        .replaceAll('.', '\\.')
        .replace('**/', '(?:.*/)?')
        .replace(/(?<!\.)\*/g, '[^/]*'),
    );
  const isOutsideImage = (file: string) => new RegExp(`^(?:${patterns.join('|')})(?:/|$)`).test(file);
  const isOutsideGit = (file: string) =>
    spawnSync('git', ['check-ignore', '--no-index', '--quiet', file], { cwd: root }).status === 0;
  // Where the shell of a page's command writes to.
  const written = ['docs/deploying.md', 'docs/recovery.md'].flatMap((page) =>
    matches(read(page), /^[^#\n]*[^>\d]> ([\w.]+)$/gm),
  );

  it('Files with secrets or personal data that pages make are known', () => {
    expect(new Set(written)).toEqual(new Set(['.env', 'delivery_admin.dump', 'services.log']));
  });

  it.each([
    ...new Set(written),
    ...['.env.production', 'secret.yaml', 'secret-production.yaml', 'docker/kubernetes/example/secret.production.yaml'],
    'backups/monday.dump',
  ])('Files with secrets or personal data such as %s get neither into git nor into the image', (file) => {
    expect({ git: isOutsideGit(file), image: isOutsideImage(file) }).toEqual({ git: true, image: true });
  });

  it('Files with secrets or personal data are ignored, and no others', () => {
    expect(
      ['docker/kubernetes/example/secret.yaml', 'shared/runtime/sweeps.ts', 'package.json'].filter(isOutsideGit),
    ).toEqual([]);
    expect(['package.json', 'shared/db/schema.ts', 'services/slot-service/main.ts'].filter(isOutsideImage)).toEqual([]);
  });
});

describe('The program that npm run build makes', () => {
  const importsOf = (file: string) =>
    matches(read(file), /(?:^(?:import|export) (?!type )(?:[^'";]*? from )?|\bimport\()'([^']+)'/gm);

  it.each(sources)('The built program %s imports what is there without the development dependencies', (file) => {
    for (const specifier of importsOf(file).filter((name) => !name.startsWith('.') && !isBuiltin(name))) {
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      expect(Object.keys(dependencies)).toContain(name);
    }
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
      expect(sources).toContain(target);
    }
  });
});
